import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { createToken } from '../../support/engine/access.ts'
import { newOrganization, sharedTable, type TestOrganization } from '../../support/engine/organization.ts'
import { storeDelivery } from '../../support/notifications/a-webhook.ts'
import { waitUntil } from '../../support/processes/processes.ts'
import { type ApiResponse, getExecutionId, idsOf } from '../../support/service/client.ts'
import { organizationWith } from '../../support/service/organization-with.ts'

const own = await organizationWith('echo')

const entriesOf = async (query = ''): Promise<ApiResponse['json']> =>
  (await own.call('GET', `/v1/audit${query}`)).json

describe('GET /v1/audit', () => {
  it('shows who changed what, from where, with its result', async () => {
    const body = { maxOpenExecutions: 3, maxCostUsd: { day: 5 } }
    expect((await own.call('PUT', '/v1/tenants/acme/limits', { body })).status).toBe(200)
    const { json: me } = await own.call('GET', '/v1/me')
    const [entry] = await entriesOf('?target=acme')
    expect(entry).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      at: expect.stringMatching(/Z$/),
      actor: { kind: 'token', id: me.tokenId, name: expect.any(String) },
      source: { interface: 'HTTP', ip: '127.0.0.1', userAgent: 'node' },
      action: 'limits.put',
      target: { kind: 'tenant', id: 'acme' },
      changes: { maxOpenExecutions: 3, 'maxCostUsd.day': 5 },
      result: 'SUCCEEDED',
    })
  })

  it('finds what an actor has changed, and what belongs to an agent', async () => {
    const { json: me } = await own.call('GET', '/v1/me')
    const schedule = { body: { cron: '@daily', input: { text: 'x' } } }
    expect((await own.call('PUT', '/v1/agents/echo/schedules/nightly', schedule)).status).toBe(201)
    const [entry] = await entriesOf('?action=schedule.put')
    expect(entry.target).toEqual({ kind: 'schedule', id: 'nightly', agentId: expect.any(String) })
    expect(await entriesOf(`?target=${entry.target.agentId}&action=schedule.put`)).toEqual([entry])
    const shouted = entry.target.agentId.toUpperCase()
    expect(await entriesOf(`?target=${shouted}&action=schedule.put`)).toEqual([entry])
    expect((await entriesOf(`?actor=${me.tokenId}&limit=1`))[0]).toEqual(entry)
    expect(await entriesOf(`?actor=${crypto.randomUUID()}`)).toEqual([])
  })

  const DAILY = { cron: '@daily' }
  it.each([
    ['schedule.put', 'PUT', '/v1/agents/echo/schedules/x', { ...DAILY, isNew: true }, DAILY],
    ['approval.decide', 'POST', '/v1/agent_executions/x/approvals/y', { isEdited: true }, {}],
    ['version.promote', 'POST', '/v1/agents/echo/versions/x/promote', { currentVersionId: 'y' }, {}],
    ['trial.start', 'POST', '/v1/agents/echo/versions/x/trials', { versionId: 'y' }, { versionId: 'x' }],
    ['execution.review', 'PUT', '/v1/agent_executions/x/feedback', { rating: 5, note: 'y', by: 'z' }, {}],
  ])(
    'shows nothing of a %s that failed but what was asked for',
    async (action, method, path, body, changes) => {
      const { status } = await own.call(method, path, { body })
      expect(status).toBeGreaterThanOrEqual(400)
      const [entry] = await entriesOf(`?action=${action}&limit=1`)
      expect(entry).toMatchObject({ action, result: 'FAILED' })
      expect(entry.changes).toEqual(changes)
    },
  )

  it.each([
    ['execution.cancel', '/v1/agent_executions/{id}/cancel', 'execution'],
    ['batch.cancel', '/v1/batches/{id}/cancel', 'batch'],
    ['trial.cancel', '/v1/trials/{id}/cancel', 'trial'],
    ['webhook.test', '/v1/webhooks/{id}/test', 'webhook'],
    ['webhook.redeliver', '/v1/webhooks/{id}/deliveries/e/redeliver', 'webhook', { deliveryId: 'e' }],
  ] as const)('has a %s that was refused', async (action, path, kind, changes: object = {}) => {
    const id = crypto.randomUUID()
    expect((await own.call('POST', path.replace('{id}', id))).status).toBe(404)
    expect(await entriesOf(`?target=${id}`)).toMatchObject([
      { action, target: { kind, id }, result: 'FAILED', error: expect.stringMatching(/NotFound$/) },
    ])
    expect((await entriesOf(`?target=${id}`))[0].changes).toEqual(changes)
  })

  it('shows what was sent again, and that a test was sent, whatever the receiver answers', async () => {
    const body = { url: 'https://hooks.invalid', types: ['execution.succeeded'] }
    const { json: webhook } = await own.call('POST', '/v1/webhooks', { body })
    const executionId = getExecutionId(await own.run('echo', { text: 'x' }))
    const ids = { organizationId: own.id, executionId, destinationId: webhook.id }
    const deliveryId = await storeDelivery(ids)
    expect((await own.call('POST', `/v1/webhooks/${webhook.id}/test`)).json.delivered).toBe(false)
    const path = `/v1/webhooks/${webhook.id}/deliveries/${deliveryId}/redeliver`
    expect((await own.call('POST', path)).status).toBe(200)
    const common = { target: { kind: 'webhook', id: webhook.id }, result: 'SUCCEEDED' }
    const [newest] = await entriesOf(`?target=${webhook.id}&limit=1`)
    expect(newest).toMatchObject({ ...common, action: 'webhook.redeliver', changes: { deliveryId } })
    const tests = await entriesOf(`?target=${webhook.id}&action=webhook.test`)
    expect(tests).toMatchObject([{ ...common, changes: {} }])
  })

  it('has who cancelled and who reviewed a run, and not what the review says', async () => {
    const executionId = getExecutionId(await own.run('echo', { text: 'x' }))
    const rate = (call: TestOrganization['call'], note: string) =>
      call('PUT', `/v1/agent_executions/${executionId}/feedback`, {
        body: { rating: -1, note, correctedOutput: { text: note } },
      })
    expect((await rate(own.call, 'a secret of the reviewer')).status).toBe(200)
    const runner = await own.withLimits({ scopes: ['run'] })
    expect((await rate(runner, 'one of a user')).status).toBe(200)
    const reviewer = await own.withLimits({ scopes: ['review'] })
    expect((await rate(reviewer, 'another secret')).status).toBe(200)
    expect((await runner('POST', `/v1/agent_executions/${executionId}/cancel`)).status).toBe(200)
    const common = { target: { kind: 'execution', id: executionId }, changes: {}, result: 'SUCCEEDED' }
    const entries = await entriesOf(`?target=${executionId}`)
    const actions = ['execution.cancel', 'execution.review', 'execution.review']
    expect(entries).toEqual(actions.map((action) => expect.objectContaining({ ...common, action })))
  })

  describe('of what starts something', async () => {
    const other = await newOrganization()
    const { id: versionId, agentId } = await other.publish('echo')
    beforeAll(async () => {
      await other.run('echo', { text: 'x' })
      const body = { cron: '@yearly', input: { text: 'not shown' } }
      await other.call('PUT', '/v1/agents/echo/schedules/yearly', { body })
    })

    it.each(['schedule.run', 'trial.start'] as const)('a %s has one entry for each key', async (action) => {
      const isTrial = action === 'trial.start'
      const path = isTrial ? `versions/${versionId}/trials` : 'schedules/yearly/run'
      const start = async (key: string, body: object = { limit: 3 }) =>
        other.call('POST', `/v1/agents/echo/${path}`, {
          headers: { 'Idempotency-Key': key },
          ...(isTrial && { body }),
        })
      // Some at the same time, and some later.
      const responses = await Promise.all(['a', 'a', 'a', 'b'].map((key) => start(key)))
      responses.push(await start('a'), await start('b'))
      const ids = responses.map(({ json: { id } }) => id)
      expect(ids).toEqual([ids[0], ids[0], ids[0], ids[3], ids[0], ids[3]])
      const toEntry = (id: string) =>
        isTrial
          ? { target: { kind: 'trial', id, agentId }, changes: { versionId, limit: 3 } }
          : { target: { kind: 'schedule', id: 'yearly', agentId }, changes: { executionId: id } }
      const { json: entries } = await other.call('GET', `/v1/audit?action=${action}`)
      expect(entries).toHaveLength(2)
      for (const id of new Set(ids))
        expect(entries).toContainEqual(expect.objectContaining({ ...toEntry(id), result: 'SUCCEEDED' }))
    })

    it('one that is refused has an entry each time', async () => {
      const headers = { 'Idempotency-Key': 'a' }
      const path = `/v1/agents/echo/versions/${versionId}/trials`
      for (const limit of [4, 4])
        await other.call('POST', path, { headers, body: { limit, executionId: 'y' } })
      await other.call('POST', path, { headers, body: { limit: 4 } })
      const { json: entries } = await other.call('GET', '/v1/audit?action=trial.start&limit=3')
      const target = { kind: 'trial', id: null, agentId }
      const refused = { target, changes: { versionId, limit: 4 }, result: 'FAILED' }
      const errors = ['IdempotencyKeyReused', 'InputSchemaMismatch', 'InputSchemaMismatch']
      expect(entries).toMatchObject(errors.map((error) => ({ ...refused, error })))
    })
  })

  it('selects changes by their time', async () => {
    const [entry] = await entriesOf('?limit=1')
    const at = Date.parse(entry.at)
    const iso = (ms: number) => encodeURIComponent(new Date(ms).toISOString())
    expect(await entriesOf(`?from=${iso(at)}&to=${iso(at + 1)}`)).toContainEqual(entry)
    expect(await entriesOf(`?from=${iso(at + 1)}`)).not.toContainEqual(entry)
    expect(await entriesOf(`?to=${iso(at)}`)).not.toContainEqual(entry)
    expect(await entriesOf(`?from=${iso(at)}&to=${iso(at - 1)}`)).toEqual([])
  })

  it('has the result of each change whose client has hung up', async () => {
    const token = await createToken(sharedTable(), own.id)
    const { hostname, port } = new URL(inject('service'))
    const body = '{"warnAt":0.5}'
    const names = Array.from({ length: 12 }, (_, i) => `gone-${i}`)
    for (const [ms, name] of names.entries()) {
      const socket = connect(Number(port), hostname).on('error', () => undefined)
      socket.write(
        `PUT /v1/tenants/${name}/limits HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      )
      await sleep(ms)
      socket.destroy()
    }
    const stateOf = async (name: string) => {
      const { status } = await own.call('GET', `/v1/tenants/${name}/limits`)
      return `${status} ${idsOf(await entriesOf(`?target=${name}`), 'result')}`
    }
    const haveEnded = async () =>
      (await Promise.all(names.map(stateOf))).every((state) => ['404 ', '200 SUCCEEDED'].includes(state))
    await waitUntil(haveEnded, { what: 'a result for each change', limitMs: 10_000 })
  })
})
