import { createServer, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'

/** What happens to a request: the connection is closed, AWS rejects it with an error, or it is forwarded later. */
export type Fault = 'drop' | { status: number; code: string } | { delayMs: number }

/** Chooses the fault of a request by its AWS operation and its body. Undefined forwards it. */
export type FaultRule = (operation: string, body: string) => Fault | undefined

/** Longer than clients keep idle connections. */
const KEEP_ALIVE_MS = 65_000

/** Forwards AWS requests to an emulator, except those to which the current rule applies. */
export async function startFaultyRelay(target: string) {
  let rule: FaultRule = () => undefined
  let open = 0
  const server = createServer(async (request, response) => {
    open++
    response.once('close', () => open--)
    const body = await buffer(request)
    const operation = String(request.headers['x-amz-target']).replace(/^.*\./, '')
    const fault = rule(operation, String(body))
    if (fault === 'drop') return void response.destroy()
    if (fault && 'code' in fault) {
      response.writeHead(fault.status, { 'content-type': 'application/x-amz-json-1.0' })
      return void response.end(JSON.stringify({ __type: fault.code, message: 'Injected fault.' }))
    }
    if (fault) await sleep(fault.delayMs)
    // A connection per request: no idle one that the emulator closes at the wrong time.
    const { method, url, headers } = request
    const { hostname, port } = new URL(target)
    const upstream = send({ hostname, port, method, path: url, headers, agent: false }, (received) => {
      response.writeHead(received.statusCode ?? 502, { 'content-type': 'application/x-amz-json-1.0' })
      received.pipe(response)
    })
    upstream.once('error', () => response.destroy())
    response.once('close', () => upstream.destroy())
    upstream.end(body)
  })
  server.keepAliveTimeout = KEEP_ALIVE_MS
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    setRule(next: FaultRule): void {
      rule = next
    },
    isIdle: () => open === 0,
    stop(): void {
      server.closeAllConnections()
      server.close()
    },
  }
}
