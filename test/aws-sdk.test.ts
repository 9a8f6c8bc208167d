import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { clientConfig, createRequestHandler, isRetryable } from '../lib/aws-sdk.ts'
import { Unavailable } from '../lib/core/errors.ts'
import { openTable } from '../lib/dynamodb/table/table.ts'
import { openRunQueue } from '../lib/sqs/run-queue.ts'
import { system } from '../lib/system.ts'

type Responder = (response: ServerResponse, request: IncomingMessage) => void

const servers: Server[] = []
// The SDK draws the time before a retry at random, from 0 up.
beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0))
afterEach(() => {
  vi.restoreAllMocks()
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

/** A service that responds to its requests in turn; the last responder handles all further ones. */
async function startStub(...responders: Responder[]) {
  const requests: (Pick<IncomingMessage, 'headers' | 'socket'> & { body: string })[] = []
  const server = createServer(async (request, response) => {
    requests.push({ headers: request.headers, socket: request.socket, body: await text(request) })
    responders[Math.min(requests.length, responders.length) - 1]?.(response, request)
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, requests, table: openTable({ TABLE_NAME: 'table', DYNAMODB_ENDPOINT: url }) }
}

const item: Responder = (response) => response.end('{"Item":{"pk":{"S":"a"},"sk":{"S":"b"}}}')
const error = (status: number, type: string): Responder => {
  const body = JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${type}`, message: 'Why.' })
  return (response) => response.writeHead(status).end(body)
}
const closed: Responder = (_, { socket }) => void socket.destroy()
const truncated: Responder = (response) => {
  response.writeHead(200, { 'content-length': 100 }).write('{"Tab')
  setImmediate(() => response.destroy())
}
const stalled: Responder = (response) => void response.writeHead(200, { 'content-length': 100 }).write('{')
const silent: Responder = () => undefined
/** Never inactive, and never complete. */
const endless: Responder = (_, { socket }) => {
  socket.write('HTTP/1.1 200 OK\r\n')
  const timer = setInterval(() => socket.write('x-more: 1\r\n'), 20)
  socket.once('close', () => clearInterval(timer))
}

const key = { pk: 'a', sk: 'b' }
const retryable: [string, Responder][] = [
  ['a throttled request', error(400, 'ProvisionedThroughputExceededException')],
  ['an error that is marked as retryable', error(400, 'ReplicatedWriteConflictException')],
  ['a server error', error(500, 'InternalServerError')],
  ['a 503 without a body', (response) => response.writeHead(503).end()],
  ['a 502 with an HTML body', (response) => response.writeHead(502).end('<html>Bad gateway</html>')],
  ['a closed connection', closed],
  ['a truncated response', truncated],
]

describe('a table', () => {
  it.each(retryable)('retries %s, and is unavailable after three attempts', async (_, fault) => {
    const passing = await startStub(fault, fault, item)
    expect(await passing.table.get(key, { consistent: true })).toEqual(key)
    const { table, requests } = await startStub(fault)
    const failure = await table.get(key, { consistent: true }).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(Unavailable)
    expect((failure as Unavailable).cause).toBeInstanceOf(Error)
    for (const all of [passing.requests, requests]) expect(all).toHaveLength(3)
  })

  it.each(['ValidationException', 'AccessDeniedException', 'ResourceNotFoundException', 'NewException'])(
    'throws the client error %s as it is, without a retry',
    async (name) => {
      const { table, requests } = await startStub(error(400, name))
      await expect(table.get(key, { consistent: true })).rejects.toMatchObject({ name, message: 'Why.' })
      expect(requests).toHaveLength(1)
    },
  )

  it('returns false or null when a condition fails, without a retry', async () => {
    const { table, requests } = await startStub(error(400, 'ConditionalCheckFailedException'))
    expect(await table.put(key)).toBe(false)
    expect(await table.update(key, { set: { a: 1 } })).toBeNull()
    expect(await table.delete(key)).toBeUndefined()
    expect(requests).toHaveLength(3)
  })

  it('retries few calls while DynamoDB is down', async () => {
    const { table, requests } = await startStub(error(500, 'InternalServerError'))
    const calls = 50
    for (let i = 0; i < calls; i++) {
      await expect(table.ping()).rejects.toThrow(Unavailable)
    }
    // The SDK's quota is 500, and a retry costs 14.
    expect(requests.length - calls).toBe(Math.floor(500 / 14))
  })

  it('waits for an emulator for as long as a slow machine needs', async () => {
    const late = Promise.withResolvers<ServerResponse>()
    const { table, requests } = await startStub((response) => late.resolve(response))
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const got = table.get(key, { consistent: true })
      const response = await late.promise
      await vi.advanceTimersByTimeAsync(29_000)
      response.end('{"Item":{"pk":{"S":"a"},"sk":{"S":"b"}}}')
      expect(await got).toEqual(key)
      expect(requests).toHaveLength(1)
    } finally {
      vi.useRealTimers()
    }
  })

  it('reuses one connection, and names the application in the user agent', async () => {
    const { table, requests } = await startStub(item)
    for (let i = 0; i < 3; i++) await table.ping()
    expect(new Set(requests.map(({ socket }) => socket)).size).toBe(1)
    expect(requests[0]?.headers['user-agent']).toContain('app/agent-execution-service')
  })
})

describe('the run queue', () => {
  const message = () => ({ executionId: system.newId(), organizationId: system.newId(), tenantId: null })

  it.each([
    ['is unavailable after three attempts', error(500, 'InternalFailure'), 'Unavailable', 3],
    ['throws a client error as it is', error(400, 'QueueDoesNotExist'), 'QueueDoesNotExist', 1],
  ])('%s', async (_, fault, name, attempts) => {
    const { url, requests } = await startStub(fault)
    const queue = openRunQueue({ QUEUE_URL: 'http://queue.test/0/runs', SQS_ENDPOINT: url })
    await expect(queue.send(message())).rejects.toMatchObject({ name })
    expect(requests).toHaveLength(attempts)
  })
})

describe('createRequestHandler', () => {
  it.each([
    ['no response', silent],
    ['no complete head of a response', endless],
    ['no more of the response', stalled],
  ])('ends an attempt with a retryable error when %s arrives in time', async (_, responder) => {
    const { url, requests } = await startStub(responder)
    const client = new DynamoDBClient({ ...clientConfig(url), requestHandler: createRequestHandler(100) })
    const failure = await client.send(new ListTablesCommand({})).catch((error: unknown) => error)
    expect(failure).toMatchObject({ name: 'TimeoutError' })
    expect(isRetryable(failure)).toBe(true)
    expect(requests).toHaveLength(3)
  })

  it('closes a connection that is idle, not one that waits for a response', async () => {
    const slow: Responder = (response) => setTimeout(() => response.end('{}'), 100)
    const { url, requests } = await startStub(slow)
    const requestHandler = createRequestHandler(5_000, { idleSocketMs: 20 })
    const client = new DynamoDBClient({ ...clientConfig(url), requestHandler })
    await client.send(new ListTablesCommand({}))
    const [request] = requests
    await vi.waitUntil(() => request?.socket.destroyed, 5_000)
    await client.send(new ListTablesCommand({}))
    expect(requests).toHaveLength(2)
    expect(requests[1]?.socket).not.toBe(request?.socket)
  })
})

describe('clientConfig', () => {
  it('leaves region, credentials and endpoint to the SDK unless an emulator is named', () => {
    const names = (endpoint?: string) => Object.keys(clientConfig(endpoint))
    const own = names()
    expect(own).not.toEqual(expect.arrayContaining(['endpoint']))
    expect(names('http://localhost:1').filter((name) => !own.includes(name))).toEqual([
      'endpoint',
      'region',
      'credentials',
    ])
  })
})
