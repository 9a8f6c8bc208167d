import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Workplace } from './workplace.ts'

export const ROOT = fileURLToPath(new URL('..', import.meta.url))
const READY_MS = 30_000
const STOP_MS = 15_000

export type Child = {
  pid: number
  url: string
  /** Milliseconds from its start to its `ready` line. */
  readyMs: number
  stop: () => Promise<void>
}

type Options = { command: string; args: string[]; environment?: Record<string, string> }

/**
 * Starts a process that prints `ready <url>` once it serves. It is stopped with the workplace; a helper ends by itself
 * when its standard input closes, so that nothing outlives a benchmark that was killed.
 */
export async function startChild(
  workplace: Workplace,
  { command, args, environment }: Options,
): Promise<Child> {
  const { SQS_ENDPOINT: _, DYNAMODB_ENDPOINT: __, ...inherited } = process.env
  const startedAt = performance.now()
  const child = spawn(command, args, {
    cwd: ROOT,
    env: { ...inherited, ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
    // Its own process group: an interrupt from the terminal reaches only us, and we stop it.
    detached: true,
  })
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const stop = async () => {
    child.stdin.end()
    child.kill('SIGTERM')
    const killer = setTimeout(() => killGroup(child), STOP_MS)
    await exited
    clearTimeout(killer)
  }
  workplace.atEnd(stop)
  const url = await readyUrl(child)
  return { pid: child.pid ?? 0, url, readyMs: performance.now() - startedAt, stop }
}

/** Afterwards what it prints is read and dropped: a full pipe would stop it. */
function readyUrl(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = ''
    const fail = (why: string) =>
      reject(new Error(`${child.spawnargs.join(' ')} ${why}. It printed:\n${said}`))
    const timer = setTimeout(() => fail(`was not ready after ${READY_MS} ms`), READY_MS)
    const listen = (bytes: Buffer) => {
      said += bytes
      const url = /^ready (\S+)$/m.exec(said)?.[1]
      if (!url) return
      settle()
      resolve(url)
    }
    const settle = () => {
      clearTimeout(timer)
      for (const stream of [child.stdout, child.stderr]) stream?.off('data', listen).resume()
    }
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', listen)
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      settle()
      fail(`ended with ${signal ?? `code ${code}`}`)
    })
  })
}

function killGroup(child: ChildProcess): void {
  try {
    if (child.pid) process.kill(-child.pid, 'SIGKILL')
  } catch {
    // It has ended in this moment.
  }
}
