import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { closeNow } from '../../../local/emulators/private-socket.ts'

/** An HTTP server on a free port of this machine, until it is stopped. It can start again on the same port. */
export async function startServer(listener: RequestListener) {
  const server = createServer(listener)
  const listen = (port: number) =>
    new Promise<void>((resolve) => void server.listen(port, '127.0.0.1', () => resolve()))
  await listen(0)
  const { port } = server.address() as AddressInfo
  const host = `127.0.0.1:${port}`
  return { host, url: `http://${host}`, server, stop: () => closeNow(server), restart: () => listen(port) }
}
