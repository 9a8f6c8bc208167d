import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const READY_MS = 30_000

export type Service = {
  url: string
  pid: number
  /** Everything printed so far. */
  output: () => string
  /** SIGTERM; resolves with the exit code. */
  stop: () => Promise<number | null>
  kill: () => Promise<void>
}

/** Starts the real service as a process, on a free port, and waits for its `ready` line. */
export async function startService(options: {
  dataDir: string
  environment?: Record<string, string>
}): Promise<Service> {
  const { SQS_ENDPOINT: _, DYNAMODB_ENDPOINT: __, ...inherited } = process.env
  const child = spawn(process.execPath, ['local/start.ts'], {
    cwd: ROOT,
    env: { ...inherited, PORT: '0', DATA_DIR: options.dataDir, ...options.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const lines: string[] = []
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)))
  const url = await readyUrl(child, lines, exited)
  return {
    url,
    pid: child.pid ?? 0,
    output: () => lines.join('\n'),
    stop: () => {
      child.kill('SIGTERM')
      return exited
    },
    kill: async () => {
      child.kill('SIGKILL')
      await exited
    },
  }
}

function readyUrl(child: ChildProcess, lines: string[], exited: Promise<number | null>): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (why: string) => reject(new Error(`${why}. It printed:\n${lines.join('\n')}`))
    const timer = setTimeout(() => {
      child.kill('SIGKILL')
      fail(`The service was not ready after ${READY_MS} ms`)
    }, READY_MS)
    for (const stream of [child.stdout, child.stderr]) {
      if (!stream) continue
      createInterface({ input: stream }).on('line', (line) => {
        lines.push(line)
        if (!line.startsWith('ready ')) return
        clearTimeout(timer)
        resolve(line.slice('ready '.length))
      })
    }
    exited.then((code) => {
      clearTimeout(timer)
      fail(`The service ended with code ${code}`)
    })
  })
}
