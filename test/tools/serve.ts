import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export type Received = { method: string; path: string; headers: IncomingMessage['headers']; body: string }

/** A loopback HTTP server for one test, which records the requests. */
export async function serve(respond: (response: ServerResponse, received: Received) => void) {
  const received: Received[] = []
  const { host, connections } = await listen(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { method = '', url: path = '', headers } = request
    const recorded = { method, path, headers, body: Buffer.concat(chunks).toString() }
    received.push(recorded)
    respond(response, recorded)
  })
  return { host, url: `http://${host}`, received, connections }
}

/** Like `serve`, for a handler that reads the request body itself. */
export async function listen(handler: RequestListener) {
  const server = createServer(handler)
  const connections: Socket[] = []
  server.on('connection', (socket) => connections.push(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, connections }
}

export const json = (response: ServerResponse, value: unknown, status = 200) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
