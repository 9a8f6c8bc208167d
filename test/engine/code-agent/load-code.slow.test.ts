import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { findLoadProblem } from '../../../lib/engine/code-agent/load-code.ts'

const EXPORT = 'export default () => ({})\n'

const load = (code: string, { env = [] as string[], environment = {}, timeoutMs = 10_000 } = {}) =>
  findLoadProblem({ code, env, environment, timeoutMs })

describe('findLoadProblem', () => {
  it('finds none in code that loads, whatever it leaves behind, and does not call it', async () => {
    const code = `setInterval(() => {}, 5)\nexport default () => { throw new Error('called') }`
    expect(await load(code)).toBeNull()
  })

  it.each([
    ['a busy loop', `for (;;) {}\n${EXPORT}`],
    ['a wait that never ends', `await new Promise((resolve) => setInterval(() => {}, 1_000))\n${EXPORT}`],
  ])('stops %s', async (_, code) => {
    const problem = await load(code, { timeoutMs: 1_000 })
    expect(problem).toEqual({ message: 'does not load within 1 seconds', at: null, unset: [] })
  })

  it('limits the memory', async () => {
    const code = `const all = []\nfor (;;) all.push(new Array(100_000).fill(1.5))\n${EXPORT}`
    const problem = await load(code, { environment: { AGENT_MEMORY_MB: '64' } })
    expect(problem?.message).toBe('cannot be loaded: The agent exceeded its memory limit of 64 MB.')
  })

  it('passes the listed variables only, and masks them in the message', async () => {
    const code = `throw new Error(process.env.KEY + ' ' + process.env.OTHER)\n${EXPORT}`
    const problem = await load(code, { env: ['KEY'], environment: { KEY: 'sk-secret', OTHER: 'x' } })
    expect(problem).toMatchObject({ message: 'cannot be loaded: [secret KEY] undefined', unset: [] })
  })

  it('says which variables have no value, unless the code fails with them, too', async () => {
    const code = `if (!process.env.KEY) throw new Error('no key')\n${EXPORT}`
    expect(await load(code, { env: ['KEY', 'SET'], environment: { SET: 'x' } })).toMatchObject({
      unset: ['KEY'],
    })
    expect(await load(`throw new Error('no key')\n${EXPORT}`, { env: ['KEY'] })).toMatchObject({ unset: [] })
  })

  it('leaves no file behind', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'aes-load-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    vi.stubEnv('TMPDIR', folder)
    onTestFinished(() => void vi.unstubAllEnvs())
    await load(`throw new Error('x')\n${EXPORT}`)
    expect(readdirSync(folder)).toEqual([])
  })
})
