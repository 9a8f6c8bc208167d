import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { cliOfFile, greeter, inFolder } from './cli.ts'

const cli = cliOfFile()

const CHATTY = `
console.log('loaded')
export default ({ name }: { name: string }) => {
  console.log('on the console')
  process.stdout.write('on stdout')
  return { said: name.toUpperCase() }
}
`

const SLOW = `
export default (_: unknown, { signal }: { signal: AbortSignal }) => {
  process.stderr.write('began\\n')
  return new Promise((_, reject) => {
    signal.addEventListener('abort', reject)
    setInterval(() => undefined, 1_000)
  })
}
`

beforeAll(async () => {
  const code = (text: string) => ({ ...greeter('x'), 'agent.ts': text })
  // It can be published, because the variable could be set elsewhere.
  const breaks = "if (!process.env.WORKS) throw new Error('Broken module.')\nexport default () => ({})\n"
  const agents = {
    echo: code('export default ({ name }: { name: string }) => ({ said: name })\n'),
    chatty: code(CHATTY),
    slow: code(SLOW),
    fails: code("export default () => { throw new Error('No luck.') }\n"),
    wrong: code('export default () => ({ said: 3 })\n'),
    breaks: { ...greeter('x', 'env: [WORKS]'), 'agent.ts': breaks },
  }
  for (const [folder, files] of Object.entries(agents)) {
    cli.write(inFolder(folder, files))
    await cli.json(['publish', folder, '--no-types'])
  }
})

const run = (slug: string) => cli.run(['run', slug, '--input', '-'], { stdin: '{"name":"Ada"}' })

const start = (slug: string, options: string[] = [], stdin = '{"name":"Ada"}') =>
  cli.start(['run', slug, '--input', '-', ...options], { stdin })

describe('run', () => {
  it('handles 5 MB of input and output', async () => {
    const name = 'é'.repeat(2_500_000)
    const { code, stdout } = await start('echo', ['--json'], JSON.stringify({ name })).ended
    expect(code).toBe(0)
    expect(JSON.parse(stdout).said === name).toBe(true)
  })

  it('redirects console output of the agent to stderr', async () => {
    const { stdout, stderr } = await start('chatty', ['--json']).ended
    expect(JSON.parse(stdout)).toEqual({ said: 'ADA' })
    for (const text of ['loaded', 'on the console', 'on stdout']) expect(stderr).toContain(text)
  })

  it.each([
    ['fails', 'Execution failed with AgentFailed: No luck.', 'AgentFailed'],
    ['wrong', 'Execution failed with OutputSchemaMismatch: ', 'OutputSchemaMismatch'],
    ['breaks', 'Broken module.', 'AgentFailed'],
  ])("reports the execution's error: %s", async (slug, message, code) => {
    const outcome = await run(slug)
    expect(outcome).toMatchObject({ code: 1, stdout: '' })
    expect(outcome.stderr).toContain(message)
    expect(outcome.stderr).not.toMatch(/^\s+at /m)
    const { error } = await cli.json(['run', slug, '--input', '-'], { stdin: '{}', code: 1 })
    expect(error).toMatchObject({ code, executionId: expect.stringMatching(/^[0-9a-f-]{36}$/) })
  })

  it('ends the execution and releases the store on SIGTERM', async () => {
    const started = start('slow')
    const hasPrinted = (text: string) => () => started.stderr().includes(text)
    await vi.waitUntil(hasPrinted('began'))
    await vi.waitUntil(hasPrinted('Running slow…'))
    expect(existsSync(join(cli.dataDir, 'store.lock'))).toBe(true)
    started.kill('SIGTERM')
    const outcome = await started.ended
    expect(outcome).toMatchObject({ code: 143, stdout: '' })
    const [, id = ''] =
      /^Cancelled\. Execution (\S+) has ended with the error Cancelled\.$/m.exec(outcome.stderr) ?? []
    expect(id).toMatch(/^[0-9a-f-]{36}$/)
    expect(existsSync(join(cli.dataDir, 'store.lock'))).toBe(false)
    expect((await run('echo')).code).toBe(0)
  })
})
