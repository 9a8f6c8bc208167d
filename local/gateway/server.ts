import type { Server } from 'node:http'
import { type AddressInfo, isIPv6 } from 'node:net'

/** How long requests in flight may take after SIGTERM. */
export const DRAIN_MS = 3_000

/** @throws an Error that names the port when it is in use */
export function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    // Also later, when a connection cannot be accepted: that ends nothing.
    server.on('error', (error: NodeJS.ErrnoException) => {
      const isInUse = error.code === 'EADDRINUSE'
      if (server.listening) console.error('A connection failed:', error)
      else reject(isInUse ? new Error(`Port ${port} on ${host} is in use. Set PORT to another port.`) : error)
    })
    server.listen(port, host, resolve)
  })
}

/** Waits for requests in flight, then closes their connections. */
export async function closeServer(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve))
  server.closeIdleConnections()
  const timer = setTimeout(() => server.closeAllConnections(), DRAIN_MS)
  await closed
  clearTimeout(timer)
}

/** A URL that clients on this machine can call, even if the server listens on all addresses. */
export function urlOf(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return `http://${isIPv6(reachable) ? `[${reachable}]` : reachable}:${port}`
}
