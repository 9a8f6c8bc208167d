import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type ReadyProcess, startReadyProcess } from '../../test/support/processes/ready-process.ts'
import type { Workspace } from './workspace.ts'

type Options = { command?: string; args: string[]; environment?: Record<string, string> }

/** Starts a process that prints `ready <url>` when it accepts requests. The workspace stops it. */
export async function startChild(workspace: Workspace, options: Options): Promise<ReadyProcess> {
  // Detached: Ctrl-C reaches only the benchmark, which then stops its children in order.
  const child = await startReadyProcess({ ...options, detached: true })
  workspace.onCleanUp(child.stop)
  return child
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
