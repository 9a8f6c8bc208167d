import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Serves what is at `target` under a base path, as a stage or a custom domain does. Other paths are not found. */
export async function startProxy(
  target: string,
  basePath: string,
): Promise<{ url: string; stop: () => Promise<void> }> {
  const server = createServer((incoming, response) => {
    const { method = 'GET', url = '', headers } = incoming
    if (!url.startsWith(`${basePath}/`)) return void response.writeHead(404).end()
    const forwarded = request(`${target}${url.slice(basePath.length)}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    forwarded.on('error', () => response.destroy())
    incoming.pipe(forwarded)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${basePath}`,
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
