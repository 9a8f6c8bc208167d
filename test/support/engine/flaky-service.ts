import { startServer } from '../service/start-server.ts'

/**
 * A service that has an effect, and fails when it is told to: without its effect.
 * @param fails asked for each call
 */
export async function aFlakyService(fails: (path: string) => boolean | Promise<boolean>) {
  const effects = new Map<string, number>()
  let calls = 0
  const { url, stop } = await startServer(async (request, response) => {
    const { url: path = '' } = request
    calls++
    request.resume()
    if (await fails(path)) return void response.writeHead(503).end()
    const count = (effects.get(path) ?? 0) + 1
    effects.set(path, count)
    response.end(String(count))
  })
  return {
    url,
    calls: () => calls,
    /** How often each path had its effect. */
    effects: () => effects,
    stop,
  }
}
