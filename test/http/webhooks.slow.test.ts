import { Webhook } from 'standardwebhooks'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Batch, NO_TOTALS } from '../../lib/core/batch.ts'
import { openStores } from '../../lib/dynamodb/open-stores.ts'
import { aBatch } from '../support/batches/a-batch.ts'
import { newOrganization, sharedTable, type TestOrganization } from '../support/engine/organization.ts'
import { storeDelivery } from '../support/notifications/store-delivery.ts'
import { type ApiClient, type ApiResponse, getExecutionId, getNextLink } from '../support/service/client.ts'
import { type Received, serve } from '../tools/serve.ts'

const URL = 'https://receiver.example/events?key=1'
const UNKNOWN = '01a2003a-d1f2-7169-a695-5ea4428d9251'

let own: TestOrganization
let agentId: string
beforeAll(async () => {
  own = await newOrganization()
  agentId = (await own.publish('echo')).agentId
  await own.publish('asks')
})

const create = (body: object = {}, client = own.call) =>
  client('POST', '/v1/webhooks', { body: { url: URL, ...body } })
const created = async (body: object = {}) => {
  const { status, json } = await create(body)
  expect(status, JSON.stringify(json)).toBe(201)
  return json
}
const path = ({ id }: { id: string }) => `/v1/webhooks/${id}`
/** The tests share an organization, which may have 20 webhooks. */
const remove = (webhook: { id: string }) => own.call('DELETE', path(webhook))

/** Without the ID of the request. */
const comparable = ({ status, text, json }: ApiResponse) => [status, text.replaceAll(json.instance, '')]

describe('webhooks', () => {
  it('are created, listed, changed and deleted, and their secret is shown once', async () => {
    const response = await create({ agents: ['echo', agentId, 'asks'], types: ['execution.failed'] })
    const { secret, ...record } = response.json
    expect([response.status, response.headers.get('location')]).toEqual([201, path(record)])
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(record).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      url: URL,
      types: ['execution.failed'],
      agents: [agentId, expect.stringMatching(/^[0-9a-f-]{36}$/)],
      tenants: null,
      sources: null,
      allowedHosts: [],
      enabled: true,
      disabledReason: null,
      failingSince: null,
      createdAt: expect.stringMatching(/Z$/),
    })
    expect((await own.call('GET', path(record))).json).toEqual(record)
    const { json: ended } = await create({ types: ['batch.ended', 'batch.ended'] })
    expect(ended.types).toEqual(['batch.ended'])
    await remove(ended)
    const { json: second } = await create()
    expect(second.types).toEqual([
      'execution.succeeded',
      'execution.failed',
      'execution.cancelled',
      'execution.waiting',
    ])
    const list = await own.call('GET', '/v1/webhooks')
    expect(list.json.map(({ id }: { id: string }) => id)).toEqual([second.id, record.id])
    expect(list.text).not.toContain('whsec_')

    const changes = { tenants: ['acme', 'acme'], agents: null, enabled: false, sources: ['API'] }
    const changed = { ...record, ...changes, tenants: ['acme'] }
    const patched = await own.call('PATCH', path(record), { body: changes })
    expect([patched.status, patched.json]).toEqual([200, changed])
    expect((await own.call('PATCH', path(record), { body: {} })).json).toEqual(changed)
    expect((await own.call('GET', path({ id: record.id.toUpperCase() }))).json).toEqual(changed)

    expect((await remove(record)).status).toBe(204)
    expect((await remove(record)).json.code).toBe('WebhookNotFound')
    await remove(second)
  })

  it('rotate their secret: two are valid at most', async () => {
    const webhook = await created()
    const rotate = async () => (await own.call('POST', `${path(webhook)}/rotate`)).json
    const day = Date.now() + 86_400_000
    const rotated = await rotate()
    expect(rotated).toMatchObject({ id: webhook.id, secret: expect.stringMatching(/^whsec_/) })
    expect(rotated.secret).not.toBe(webhook.secret)
    expect(Math.abs(Date.parse(rotated.previousSecretExpiresAt) - day)).toBeLessThan(60_000)
    const all = await Promise.all(Array.from({ length: 5 }, rotate))
    expect(new Set(all.map(({ secret }) => secret)).size).toBe(5)
    await remove(webhook)
  })

  it.each<[object, string, RegExp]>([
    [{ url: 'receiver.example' }, '/url', /must be a URL/],
    [{ url: '' }, '/url', /at most 2048/],
    [{ url: `https://receiver.example/${'x'.repeat(5_000_000)}` }, '/url', /at most 2048/],
    [{ url: 'http://receiver.example/' }, '/url', /https:\/\/ unless allowedHosts/],
    [{ url: 'http://127.0.0.1/' }, '/url', /unless allowedHosts contains "127.0.0.1"/],
    [{ url: 'https://[::ffff:10.0.0.1]/' }, '/url', /non-public/],
    [{ url: 'https://169.254.169.254/latest' }, '/url', /non-public/],
    [{ url: 'https://0x7f.1/' }, '/url', /non-public/],
    [{ url: 'file:///etc/passwd' }, '/url', /invalid host|https/],
    [{ url: 'https://user:pass@receiver.example/' }, '/url', /user name or password/],
    [{ url: 'https://receiver.example/#x' }, '/url', /fragment/],
    [{ url: 5 }, '/url', /must be a URL/],
    [{ url: null }, '/url', /must be a URL/],
    [{ types: [] }, '/types', /execution.succeeded/],
    [{ types: ['execution.started'] }, '/types/0', /one of execution.succeeded/],
    [{ types: null }, '/types', /must be a list/],
    [{ agents: [] }, '/agents', /1 to 50/],
    [{ agents: ['echo', 'none'] }, '/agents/1', /slug or ID/],
    [{ agents: [UNKNOWN] }, '/agents/0', /slug or ID/],
    [{ agents: ['__proto__', '../x'] }, '/agents/0', /slug or ID/],
    [{ agents: Array.from({ length: 51 }, () => 'echo') }, '/agents', /1 to 50/],
    [{ tenants: [''] }, '/tenants/0', /1 to 128/],
    [{ tenants: ['\ud800'] }, '/tenants/0', /1 to 128/],
    [{ tenants: 'acme' }, '/tenants', /1 to 50/],
    [{ sources: ['AGENT'] }, '/sources/0', /API/],
    [{ allowedHosts: ['https://x'] }, '/allowedHosts/0', /host/],
    [{ allowedHosts: null }, '/allowedHosts', /16/],
    [{ enabled: 'yes' }, '/enabled', /true or false/],
    [{ secret: 'whsec_x' }, '/secret', /not a field of a webhook/],
  ])('reject the body %.100j', async (body, pointer, message) => {
    const webhook = await created()
    const responses = [await create(body), await own.call('PATCH', path(webhook), { body })]
    for (const { status, json } of responses) {
      expect([status, json.code, json.errors[0].path]).toEqual([422, 'InputSchemaMismatch', pointer])
      expect(json.errors[0].message).toMatch(message)
    }
    const { secret: _, ...record } = webhook
    expect((await own.call('GET', path(webhook))).json).toEqual(record)
    await remove(webhook)
  })

  it('may name hosts that are not public', async () => {
    const local = { url: 'http://localhost:8080/events', allowedHosts: ['localhost:8080'] }
    const webhook = await created(local)
    const narrowed = await own.call('PATCH', path(webhook), { body: { allowedHosts: [] } })
    expect([narrowed.status, narrowed.json.errors[0].path]).toEqual([422, '/url'])
    await remove(webhook)
  })

  it('are 20 at most, also if 40 are created at the same time', async () => {
    const other = await newOrganization()
    const responses = await Promise.all(Array.from({ length: 40 }, () => create({}, other.call)))
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(20)
    const refused = responses.filter(({ status }) => status !== 201)
    for (const { status, json } of refused) expect([status, json.code]).toEqual([409, 'TooManyWebhooks'])
    const { json } = await other.call('GET', '/v1/webhooks')
    expect(json).toHaveLength(20)
    await other.call('DELETE', path(json[0]))
    expect((await create({}, other.call)).status).toBe(201)
  })
})

describe('deliveries', () => {
  /** The headers and the body of what was received, if its signature is valid. */
  const verified = ({ headers, body }: Received, secret: string) =>
    new Webhook(secret).verify(body, headers as never)

  /** A webhook whose receiver answers with these statuses in turn. The service itself has nothing to tell it. */
  async function receiving(...statuses: number[]) {
    const server = await serve((response) => response.writeHead(statuses.shift() ?? 200).end())
    const types = ['execution.cancelled']
    const webhook = await created({ url: `${server.url}/events`, allowedHosts: [server.host], types })
    onTestFinished(async () => void (await remove(webhook)))
    return { webhook, received: server.received }
  }

  it('are listed, page by page, and sent again', async () => {
    const { webhook, received } = await receiving(500, 200)
    const executionIds: string[] = []
    for (const text of ['a', 'b', 'c'])
      executionIds.push(getExecutionId(await own.run('echo', { text }, 'tenantId=acme')))
    const ids = await Promise.all(
      executionIds.map((executionId) =>
        storeDelivery({ organizationId: own.id, executionId, destinationId: webhook.id }),
      ),
    )
    const first = await own.call('GET', `${path(webhook)}/deliveries?limit=2`)
    const second = await own.call('GET', getNextLink(first) ?? '')
    const listed = [...first.json, ...second.json]
    expect(listed.map(({ id }) => id)).toEqual(ids.toReversed())
    const [id = ''] = ids
    expect(listed[2]).toEqual({
      id,
      webhookId: webhook.id,
      executionId: executionIds[0],
      batchId: null,
      type: 'execution.succeeded',
      occurredAt: expect.stringMatching(/Z$/),
      status: 'FAILED',
      attempts: 1,
      createdAt: listed[2].occurredAt,
      attemptedAt: listed[2].occurredAt,
      nextAttemptAt: null,
      responseStatus: 500,
      error: 'The receiver answered 500.',
    })
    const redeliver = async (client = own.call) =>
      client('POST', `${path(webhook)}/deliveries/${id}/redeliver`)
    expect((await redeliver()).json).toMatchObject({
      id,
      status: 'FAILED',
      attempts: 1,
      nextAttemptAt: null,
      responseStatus: 500,
    })
    expect((await redeliver()).json).toMatchObject({
      id,
      status: 'DELIVERED',
      attempts: 2,
      responseStatus: 200,
    })
    expect(received.map(({ headers }) => headers['webhook-id'])).toEqual([id, id])
    for (const request of received)
      expect(verified(request, webhook.secret)).toMatchObject({
        type: 'execution.succeeded',
        data: { id: executionIds[0], status: 'SUCCESS', output: { text: 'a' } },
      })
  })

  it('of a batch name it and are sent again, but not to a token without its agent', async () => {
    const { webhook, received } = await receiving()
    const ended = { organizationId: own.id, agentId, webhookUrl: 'https://own.example/' }
    const { batches } = openStores(sharedTable())
    const batch = (await batches.create(aBatch(ended))) as Batch
    const totals = { ...NO_TOTALS, succeeded: 2, failed: 1 }
    await batches.end({ batch, totals, endedAt: new Date().toISOString() })
    const id = await storeDelivery({ organizationId: own.id, batchId: batch.id, destinationId: webhook.id })
    const { json } = await own.call('GET', `${path(webhook)}/deliveries`)
    expect(json).toMatchObject([{ id, executionId: null, batchId: batch.id, type: 'batch.ended' }])
    const redeliver = (client: ApiClient) => client('POST', `${path(webhook)}/deliveries/${id}/redeliver`)
    expect((await redeliver(own.call)).json).toMatchObject({ id, status: 'DELIVERED', batchId: batch.id })
    const [request] = received as [Received]
    expect(request.headers['webhook-id']).toBe(id)
    const data = { id: batch.id, documentId: agentId, counts: { IN_PROGRESS: 0, SUCCESS: 2, ERROR: 1 } }
    expect(verified(request, webhook.secret)).toMatchObject({ type: 'batch.ended', data })
    expect(request.body).not.toContain('own.example')

    await own.call('PATCH', path(webhook), { body: { agents: ['asks'] } })
    const refused = await redeliver(await own.withLimits({ agents: ['asks'] }))
    expect([refused.status, refused.json.code, received.length]).toEqual([404, 'DeliveryNotFound', 1])
  })

  it.each(['none', `evt_${UNKNOWN}_1`, `evt_batch_${UNKNOWN}_1`, '__proto__'])(
    'are 404 if they do not exist: %s',
    async (id) => {
      const { webhook } = await receiving()
      const { status, json } = await own.call('POST', `${path(webhook)}/deliveries/${id}/redeliver`)
      expect([status, json.code]).toEqual([404, 'DeliveryNotFound'])
      const list = await own.call('GET', `${path(webhook)}/deliveries?cursor=x`)
      expect([list.status, list.json.code]).toEqual([400, 'InvalidQueryParameter'])
    },
  )

  it('of other agents are not sent to a URL that a limited token has chosen', async () => {
    const { webhook, received } = await receiving()
    const executionId = getExecutionId(await own.run('asks', { usd: 1 }, 'tenantId=acme'))
    const id = await storeDelivery({ organizationId: own.id, executionId, destinationId: webhook.id })
    await own.call('PATCH', path(webhook), { body: { agents: ['echo'] } })
    const limited = await own.withLimits({ agents: ['echo'] })
    const refused = await limited('POST', `${path(webhook)}/deliveries/${id}/redeliver`)
    expect([refused.status, refused.json.code, received]).toEqual([404, 'DeliveryNotFound', []])
  })

  it('can be tried, signed with the secrets of now', async () => {
    const { webhook, received } = await receiving(200, 503)
    const test = async () => (await own.call('POST', `${path(webhook)}/test`)).json
    expect(await test()).toEqual({ delivered: true, responseStatus: 200, error: null })
    const { json } = await own.call('POST', `${path(webhook)}/rotate`)
    expect(await test()).toMatchObject({ delivered: false, responseStatus: 503 })
    const [before, after] = received as [Received, Received]
    expect(verified(before, webhook.secret)).toMatchObject({ type: 'webhook.test' })
    expect(() => verified(before, json.secret)).toThrow()
    for (const { secret } of [webhook, json]) expect(verified(after, secret)).toBeTruthy()
    const { json: third } = await own.call('POST', `${path(webhook)}/rotate`)
    expect(await test()).toMatchObject({ delivered: true })
    const last = received[2] as Received
    for (const { secret } of [json, third]) expect(verified(last, secret)).toBeTruthy()
    expect(() => verified(last, webhook.secret)).toThrow()
    expect((await own.call('GET', `${path(webhook)}/deliveries`)).json).toEqual([])
  })
})

describe('the default secret', () => {
  it('is created and rotated, and is not a webhook', async () => {
    const { json, status } = await own.call('POST', '/v1/webhooks/default/rotate')
    expect([status, json]).toEqual([
      200,
      { id: 'default', secret: expect.stringMatching(/^whsec_/), previousSecretExpiresAt: null },
    ])
    const again = (await own.call('POST', '/v1/webhooks/default/rotate')).json
    expect(again.previousSecretExpiresAt).toMatch(/Z$/)
    for (const [method, body] of [['GET'], ['DELETE'], ['PATCH', {}]] as const) {
      const response = await own.call(method, '/v1/webhooks/default', body && { body })
      expect([response.status, response.json.code]).toEqual([404, 'WebhookNotFound'])
    }
    const limited = await own.withLimits({ agents: ['echo'] })
    expect((await limited('POST', '/v1/webhooks/default/rotate')).json.code).toBe('Forbidden')
  })
})

describe('a token that is limited to agents', () => {
  it('has to name them, and sees only webhooks that name no others', async () => {
    const limited = await own.withLimits({ agents: ['echo'] })
    expect(await create({}, limited)).toMatchObject({
      status: 403,
      json: { code: 'Forbidden', detail: expect.stringContaining('agents') },
    })
    const named = await create({ agents: ['asks'] }, limited)
    const absent = await create({ agents: ['none'] }, limited)
    expect(comparable(named)).toEqual(comparable(absent))

    const [all, both] = [await created(), await created({ agents: ['echo', 'asks'] })]
    const mine = (await create({ agents: ['echo'] }, limited)).json
    const { json } = await limited('GET', '/v1/webhooks')
    expect(json.map(({ id }: { id: string }) => id)).toEqual([mine.id])
    for (const webhook of [all, both]) await expectNotFound(limited, webhook)
    const widened = await limited('PATCH', path(mine), { body: { agents: null } })
    expect([widened.status, widened.json.code]).toEqual([403, 'Forbidden'])
    expect((await limited('PATCH', path(mine), { body: { enabled: false } })).json.enabled).toBe(false)
    for (const webhook of [all, both, mine]) await remove(webhook)
  })
})

it("answers for another organization's webhook as for one that does not exist", async () => {
  const other = await newOrganization()
  const webhook = await created()
  await expectNotFound(other.call, webhook)
  expect((await own.call('GET', path(webhook))).status).toBe(200)
  await remove(webhook)
})

async function expectNotFound(client: ApiClient, webhook: { id: string }): Promise<void> {
  const requests: [string, string, object?][] = [
    ['GET', ''],
    ['PATCH', '', { enabled: false }],
    ['DELETE', ''],
    ['POST', '/rotate'],
    ['POST', '/test'],
    ['GET', '/deliveries'],
    ['POST', `/deliveries/evt_${UNKNOWN}_1/redeliver`],
  ]
  for (const [method, rest, body] of requests) {
    const send = (id: string) => client(method, path({ id }) + rest, body && { body })
    const response = await send(webhook.id)
    expect([response.status, response.json.code]).toEqual([404, 'WebhookNotFound'])
    expect(comparable(response)).toEqual(comparable(await send(UNKNOWN)))
    expect(comparable(response)).toEqual(comparable(await send('no-uuid')))
  }
}
