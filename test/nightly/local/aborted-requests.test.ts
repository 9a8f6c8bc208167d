import { once } from 'node:events'
import { connect } from 'node:net'
import { beforeAll, expect, it } from 'vitest'
import { getOperation, type OperationName, routes } from '../../../lib/api/routes.ts'
import { system } from '../../../lib/system.ts'
import { createLocalClient, readDevToken, waitForExecution } from '../../support/service/client.ts'
import type { Service } from '../../support/service/start-service.ts'
import { temporaryServices } from '../../support/service/temporary-services.ts'

const MAX_DELAY_MS = 40
/** Connections at the same time. */
const CLIENTS = 16

const services = temporaryServices()
const folder = services.newFolder()
let service: Service
let token: string
let id: string
beforeAll(async () => {
  service = await services.start(folder)
  token = readDevToken(folder)
  const input = { body: { content: 'x' } }
  id = (await call()('POST', '/v1/agents/redact-pii/executions', input)).headers.get('x-execution-id') ?? ''
})
const call = () => createLocalClient(service.url, folder)

/** What a request deletes or archives, no other request uses. */
const parametersOf = (name: OperationName): Record<string, string> => ({
  agentId: name === 'archive-agent' ? 'archived' : 'redact-pii',
  executionId: name === 'delete-execution' ? system.newId() : id,
  versionId: system.newId(),
  file: 'x.js',
})

const MCP_CALL = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'redact-pii', arguments: { content: 'x' } },
}

/** Each route, also with an event stream as response. */
function requests(): string[] {
  return routes.flatMap(({ method, path, operation: name }) => {
    const target = path.replace(/\{(\w+)\}/g, (_, parameter) => parametersOf(name)[parameter] ?? '')
    const json = JSON.stringify(name === 'serve-mcp' ? MCP_CALL : { content: 'x', rating: 1 })
    const body = getOperation(name).body ? json : ''
    const hasEvents = Object.values(getOperation(name).responses).some(({ events }) => events)
    return ['application/json', ...(hasEvents ? ['application/json, text/event-stream'] : [])].map((accept) =>
      [
        `${method} ${target} HTTP/1.1`,
        'Host: 127.0.0.1',
        `Authorization: Bearer ${token}`,
        `Accept: ${accept}`,
        'Content-Type: application/json',
        `Content-Length: ${Buffer.byteLength(body)}`,
        '',
        body,
      ].join('\r\n'),
    )
  })
}

/** Sends a request and closes the connection: after a time, or with null after the first byte of the response. */
async function abort(request: string, delayMs: number | null, isReset: boolean): Promise<void> {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
  socket.on('error', () => undefined)
  const closed = once(socket, 'close').catch(() => undefined)
  await once(socket, 'connect')
  socket.write(request)
  const end = () => (isReset ? socket.resetAndDestroy() : socket.destroy())
  if (delayMs === null) socket.once('data', end)
  else setTimeout(end, delayMs)
  await closed
}

it('survives clients that close the connection at any moment of any request, and leaves nothing open', async () => {
  const moments = [null, ...Array.from({ length: MAX_DELAY_MS / 2 + 1 }, (_, i) => i * 2)]
  const all = requests()
  const aborts = moments.flatMap((moment, i) =>
    all.map((request, j) => () => abort(request, moment, (i + j) % 2 === 0)),
  )
  expect(aborts.length).toBeGreaterThan(routes.length * 20)
  const closed = Math.floor(aborts.length / 2)
  const work = async () => {
    for (let next = aborts.pop(); next; next = aborts.pop()) await next()
  }
  await Promise.all(Array.from({ length: CLIENTS }, work))

  // Every request that arrived was answered and logged, also those whose client had gone. A reset may discard one.
  const answered = () => service.stdout().match(/ \d{3} \d+ ms$/gm)?.length
  await expect.poll(answered).toBeGreaterThan(closed)
  expect((await call()('GET', '/v1/healthcheck')).json).toEqual({ success: true })
  expect(service.stderr()).not.toMatch(/Unexpected error|The gateway failed|A stream failed/)
  const input = { body: { content: 'Mail ada@example.com.' } }
  const started = await call()('POST', '/v1/agents/redact-pii/executions?execMode=async', input)
  expect(await waitForExecution(call(), started.json.id)).toMatchObject({ status: 'SUCCESS' })
  expect(await service.stop()).toBe(0)
})
