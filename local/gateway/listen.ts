import { once } from 'node:events'
import type { Server } from 'node:http'
import { type AddressInfo, createServer, isIPv6 } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** A service that stops frees its port at once, unless it is busy or has yet to notice that npm is gone. */
const MAX_WAIT_MS = 1_000
const POLL_MS = 50

/** Finds a port in use before anything is opened. @throws an Error that names the port */
export async function assertPortIsFree(host: string, port: number): Promise<void> {
  const startedAt = performance.now()
  while (await isInUse(host, port)) {
    if (performance.now() - startedAt > MAX_WAIT_MS) throw portInUse(host, port)
    await sleep(POLL_MS)
  }
}

const portInUse = (host: string, port: number): Error =>
  new Error(`Port ${port} on ${host} is in use. Set PORT to another port.`)

/** What else is wrong with the address is said when the gateway listens on it. */
async function isInUse(host: string, port: number): Promise<boolean> {
  const probe = createServer()
  try {
    probe.listen(port, host)
    await once(probe, 'listening')
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EADDRINUSE'
  } finally {
    probe.close()
  }
}

/** How long requests in flight may take after SIGTERM. */
export const DRAIN_MS = 3_000

/** @throws an Error that names the port when it is in use */
export function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    // Also later, when a connection cannot be accepted: that ends nothing.
    server.on('error', (error: NodeJS.ErrnoException) => {
      if (server.listening) console.error('A connection failed:', error)
      else reject(error.code === 'EADDRINUSE' ? portInUse(host, port) : error)
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
