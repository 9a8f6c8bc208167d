import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Demo } from './start-demo.ts'

/** Two webhooks: one whose receiver accepts everything, and one whose receiver fails. To be called before runs. */
export async function addWebhooks({ call }: Demo): Promise<{ failing: string; stop: () => Promise<void> }> {
  const receiver = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(request.url === '/fails' ? 500 : 204).end())
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const host = `127.0.0.1:${(receiver.address() as AddressInfo).port}`
  const create = async (path: string, types: string[]): Promise<string> => {
    const body = { url: `http://${host}${path}`, types, allowedHosts: [host] }
    return (await call('POST', '/v1/webhooks', { body })).json.id
  }
  await create('/events', ['execution.succeeded', 'batch.ended'])
  const failing = await create('/fails', ['execution.failed', 'execution.cancelled'])
  return {
    failing,
    async stop() {
      receiver.closeAllConnections()
      await new Promise((resolve) => receiver.close(resolve))
    },
  }
}
