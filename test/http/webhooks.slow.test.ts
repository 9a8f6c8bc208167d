import { Webhook } from 'standardwebhooks'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { comparable } from '../contract/world.ts'
import { newOrganization } from '../support/engine/organization.ts'
import { storeDelivery } from '../support/notifications/a-webhook.ts'
import { createLocalClient, getExecutionId, idsOf, readPages } from '../support/service/client.ts'
import { organizationWith } from '../support/service/organization-with.ts'
import { temporaryServices } from '../support/service/temporary-services.ts'
import { type Received, serve } from '../tools/serve.ts'

const URL = 'https://receiver.example/events?key=1'
const services = temporaryServices()
const UNKNOWN = '01a2003a-d1f2-7169-a695-5ea4428d9251'

const own = await organizationWith('asks')
const { agentId } = await own.publish('echo')

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

describe('webhooks', () => {
  it('are created, listed, changed and deleted, and their secret is shown once', async () => {
    const response = await create({ agents: ['echo', agentId, 'asks'], types: ['execution.failed'] })
    const { secret, ...record } = response.json
    expect([response.status, response.headers.get('location')]).toEqual([201, path(record)])
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    const id = expect.stringMatching(/^[0-9a-f-]{36}$/)
    expect(record).toEqual({
      ...{ id, url: URL, types: ['execution.failed'], agents: [agentId, id], tenants: null, sources: null },
      ...{ allowedHosts: [], enabled: true, disabledReason: null, failingSince: null },
      createdAt: expect.stringMatching(/Z$/),
    })
    expect((await own.call('GET', path(record))).json).toEqual(record)
    const { json: ended } = await create({ types: ['batch.ended', 'batch.ended'] })
    expect(ended.types).toEqual(['batch.ended'])
    await remove(ended)
    const { json: second } = await create()
    const types = ['succeeded', 'failed', 'cancelled', 'waiting'].map((type) => `execution.${type}`)
    expect(second.types).toEqual(types)
    const list = await own.call('GET', '/v1/webhooks')
    expect(idsOf(list.json)).toEqual([second.id, record.id])
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

  it.each<[object, string, RegExp]>([
    [{ url: `https://receiver.example/${'x'.repeat(5_000_000)}` }, '/url', /at most 2048/],
    [{ url: 'http://receiver.example/' }, '/url', /https:\/\/ unless allowedHosts/],
    [{ url: 'https://[::ffff:10.0.0.1]/' }, '/url', /non-public/],
    [{ tenants: [''] }, '/tenants/0', /1 to 128/],
    [{ tenants: ['\ud800'] }, '/tenants/0', /1 to 128/],
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
  const deliveryOf = (executionId: string, { id: destinationId }: { id: string }) =>
    storeDelivery({ organizationId: own.id, executionId, destinationId })

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
    const ids = await Promise.all(executionIds.map((executionId) => deliveryOf(executionId, webhook)))
    const pages = await readPages(own.call, `${path(webhook)}/deliveries?limit=2`)
    expect(pages.map(({ json }) => json.length)).toEqual([2, 1])
    const listed = pages.flatMap(({ json }) => json)
    expect(idsOf(listed)).toEqual(ids.toReversed())
    const [id = ''] = ids
    const { occurredAt } = listed[2]
    const failed = { id, status: 'FAILED', attempts: 1, nextAttemptAt: null, responseStatus: 500 }
    expect(listed[2]).toEqual({
      ...{ ...failed, webhookId: webhook.id, executionId: executionIds[0], batchId: null },
      ...{ type: 'execution.succeeded', error: 'The receiver answered 500.' },
      ...{ occurredAt, createdAt: occurredAt, attemptedAt: occurredAt },
    })
    expect(occurredAt).toMatch(/Z$/)
    const redeliver = () => own.call('POST', `${path(webhook)}/deliveries/${id}/redeliver`)
    expect((await redeliver()).json).toMatchObject(failed)
    const delivered = { id, status: 'DELIVERED', attempts: 2, responseStatus: 200 }
    expect((await redeliver()).json).toMatchObject(delivered)
    expect(received.map(({ headers }) => headers['webhook-id'])).toEqual([id, id])
    for (const request of received)
      expect(verified(request, webhook.secret)).toMatchObject({
        type: 'execution.succeeded',
        data: { id: executionIds[0], status: 'SUCCESS', output: { text: 'a' } },
      })
  })

  it('of other agents are not sent to a URL that a limited token has chosen', async () => {
    const { webhook, received } = await receiving()
    const executionId = getExecutionId(await own.run('asks', { usd: 1 }, 'tenantId=acme'))
    const id = await deliveryOf(executionId, webhook)
    await own.call('PATCH', path(webhook), { body: { agents: ['echo'] } })
    const limited = await own.withLimits({ agents: ['echo'] })
    const refused = await limited('POST', `${path(webhook)}/deliveries/${id}/redeliver`)
    expect([refused.status, refused.json.code, received]).toEqual([404, 'DeliveryNotFound', []])
  })
})

it('a token that is limited to agents has to name them, and sees only webhooks that name no others', async () => {
  const limited = await own.withLimits({ agents: ['echo'] })
  const problem = { code: 'Forbidden', detail: expect.stringContaining('agents') }
  expect(await create({}, limited)).toMatchObject({ status: 403, json: problem })
  const named = await create({ agents: ['asks'] }, limited)
  const absent = await create({ agents: ['none'] }, limited)
  expect(comparable(named)).toEqual(comparable(absent))

  const [all, both] = [await created(), await created({ agents: ['echo', 'asks'] })]
  const mine = (await create({ agents: ['echo'] }, limited)).json
  const { json } = await limited('GET', '/v1/webhooks')
  expect(idsOf(json)).toEqual([mine.id])
  const missing = comparable(await limited('GET', path({ id: UNKNOWN })))
  for (const webhook of [all, both]) expect(comparable(await limited('GET', path(webhook)))).toEqual(missing)
  const widened = await limited('PATCH', path(mine), { body: { agents: null } })
  expect([widened.status, widened.json.code]).toEqual([403, 'Forbidden'])
  expect((await limited('PATCH', path(mine), { body: { enabled: false } })).json.enabled).toBe(false)
  for (const webhook of [all, both, mine]) await remove(webhook)
})

const SECRET_ANSWER = 'what-the-receiver-answered'
const SECRET_KEY = 'key-in-the-query-of-the-url'

it('the service shows secrets once, and never in a log, a list or an error', async () => {
  const dataDir = services.newFolder()
  const service = await services.start(dataDir, { POWERTOOLS_LOG_LEVEL: 'DEBUG' })
  const call = createLocalClient(service.url, dataDir)
  const server = await serve((response) => response.writeHead(500).end(SECRET_ANSWER))
  const body = { url: `${server.url}/hook?key=${SECRET_KEY}`, allowedHosts: [server.host] }
  const { id, secret } = (await call('POST', '/v1/webhooks', { body })).json
  const address = `/v1/webhooks/${id}`
  const rotated = (await call('POST', `${address}/rotate`)).json.secret
  const standard = (await call('POST', '/v1/webhooks/default/rotate')).json.secret
  expect((await call('POST', '/v1/agents/wait/executions', { body: { seconds: 0 } })).status).toBe(200)
  await vi.waitFor(() => expect(server.received).not.toEqual([]))
  const answers = await Promise.all([
    call('POST', `${address}/test`),
    call('GET', '/v1/webhooks'),
    call('GET', address),
    call('GET', `${address}/deliveries`),
    call('PATCH', address, { body: { secret } }),
    call('PATCH', address, { body: { enabled: true } }),
    call('POST', '/v1/webhooks', { body: { ...body, types: [secret] } }),
  ])
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 422, 200, 422])
  // The log of each request is complete.
  await vi.waitFor(() => expect(service.output()).toContain('"operation":"test-webhook"'))
  const texts = [...answers.map(({ text }) => text), service.output()]
  for (const value of [secret, rotated, standard, SECRET_ANSWER])
    for (const text of texts) expect(text).not.toContain(value.replace('whsec_', ''))
  expect(service.output()).not.toContain(SECRET_KEY)
  expect((await call('DELETE', address)).status).toBe(204)
})
