import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { afterEach, describe, expect, it } from 'vitest'
import { awsClient } from '../../lib/aws/aws-client.ts'
import { AwsFault } from '../../lib/aws/aws-fault.ts'
import { emulatorIdentity, environmentIdentity, type Identity } from '../../lib/aws/identity.ts'

type Answer = (response: ServerResponse, request: IncomingMessage) => void
type Seen = { headers: IncomingMessage['headers']; body: string; socket: unknown }

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.closeAllConnections()
})

/** A service that gives these answers in turn, the last one from then on. */
async function serviceOf(...answers: Answer[]) {
  const seen: Seen[] = []
  const server = createServer(async (request, response) => {
    seen.push({ headers: request.headers, body: await text(request), socket: request.socket })
    answers[Math.min(seen.length, answers.length) - 1]?.(response, request)
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, seen }
}

const clientOf = (identity: Identity, { maxAttempts = 4, timeoutMs = 2_000 } = {}) =>
  awsClient({ service: 'dynamodb', targetPrefix: 'DynamoDB_20120810', identity, maxAttempts, timeoutMs })

const fine: Answer = (response) => response.end('{"TableNames":["a"]}')
const refusal = (status: number, type: string, headers = {}): Answer => {
  const body = JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${type}`, message: 'Why.' })
  return (response) => response.writeHead(status, headers).end(body)
}
const cut: Answer = (_, { socket }) => void socket.destroy()
const halved: Answer = (response) => {
  response.writeHead(200, { 'content-length': 100 }).write('{"Tab')
  setImmediate(() => response.destroy())
}
const silent: Answer = () => undefined

describe('awsClient', () => {
  it('sends an operation as the protocol says, on one connection', async () => {
    const { url, seen } = await serviceOf(fine)
    const client = clientOf(emulatorIdentity(url))
    expect(await client.call('ListTables', { Limit: 1 })).toEqual({ TableNames: ['a'] })
    await client.call('ListTables', { text: 'größer' })
    expect(seen[0]?.headers).toMatchObject({
      'x-amz-target': 'DynamoDB_20120810.ListTables',
      'content-type': 'application/x-amz-json-1.0',
      host: new URL(url).host,
    })
    expect(seen.map(({ body }) => body)).toEqual(['{"Limit":1}', '{"text":"größer"}'])
    expect(new Set(seen.map(({ socket }) => socket)).size).toBe(1)
    client.close()
  })

  it('signs as the AWS SDK does', async () => {
    const { url, seen } = await serviceOf(fine)
    const environment = {
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
      AWS_SECRET_ACCESS_KEY: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
      AWS_SESSION_TOKEN: 'a+token/of=many characters',
      AWS_ENDPOINT_URL_DYNAMODB: url,
    }
    const client = clientOf(environmentIdentity(environment))
    await client.call('ListTables', { Limit: 7 })
    const [ours] = seen as [Seen]
    const sdk = new DynamoDBClient({
      endpoint: url,
      region: environment.AWS_REGION,
      credentials: {
        accessKeyId: environment.AWS_ACCESS_KEY_ID,
        secretAccessKey: environment.AWS_SECRET_ACCESS_KEY,
        sessionToken: environment.AWS_SESSION_TOKEN,
      },
    })
    // Both sign what they send: the SDK is made to send the same headers at the same time.
    const signedNames =
      /SignedHeaders=([^,]+)/.exec(String(ours.headers.authorization))?.[1]?.split(';') ?? []
    const time = String(ours.headers['x-amz-date'])
    const iso = time.replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5')
    const signer = await sdk.config.signer()
    const signed = await signer.sign(
      {
        method: 'POST',
        protocol: 'http:',
        hostname: '127.0.0.1',
        path: '/',
        query: {},
        headers: Object.fromEntries(
          signedNames
            .filter((name) => name !== 'x-amz-date')
            .map((name) => [name, String(ours.headers[name])]),
        ),
        body: ours.body,
      },
      {
        signingDate: new Date(iso),
        signableHeaders: new Set(signedNames),
        unsignableHeaders: new Set(['x-amz-content-sha256']),
      },
    )
    const signatureOf = (header: string | undefined) => /Signature=([0-9a-f]{64})$/.exec(String(header))?.[1]
    expect(signatureOf(ours.headers.authorization)).toMatch(/^[0-9a-f]{64}$/)
    expect(signedNames).toEqual(
      expect.arrayContaining(['host', 'x-amz-date', 'x-amz-security-token', 'x-amz-target']),
    )
    expect(ours.headers.authorization).toContain('/eu-central-1/dynamodb/aws4_request')
    expect(signatureOf(ours.headers.authorization)).toBe(signatureOf(signed.headers.authorization))
    sdk.destroy()
    client.close()
  })

  it.each<[string, Answer]>([
    ['a throttled request', refusal(400, 'ProvisionedThroughputExceededException')],
    ['a fault of AWS', refusal(500, 'InternalServerError')],
    ['a fault without a body', (response) => response.writeHead(503).end()],
    ['a connection that is cut', cut],
    ['an answer that ends too early', halved],
  ])('tries %s again', async (_, fault) => {
    const { url, seen } = await serviceOf(fault, fault, fine)
    const client = clientOf(emulatorIdentity(url))
    expect(await client.call('ListTables', {})).toEqual({ TableNames: ['a'] })
    expect(seen).toHaveLength(3)
    client.close()
  })

  it('gives up after its attempts, and says what came of the last', async () => {
    const { url, seen } = await serviceOf(refusal(500, 'InternalServerError'))
    const client = clientOf(emulatorIdentity(url), { maxAttempts: 2 })
    await expect(client.call('ListTables', {})).rejects.toMatchObject({
      name: 'InternalServerError',
      message: 'Why.',
      status: 500,
    })
    expect(seen).toHaveLength(2)
    client.close()
  })

  it('does not try a refused request again', async () => {
    const { url, seen } = await serviceOf(refusal(400, 'ConditionalCheckFailedException'))
    const client = clientOf(emulatorIdentity(url))
    const fault = await client.call('PutItem', {}).catch((error: unknown) => error)
    expect(fault).toBeInstanceOf(AwsFault)
    expect(fault).toMatchObject({ name: 'ConditionalCheckFailedException', status: 400 })
    expect(seen).toHaveLength(1)
    client.close()
  })

  it("takes SQS's older code where there is no other", async () => {
    const { url } = await serviceOf((response) =>
      response
        .writeHead(400, { 'x-amzn-query-error': 'AWS.SimpleQueueService.NonExistentQueue;Sender' })
        .end('{}'),
    )
    const client = clientOf(emulatorIdentity(url))
    await expect(client.call('SendMessage', {})).rejects.toMatchObject({
      name: 'AWS.SimpleQueueService.NonExistentQueue',
    })
    client.close()
  })

  it('does not wait for ever', async () => {
    const { url, seen } = await serviceOf(silent)
    const client = clientOf(emulatorIdentity(url), { maxAttempts: 2, timeoutMs: 100 })
    await expect(client.call('ListTables', {})).rejects.toMatchObject({
      message: 'The service did not answer in time.',
      status: 0,
    })
    expect(seen).toHaveLength(2)
    client.close()
  })

  it('ends when it is told to', async () => {
    const { url, seen } = await serviceOf(silent)
    const client = clientOf(emulatorIdentity(url))
    const ending = new AbortController()
    const call = client.call('ListTables', {}, ending.signal)
    const ended = expect(call).rejects.toMatchObject({ name: 'ABORT_ERR' })
    await expect.poll(() => seen.length).toBe(1)
    ending.abort()
    await ended
    expect(seen).toHaveLength(1)
    client.close()
  })
})

describe('environmentIdentity', () => {
  const environment = { AWS_REGION: 'eu-west-1', AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' }

  it.each([
    [{}, 'dynamodb', 'https://dynamodb.eu-west-1.amazonaws.com'],
    [{ AWS_REGION: 'cn-north-1' }, 'sqs', 'https://sqs.cn-north-1.amazonaws.com.cn'],
    [{ AWS_ENDPOINT_URL: 'http://localhost:4566' }, 'sqs', 'http://localhost:4566'],
    [
      { AWS_ENDPOINT_URL: 'http://localhost:4566', AWS_ENDPOINT_URL_SQS: 'http://localhost:1' },
      'sqs',
      'http://localhost:1',
    ],
  ])('with %j finds %s at %s', (more, service, endpoint) => {
    expect(environmentIdentity({ ...environment, ...more }).endpointOf(service)).toBe(endpoint)
  })

  it.each(['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'])('fails without %s, and names it', (name) => {
    expect(() => environmentIdentity({ ...environment, [name]: '' })).toThrow(name)
  })

  it('has no session token where there is none', async () => {
    expect(await environmentIdentity(environment).credentials()).toEqual({
      accessKeyId: 'a',
      secretAccessKey: 'b',
    })
  })
})
