import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, vi } from 'vitest'
import { finalAnswer } from '../support/engine/model-agent.ts'
import { startReadyProcess } from '../support/processes/ready-process.ts'
import { startScriptedModel } from '../support/scripted-model/start-scripted-model.ts'

const PAGE = fileURLToPath(new URL('../../docs/first-day.md', import.meta.url))

/** What waits in vain ends. */
const MAX_COMMAND_MS = 120_000

type Options = {
  folder: string
  environment: Record<string, string>
  /** How the package manager runs a command of a package, in place of `npx`. */
  runner?: string
  isLong?: boolean
}

/** The commands of `docs/first-day.md`, with their outputs. */
const readTranscript = () =>
  [...readFileSync(PAGE, 'utf8').matchAll(/^```console\n(.*?)^```$/gms)].flatMap(([, block = '']) =>
    [...block.matchAll(/^\$ (.*)\n((?:(?!\$ ).*\n)*)/gm)].map(([, line = '', output = '']) => ({
      line,
      output,
    })),
  )

/** A text with `…` for what differs from run to run. */
function patternOf(output: string): RegExp {
  const parts = output.trimEnd().split('…')
  return new RegExp(`^${parts.map((part) => part.replaceAll(/[^\w\s"]/g, '\\$&')).join('[\\s\\S]*?')}\\s*$`)
}

/**
 * What a new user does in a folder in which the package is installed: `docs/first-day.md`, and with `isLong` an agent
 * in code, Ctrl-C, a restart and `dev`.
 */
export async function makeJourney({ folder, environment, runner = 'npx', isLong = false }: Options) {
  const scripted = await startScriptedModel()
  scripted.script('gpt-5-mini', () => ({ calls: [finalAnswer({ language: 'de' })] }))
  const env = {
    ...environment,
    ...scripted.environmentFor('openai'),
    ...{ DEFAULT_MODEL: 'openai/gpt-5-mini', WEBHOOK_HOSTS: '127.0.0.1', PORT: '0' },
  } as Record<string, string>
  const exported: string[] = []
  const receiverPort = await findFreePort()

  async function sh(line: string) {
    const script = [...exported, line].join('\n')
    const stdio = ['ignore', 'pipe', 'pipe'] as const
    const child = spawn('bash', ['-c', script], {
      cwd: folder,
      env,
      stdio: [...stdio],
      timeout: MAX_COMMAND_MS,
    })
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ])
    return { code, stdout, stderr }
  }
  const cli = (line: string) => sh(`${runner} agent-execution ${line}`)
  const spawnCli = (args: string): { command: string; args: string[] } => {
    const [command = '', ...before] = runner.split(' ')
    return { command, args: [...before, 'agent-execution', ...args.split(' ')] }
  }
  const groups: number[] = []
  const start = async () => {
    const started = await startReadyProcess({
      ...spawnCli('start'),
      cwd: folder,
      environment: env,
      detached: true,
    })
    groups.push(started.pid)
    return started
  }
  const tryIt = async (output: string) => {
    const { stdout } = await sh(/^curl .*$/m.exec(output)?.[0] ?? 'echo no command')
    return JSON.parse(stdout)
  }
  /** As Ctrl-C in a terminal does: every process of the group gets the signal. */
  const interrupt = async (pid: number) => {
    process.kill(-pid, 'SIGINT')
    await vi.waitUntil(() => !isGroupAlive(pid))
  }

  let service: Awaited<ReturnType<typeof start>> | undefined
  try {
    for (const { line, output } of readTranscript()) {
      const command = line
        .replace('npx ', `${runner} `)
        .replaceAll('8080', `${receiverPort}`)
        .replace('http://127.0.0.1:3000', service?.url ?? '')
      if (line.endsWith('&')) {
        const child = spawn('bash', ['-c', command.slice(0, -1)], { cwd: folder, env, detached: true })
        groups.push(child.pid ?? 0)
        continue
      }
      if (line.startsWith('export ')) {
        // Once, as in a shell.
        const names = [...line.matchAll(/(\w+)=/g)].map(([, name]) => name)
        const { stdout } = await sh(
          `${command}; declare -p ${names.filter((name) => name === name?.toUpperCase()).join(' ')}`,
        )
        exported.push(stdout)
        continue
      }
      const printed = await sh(command)
      expect(printed).toEqual({
        code: 0,
        stdout: expect.stringMatching(patternOf(output)),
        stderr: printed.stderr,
      })
      service ??= await start()
    }
    if (!service) throw new Error('The page has no command.')
    expect(await tryIt(service.stdout())).toEqual({ language: 'de' })

    if (!isLong) {
      await interrupt(service.pid)
      return
    }

    expect(await cli('init count-words --code')).toMatchObject({ code: 0 })
    expect(await cli('publish agents/count-words')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Published count-words to .local.'),
    })
    expect(await cli('test agents/count-words')).toMatchObject({ code: 0 })
    await interrupt(service.pid)

    const code = join(folder, 'agents/count-words/agent.ts')
    writeFileSync(code, readFileSync(code, 'utf8').replace('words.length', '100'))
    const next = await start()
    expect(next.stdout()).toContain('agent count-words, published')
    expect(await tryIt(next.stdout())).toEqual({ words: 100 })
    await interrupt(next.pid)

    // Without a service, which it starts.
    const { command, args } = spawnCli('dev agents/count-words')
    const dev = spawn(command, args, { cwd: folder, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    groups.push(dev.pid ?? 0)
    let output = ''
    for (const stream of [dev.stdout, dev.stderr])
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        output += chunk
      })
    await vi.waitUntil(() => output.includes('Waiting for changes'))
    expect(output).toMatch(/Console: http[\s\S]*case "counts the words"[\s\S]*"words": 100|actual {4}100/)
    expect(await tryIt(output)).toEqual({ words: 100 })
    await interrupt(dev.pid ?? 0)
  } finally {
    for (const pid of groups) if (isGroupAlive(pid)) process.kill(-pid)
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

/** The page names its port before the receiver listens. */
async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
