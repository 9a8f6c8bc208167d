import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { closeNow } from '../../../local/emulators/private-socket.ts'

/** An HTTP server on a free port of this machine, until it is stopped. */
export async function startServer(listener: RequestListener) {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return { host, url: `http://${host}`, server, stop: () => closeNow(server) }
}
