import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { waitUntil } from '../../support/processes/wait-until.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'aes-proof-command-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Starts `npm run proof`, in which `npx` is a script. */
function start(args: string[], npx = 'exit 1') {
  writeFileSync(join(folder, 'npx'), `#!/bin/sh\n${npx}\n`, { mode: 0o755 })
  const child = spawn(process.execPath, ['test/proof/main.ts', ...args], {
    cwd: ROOT,
    env: { ...process.env, PATH: `${folder}:${process.env.PATH}` },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += chunk
    })
  const ended = once(child, 'close').then(([code]) => ({ code, output }))
  return { child, ended, output: () => output }
}

const stack = `proof-test-${process.pid}`
const stateFile = join(ROOT, '.proof', `${stack}.json`)

describe('npm run proof', () => {
  it.each([
    ['without a terminal and --yes', [], 'Without a terminal to ask, --yes is required.'],
    ['with nothing to destroy', ['--destroy'], 'is left behind.'],
    ['with no load', ['--yes', '--minutes', '0'], 'It must be a positive number.'],
  ])('refuses to run %s', async (_, args, message) => {
    const { code, output } = await start(['--stack', stack, ...args]).ended
    expect(output).toContain(message)
    expect([code === 0, existsSync(stateFile)]).toEqual([false, false])
  })

  it('names the account, the region and the price first, and destroys after a deployment that fails', async () => {
    const report = join(folder, 'report')
    const options = ['--yes', '--minutes', '1', '--rate', '5', '--report', report]
    const { code, output } = await start(['--stack', stack, ...options]).ended
    expect(output).toMatch(
      /^Deploys the stack \S+ to us-east-1 of the AWS account 123456789012, with 300 runs/,
    )
    expect(output).toContain('for about $0.03.')
    expect([code, existsSync(stateFile)]).toEqual([1, false])
    const { passed, steps } = JSON.parse(readFileSync(join(report, 'report.json'), 'utf8'))
    expect(passed).toBe(false)
    expect(steps.map(({ step }: { step: string }) => step)).toEqual(['deploy', 'destroy'])
    expect(readFileSync(join(report, 'report.md'), 'utf8')).toContain('# Proof: FAILED')
  })

  it('leaves what --destroy needs when it is killed', async () => {
    const { child, ended } = start(['--stack', stack, '--yes'], 'exec sleep 10')
    await waitUntil(() => existsSync(stateFile), { what: 'the state file', limitMs: 30_000 })
    child.kill('SIGKILL')
    child.stdout.destroy()
    child.stderr.destroy()
    await ended
    const again = await start(['--stack', stack, '--yes']).ended
    expect(again).toMatchObject({ code: 2, output: expect.stringContaining('--destroy') })
    const { code, output } = await start(['--stack', stack, '--destroy']).ended
    expect([code, existsSync(stateFile)]).toEqual([0, false])
    expect(output).toContain('the stack does not exist')
  })
})
