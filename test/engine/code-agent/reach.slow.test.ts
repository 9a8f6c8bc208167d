import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Version } from '../../../lib/core/agent.ts'
import { publishFixture } from '../../support/engine/organization.ts'
import { resultOf, runHostile, hostile as version } from './run-hostile.ts'

const hasEnded = (pid: number) => {
  try {
    // A zombie has ended, too.
    return readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')
  } catch {
    return true
  }
}
const isLinux = process.platform === 'linux'

describe('a code agent', () => {
  it.each([
    ['process.kill', 'The agent called process.kill(process.pid).'],
    ['process.abort', 'The agent called process.abort().'],
  ])('that does "%s" ends its run only', async (how, message) => {
    expect(await runHostile(version, how)).toMatchObject({
      status: 'ERROR',
      error: { code: 'AgentFailed', message },
    })
  })

  it('may not signal processes that it has not started', async () => {
    const refused =
      'process.kill for other processes than those that the agent has started is not available to agents.'
    expect(await resultOf(version, 'kill others')).toBe(Array(4).fill(refused).join())
    expect(await resultOf(version, 'kill own child')).toBe('SIGTERM')
  })

  it.each(['setPriority', 'postMessageToThread'])('cannot use %s', async (name) => {
    const refused = new RegExp(`^(os\\.)?${name} is not available to agents\\.$`)
    expect(await resultOf(version, name)).toMatch(refused)
  })

  it('sends broadcasts to its own thread only', async () => {
    const listening = resultOf(version, 'listen to broadcasts', { tenantId: 'listening' })
    for (let n = 0; n < 3; n++) await resultOf(version, 'broadcast', { tenantId: 'sending' })
    expect(await listening).toBe('own')
  })

  it('holds locks of its own thread only', async () => {
    const held = resultOf(version, 'hold a lock', { tenantId: 'holding' })
    expect(await resultOf(version, 'take a lock', { tenantId: 'taking' })).toBe('taken')
    expect(await held).toBe('released')
  })

  it.skipIf(!isLinux).each(['detached child', 'child'])('leaves no %s', async (how) => {
    const pid = Number(await resultOf(version, how))
    await vi.waitUntil(() => hasEnded(pid))
  })

  it.skipIf(!isLinux)('leaves no child when it is terminated', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'aes-child-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'pid')
    const short = { ...version, execution: { ...version.execution, timeoutSeconds: 3 } }
    const { error } = await runHostile(short, 'busy loop with a child', { text: file })
    expect(error?.code).toBe('TimedOut')
    await vi.waitUntil(() => hasEnded(Number(readFileSync(file, 'utf8'))))
  })
})

describe('the code of an agent', () => {
  const folders = () => readdirSync(tmpdir()).filter((name) => name.startsWith('agent-code-'))
  const fileOf = ({ id }: Version) =>
    folders()
      .map((folder) => join(tmpdir(), folder, `${id}.mjs`))
      .find((file) => existsSync(file)) ?? ''

  it('is in a folder of its own, which nobody may change', async () => {
    const own = await publishFixture('hostile')
    await runHostile(own, 'thread')
    const file = fileOf(own)
    expect(statSync(file).mode & 0o777).toBe(0o400)
    expect(statSync(join(file, '..')).mode & 0o777).toBe(0o500)
    expect(readdirSync(join(file, '..'))).toHaveLength(1)
  })

  it.each([
    ['replaced', (file: string) => writeFileSync(file, 'export default () => ({ result: "replaced" })')],
    ['removed', (file: string) => rmSync(file)],
  ])('is what was published also after it was %s by another agent', async (_, change) => {
    const own = await publishFixture('hostile')
    await runHostile(own, 'thread')
    const file = fileOf(own)
    chmodSync(join(file, '..'), 0o700)
    chmodSync(file, 0o600)
    change(file)
    expect(await resultOf(own, 'runs of thread', { tenantId: 'other' })).toBe('1')
    expect(existsSync(file)).toBe(false)
  })
})
