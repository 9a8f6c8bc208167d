import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, vi } from 'vitest'
import { finalAnswer } from '../support/engine/model-agent.ts'
import { startReadyProcess } from '../support/processes/ready-process.ts'
import { startScriptedModel } from '../support/scripted-model/start-scripted-model.ts'

type Options = {
  folder: string
  environment: Record<string, string>
  /** How the package manager runs a command of a package. */
  runner: string[]
}

/**
 * What a new user does in a folder in which the package is installed: the agents of `init`, the printed commands,
 * `publish`, `test`, `dev`, Ctrl-C and a restart.
 */
export async function makeJourney({ folder, environment, runner: [command = '', ...before] }: Options) {
  const scripted = await startScriptedModel()
  scripted.script('first-day', () => ({ calls: [finalAnswer({ language: 'de' })] }))
  const env = {
    ...environment,
    ...scripted.environmentFor('openai-compatible'),
    DEFAULT_MODEL: 'openai-compatible/first-day',
    PORT: '0',
  } as Record<string, string>

  async function sh(line: string) {
    const child = spawn('bash', ['-c', line], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ])
    return { code, stdout, stderr }
  }
  const cli = (line: string) => sh(`${[command, ...before].join(' ')} agent-execution ${line}`)
  const start = () =>
    startReadyProcess({
      ...{ command, args: [...before, 'agent-execution', 'start'], cwd: folder, environment: env },
      detached: true,
    })
  const tryIt = async (output: string) => {
    const { stdout } = await sh(/^curl .*$/m.exec(output)?.[0] ?? 'echo no command')
    return JSON.parse(stdout)
  }
  /** As a terminal does: every process of the group gets the signal. */
  const interrupt = (pid: number) => process.kill(-pid, 'SIGINT')
  const stop = async (service: { pid: number }) => {
    interrupt(service.pid)
    await vi.waitUntil(() => !isGroupAlive(service.pid))
  }

  try {
    expect(await cli('init support --model')).toMatchObject({ code: 0 })
    const first = await start()
    expect(first.stdout()).toContain('agent support, published')
    expect(await tryIt(first.stdout())).toEqual({ language: 'de' })
    expect(await cli('test agents/support')).toMatchObject({ code: 0 })

    expect(await cli('init count-words --code')).toMatchObject({ code: 0 })
    expect(await cli('publish agents/count-words')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Published count-words to .local.'),
    })
    expect(await cli('test agents/count-words')).toMatchObject({ code: 0 })
    await stop(first)

    const code = join(folder, 'agents/count-words/agent.ts')
    writeFileSync(code, readFileSync(code, 'utf8').replace('words.length', '100'))
    const second = await start()
    expect(second.stdout()).toContain('agent count-words, published')
    expect(await tryIt(second.stdout())).toEqual({ words: 100 })
    await stop(second)

    // Without a service, which it starts.
    const args = [...before, 'agent-execution', 'dev', 'agents/count-words']
    const dev = spawn(command, args, { cwd: folder, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [dev.stdout, dev.stderr])
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        output += chunk
      })
    await vi.waitUntil(() => output.includes('Waiting for changes'))
    expect(output).toMatch(/Console: http[\s\S]*case "counts the words"[\s\S]*"words": 100/)
    expect(await tryIt(output)).toEqual({ words: 100 })
    interrupt(dev.pid ?? 0)
    await vi.waitUntil(() => !isGroupAlive(dev.pid ?? 0))
    return { readyMs: first.readyMs }
  } finally {
    await scripted.stop()
  }
}

function isGroupAlive(pid: number): boolean {
  try {
    process.kill(-pid, 0)
    return true
  } catch {
    return false
  }
}
