import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const READY_TIMEOUT_MS = 30_000
const STOP_TIMEOUT_MS = 15_000

export type ReadyProcess = {
  pid: number
  url: string
  /** Milliseconds from spawn to the `ready` line. */
  readyMs: number
  /** Everything printed so far. */
  output: () => string
  /** The same by stream. Unlike in `output`, the lines are whole. */
  stdout: () => string
  stderr: () => string
  /** Sends SIGTERM, and SIGKILL after 15 s. Resolves with the exit code, null after SIGKILL. */
  stop: () => Promise<number | null>
  /** Sends SIGKILL. */
  kill: () => Promise<void>
}

type Options = {
  /** Default: this version of Node. */
  command?: string
  args: string[]
  /** Default: the project's folder. */
  cwd?: string
  environment?: Record<string, string>
  /** Starts a separate process group, which Ctrl-C in the terminal does not reach. */
  detached?: boolean
}

/**
 * Starts a process that prints `ready <url>` when it accepts requests, and waits for it. The caller's emulator
 * endpoints and log level are not passed on; its standard input closes when the caller exits.
 * @throws an Error with the output when the process exits first or is not ready after 30 s
 */
export async function startReadyProcess(options: Options): Promise<ReadyProcess> {
  const { command = process.execPath, args, cwd = ROOT, environment, detached = false } = options
  const { SQS_ENDPOINT: _, DYNAMODB_ENDPOINT: __, POWERTOOLS_LOG_LEVEL: ___, ...inherited } = process.env
  const startedAt = performance.now()
  const child = spawn(command, args, {
    cwd,
    env: { ...inherited, ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
    detached,
  })
  // Not `close`: a killed process's own children may keep its output open.
  const exited = once(child, 'exit').then(([code]) => code as number | null)
  let output = ''
  const streams = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      streams[name] += text
    })
  }
  let isReady = false
  const url = await new Promise<string>((resolve, reject) => {
    const fail = (reason: string) =>
      reject(new Error(`${[command, ...args].join(' ')} ${reason}. Output:\n${output}`))
    const timer = setTimeout(() => {
      sendSigkill(child, detached)
      fail(`was not ready after ${READY_TIMEOUT_MS} ms`)
    }, READY_TIMEOUT_MS)
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
        const ready = isReady ? null : /^ready (\S+)$/m.exec(output)?.[1]
        if (!ready) return
        isReady = true
        clearTimeout(timer)
        resolve(ready)
      })
    }
    child.once('error', reject)
    child.once('close', (code, signal) => {
      clearTimeout(timer)
      fail(`exited with ${signal ?? `code ${code}`}`)
    })
  })
  return {
    pid: child.pid ?? 0,
    url,
    readyMs: performance.now() - startedAt,
    output: () => output,
    stdout: () => streams.stdout,
    stderr: () => streams.stderr,
    stop: async () => {
      child.stdin.end()
      child.kill('SIGTERM')
      const timer = setTimeout(() => sendSigkill(child, detached), STOP_TIMEOUT_MS)
      const code = await exited
      clearTimeout(timer)
      return code
    },
    kill: async () => {
      sendSigkill(child, detached)
      await exited
    },
  }
}

function sendSigkill(child: ChildProcess, isGroup: boolean): void {
  if (!isGroup || !child.pid) return void child.kill('SIGKILL')
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    // It has already exited.
  }
}
