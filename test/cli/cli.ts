import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, vi } from 'vitest'
import { runProgram } from '../../cli/program.ts'
import { type Database, openDatabase } from '../../local/emulators/open-database.ts'

const MAIN = fileURLToPath(new URL('../../cli/main.mjs', import.meta.url))

/** A command that takes longer is killed, which fails its test. */
const TIMEOUT_MS = 25_000

/** Progress lines appear only on a slow machine. */
const PROGRESS = /^.+…\n/gm

export type Outcome = { code: number | null; stdout: string; stderr: string }

export type Started = {
  pid: number
  stderr: () => string
  kill: (signal: NodeJS.Signals) => void
  ended: Promise<Outcome>
}

type Options = {
  stdin?: string
  cwd?: string
  environment?: Record<string, string>
  /** Whether standard input is said to be a terminal. */
  isTerminal?: boolean
}

let isRunning = false

/** Runs commands with a new data folder, which the first one creates. `folder` is the working directory. */
export function newCli(dataName = 'data') {
  const folder = mkdtempSync(join(tmpdir(), 'aes-cli-'))
  const dataDir = join(folder, dataName)
  let database: Database | undefined

  const environmentWith = (environment: Record<string, string>) => {
    const { DYNAMODB_ENDPOINT: _, npm_lifecycle_event: __, ...inherited } = process.env
    return { ...inherited, DATA_DIR: dataDir, ...environment }
  }

  /** Starts a command in a child process. */
  function start(args: string[], { stdin = '', cwd = folder, environment = {} }: Options = {}): Started {
    const env = environmentWith(environment)
    const child = spawn(process.execPath, [MAIN, ...args], { cwd, env, stdio: 'pipe' })
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    child.stdin.on('error', () => undefined).end(stdin)
    const killer = setTimeout(() => child.kill('SIGKILL'), TIMEOUT_MS)
    const ended = new Promise<Outcome>((resolve) => {
      child.once('close', (code) => {
        clearTimeout(killer)
        resolve({ code, stdout, stderr: stderr.replace(PROGRESS, '') })
      })
    })
    return { pid: child.pid ?? 0, stderr: () => stderr, kill: (signal) => child.kill(signal), ended }
  }

  /** Runs one command at a time in this process, because starting a process takes longer than most commands. */
  async function run(
    args: string[],
    { stdin = '', cwd = folder, environment = {}, isTerminal = false }: Options = {},
  ): Promise<Outcome> {
    if (isRunning) throw new Error('Start concurrent commands with start().')
    isRunning = true
    const original = { cwd: process.cwd(), env: process.env }
    const [stdout, stderr] = [capture(process.stdout), capture(process.stderr)]
    const input = vi.spyOn(process, 'stdin', 'get')
    const typed = Object.assign(Readable.from([Buffer.from(stdin)]), { isTTY: isTerminal })
    input.mockReturnValue(typed as unknown as typeof process.stdin)
    process.env = environmentWith(environment)
    process.chdir(cwd)
    try {
      const code = await runProgram(args)
      return { code, stdout: stdout.text(), stderr: stderr.text().replace(PROGRESS, '') }
    } finally {
      process.chdir(original.cwd)
      process.env = original.env
      for (const { restore } of [stdout, stderr]) restore()
      input.mockRestore()
      isRunning = false
    }
  }

  return {
    folder,
    dataDir,
    start,
    run,
    /** Runs with `--json` and parses stdout. @throws if stdout is not JSON or the exit code is not `code` */
    async json(args: string[], { code = 0, ...options }: Options & { code?: number } = {}) {
      const outcome = await run([...args, '--json'], options)
      if (outcome.code !== code) throw new Error(`exit code ${outcome.code}: ${JSON.stringify(outcome)}`)
      try {
        return JSON.parse(outcome.stdout) as ReturnType<typeof JSON.parse>
      } catch (cause) {
        throw new Error(`stdout is not JSON: ${outcome.stdout}`, { cause })
      }
    },
    /** Writes files to paths relative to the working directory. */
    write(files: Record<string, string | Uint8Array>) {
      for (const [name, content] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, name)), { recursive: true })
        writeFileSync(join(folder, name), content)
      }
    },
    /** Holds the database as a service does: commands use it, in half of the time. */
    async openDatabase() {
      database = await openDatabase('service', { DATA_DIR: dataDir })
    },
    async remove() {
      await database?.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The end of the test file removes it. */
export function cliOfFile({ hasDatabase = false } = {}) {
  const cli = newCli()
  if (hasDatabase) beforeAll(cli.openDatabase)
  afterAll(cli.remove)
  return cli
}

/** Collects what is written to a stream instead of writing it. */
function capture(stream: NodeJS.WriteStream) {
  let text = ''
  const write = vi.spyOn(stream, 'write').mockImplementation((chunk, ...rest) => {
    text += chunk
    const onFlushed = rest.find((argument) => typeof argument === 'function')
    if (onFlushed) queueMicrotask(onFlushed)
    return true
  })
  return { text: () => text, restore: () => write.mockRestore() }
}

/** An agent that returns `{ said: '<greeting> <name>' }`. */
export function greeter(greeting: string, extra = ''): Record<'agent.md' | 'agent.ts', string> {
  return {
    'agent.md': `---
title: Says ${greeting}
description: Greets by name.
code: true
input: { name: { type: string, description: Whom to greet. } }
output: { said: { type: string } }
${extra ? `${extra}\n` : ''}---
Be polite.
`,
    'agent.ts': `export default ({ name }: { name: string }) => ({ said: ${JSON.stringify(greeting)} + ' ' + name })\n`,
  }
}

/** Prefixes the files of an agent with its folder. */
export function inFolder(folder: string, files: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(files).map(([name, content]) => [`${folder}/${name}`, content]))
}
