import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { closeNow } from '../../../local/emulators/private-socket.ts'

/**
 * A service that has an effect, and fails when it is told to: without its effect.
 * @param fails asked for each call
 */
export async function aFlakyService(fails: (path: string) => boolean | Promise<boolean>) {
  const effects = new Map<string, number>()
  let calls = 0
  const server = createServer(async (request, response) => {
    const { url = '' } = request
    calls++
    request.resume()
    if (await fails(url)) return void response.writeHead(503).end()
    const count = (effects.get(url) ?? 0) + 1
    effects.set(url, count)
    response.end(String(count))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: () => calls,
    /** How often each path had its effect. */
    effects: () => effects,
    stop: () => closeNow(server),
  }
}
