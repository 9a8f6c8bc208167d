import { type ChildProcess, spawn } from 'node:child_process'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { Workspace } from './workspace.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const READY_TIMEOUT_MS = 30_000
const STOP_TIMEOUT_MS = 15_000

export type Child = {
  pid: number
  url: string
  /** Milliseconds from spawn to the `ready` line. */
  readyMs: number
  stop: () => Promise<void>
}

type Options = { command?: string; args: string[]; environment?: Record<string, string> }

/** Starts a process that prints `ready <url>` when it accepts requests. The workspace stops it. */
export async function startChild(
  workspace: Workspace,
  { command = process.execPath, args, environment }: Options,
): Promise<Child> {
  const { SQS_ENDPOINT: _, DYNAMODB_ENDPOINT: __, ...inherited } = process.env
  const startedAt = performance.now()
  const child = spawn(command, args, {
    cwd: ROOT,
    env: { ...inherited, ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
    // Its own process group: Ctrl-C reaches only the benchmark, which then stops its children in order.
    detached: true,
  })
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const stop = async () => {
    child.stdin.end()
    child.kill('SIGTERM')
    const timer = setTimeout(() => killGroup(child), STOP_TIMEOUT_MS)
    await closed
    clearTimeout(timer)
  }
  workspace.onCleanUp(stop)
  const url = await waitForReady(child)
  return { pid: child.pid ?? 0, url, readyMs: performance.now() - startedAt, stop }
}

/**
 * The other end of `startChild`: serves HTTP on a free port and exits when standard input closes, so that a killed
 * benchmark leaves no server behind.
 */
export function serveAsChild(listener: RequestListener): void {
  const server = createServer(listener)
  server.keepAliveTimeout = 65_000
  server.listen(0, '127.0.0.1', () => {
    console.log(`ready http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  })
  process.stdin.resume().on('end', () => process.exit(0))
}

function waitForReady(child: ChildProcess): Promise<string> {
  const streams = [child.stdout, child.stderr]
  return new Promise((resolve, reject) => {
    let output = ''
    const fail = (reason: string) =>
      reject(new Error(`${child.spawnargs.join(' ')} ${reason}. Output:\n${output}`))
    const timer = setTimeout(() => fail(`was not ready after ${READY_TIMEOUT_MS} ms`), READY_TIMEOUT_MS)
    const onData = (bytes: Buffer) => {
      output += bytes
      const url = /^ready (\S+)$/m.exec(output)?.[1]
      if (!url) return
      settle()
      resolve(url)
    }
    const settle = () => {
      clearTimeout(timer)
      // Keep reading: a full pipe would block the child.
      for (const stream of streams) stream?.off('data', onData).resume()
    }
    for (const stream of streams) stream?.on('data', onData)
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      settle()
      fail(`exited with ${signal ?? `code ${code}`}`)
    })
  })
}

function killGroup(child: ChildProcess): void {
  try {
    if (child.pid) process.kill(-child.pid, 'SIGKILL')
  } catch {
    // It has just exited.
  }
}
