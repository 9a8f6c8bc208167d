import { once } from 'node:events'
import { createServer } from 'node:net'
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

export const portInUse = (host: string, port: number): Error =>
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
