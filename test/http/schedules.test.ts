import { beforeAll, describe, expect, it } from 'vitest'
import { newOrganization, type TestOrganization } from '../support/engine/organization.ts'
import type { ApiResponse } from '../support/service/client.ts'

let own: TestOrganization
let agentId: string
beforeAll(async () => {
  own = await newOrganization()
  agentId = (await own.publish('echo')).agentId
  await own.publish('counted')
})

const pathOf = (name: string) => `/v1/agents/echo/schedules/${name}`
const BODY = { cron: '30 9 * * 1-5', timezone: 'Europe/Berlin', input: { text: 'Morning' } }
const put = (name: string, body: object = {}, call = own.call) =>
  call('PUT', pathOf(name), { body: { ...BODY, ...body } })
const get = async (name: string) => (await own.call('GET', pathOf(name))).json
/** Without the ID of the request. */
const comparable = ({ status, text, json }: ApiResponse) => [status, text.replaceAll(json.instance, '')]

describe('schedules', () => {
  it('are created, read, replaced, listed and deleted', async () => {
    const created = await put('morning')
    expect([created.status, created.headers.get('location')]).toEqual([201, pathOf('morning')])
    const record = created.json
    expect(record).toEqual({
      name: 'morning',
      documentId: agentId,
      ...BODY,
      tenantId: null,
      options: {},
      version: null,
      enabled: true,
      overlap: 'skip',
      catchUpSeconds: 3600,
      declared: false,
      tokenId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: record.createdAt,
      nextRunAt: expect.stringMatching(/T0[78]:30:00.000Z$/),
      nextRuns: expect.any(Array),
      firings: [],
    })
    expect(record.nextRuns).toHaveLength(5)
    expect(record.nextRuns[0]).toBe(record.nextRunAt)
    expect(await get('morning')).toEqual(record)

    const repeated = await put('morning')
    expect([repeated.status, repeated.json]).toEqual([200, record])
    const changes = {
      cron: '@daily',
      timezone: 'UTC',
      tenantId: 'acme',
      options: { maxAgentSteps: 5, useCache: true },
      overlap: 'allow',
      catchUpSeconds: 0,
    }
    const { json: changed } = await put('morning', changes)
    expect(changed).toMatchObject({ ...changes, createdAt: record.createdAt })
    expect(changed.nextRunAt).toMatch(/T00:00:00.000Z$/)
    const { json: paused } = await put('morning', { ...changes, enabled: false })
    expect(paused).toMatchObject({ enabled: false, nextRunAt: null, nextRuns: [] })

    await put('evening')
    const list = await own.call('GET', '/v1/agents/echo/schedules?limit=1')
    expect(list.json.map(({ name }: { name: string }) => name)).toEqual(['evening'])
    const next = /<([^>]+)>/.exec(list.headers.get('link') ?? '')?.[1] ?? ''
    expect((await own.call('GET', next)).json).toEqual([paused])

    expect((await own.call('DELETE', pathOf('morning'))).status).toBe(204)
    for (const method of ['GET', 'DELETE'])
      expect((await own.call(method, pathOf('morning'))).json.code).toBe('ScheduleNotFound')
  })

  it.each<[object, string, RegExp]>([
    [{ cron: '61 * * * *' }, '/cron', /minute "61" is invalid/],
    [{ cron: '* * * *' }, '/cron', /five fields/],
    [{ cron: undefined }, '/cron', /is required/],
    [{ cron: 5 }, '/cron', /five fields/],
    [{ cron: '0 0 31 2 *' }, '/cron', /does not exist/],
    [{ cron: 'x'.repeat(5_000_000) }, '/cron', /at most 500/],
    [{ timezone: 'Europe/Berln' }, '/timezone', /did you mean Europe\/Berlin/],
    [{ timezone: 'New York' }, '/timezone', /did you mean America\/New_York/],
    [{ timezone: null }, '/timezone', /IANA time zone/],
    [{ input: [] }, '/input', /JSON object/],
    [{ input: {} }, '/input/text', /required|missing/],
    [{ input: { text: 'x', count: 'many' } }, '/input/count', /^\/input\/count must be an integer/],
    [{ options: { maxAgentSteps: 0 } }, '/options/maxAgentSteps', /integer from 1 to 500/],
    [{ options: { execMode: 'async' } }, '/options/execMode', /Allowed fields: enforceInputSchema, max/],
    [{ options: { model: 'openai/gpt-5' } }, '/options/model', /code agent/],
    [{ options: { maxTokens: 5 } }, '/options/maxTokens', /^The agent echo is a code agent; it does not/],
    [{ options: [] }, '/options', /JSON object/],
    [{ version: 'latest' }, '/version', /UUID/],
    [{ version: '01a2003a-d1f2-7169-a695-5ea4428d9251' }, '/version', /of this agent/],
    [{ tenantId: '' }, '/tenantId', /1 to 128/],
    [{ enabled: 'no' }, '/enabled', /true or false/],
    [{ overlap: 'queue' }, '/overlap', /"skip" or "allow"/],
    [{ catchUpSeconds: 700_000 }, '/catchUpSeconds', /from 0 to 604800/],
    [{ timeZone: 'UTC' }, '/timeZone', /Allowed fields: cron, timezone/],
  ])('reject the body %.100j', async (body, pointer, message) => {
    const { status, json } = await put('wrong', body)
    expect([status, json.code, json.errors?.[0].path]).toEqual([422, 'InputSchemaMismatch', pointer])
    expect(json.errors[0].message).toMatch(message)
    expect((await own.call('GET', pathOf('wrong'))).status).toBe(404)
  })

  it('reject names that do not fit, and inputs that are too large', async () => {
    for (const name of ['x'.repeat(65), '%20', 'a%2Fb', '%F0%9F%98%80']) {
      const { status, json } = await put(name)
      expect([status, json.code], name).toEqual([400, 'BadRequest'])
    }
    const { status, json } = await put('large', { input: { text: 'x'.repeat(200_000) } })
    expect([status, json.detail]).toEqual([413, '/input exceeds the limit of 200000 bytes of JSON.'])
  })

  it('adapt their input like runs, and may be anything while they are paused', async () => {
    expect((await put('adapted', { input: { Text: 'x', count: '5' } })).json.input).toEqual({
      Text: 'x',
      count: '5',
    })
    const paused = await put('paused', { input: { number: 1 }, enabled: false })
    expect(paused.status).toBe(201)
    expect((await put('paused', { input: { number: 1 } })).status).toBe(422)
  })

  it('run now, once for an idempotency key, with the options of the schedule', async () => {
    await put('now', { tenantId: 'acme', enabled: false })
    const run = (key: string) =>
      own.call('POST', `${pathOf('now')}/run`, { headers: { 'Idempotency-Key': key } })
    const [response, repeated, other] = [await run('1'), await run('1'), await run('2')]
    expect(response.status).toBe(202)
    expect(response.headers.get('location')).toBe(`/v1/agent_executions/${response.json.id}`)
    expect(response.json).toMatchObject({
      source: 'SCHEDULE',
      scheduleName: 'now',
      scheduledFor: expect.stringMatching(/Z$/),
      tenantId: 'acme',
      input: { text: 'Morning' },
    })
    expect(Math.abs(Date.parse(response.json.scheduledFor) - Date.now())).toBeLessThan(60_000)
    expect([repeated.json.id, other.json.id === response.json.id]).toEqual([response.json.id, false])
    const { json } = await own.call('GET', `/v1/agent_executions/${response.json.id}`, {
      headers: { Prefer: 'wait=20' },
    })
    expect(json).toMatchObject({ status: 'SUCCESS', output: { text: 'Morning' } })
    expect((await get('now')).firings).toEqual([])
    expect((await own.call('POST', `${pathOf('none')}/run`)).json.code).toBe('ScheduleNotFound')
  })

  it('keep all of one of two concurrent bodies, with its time', async () => {
    const bodies = Array.from({ length: 10 }, (_, hour) => ({
      cron: `0 ${hour} * * *`,
      timezone: 'UTC',
      input: { text: String(hour) },
    }))
    const responses = await Promise.all(bodies.map((body) => put('raced', body)))
    expect(responses.map(({ status }) => status).filter((status) => status === 201)).toHaveLength(1)
    expect(responses.every(({ status }) => status < 300)).toBe(true)
    const { cron, input, nextRunAt } = await get('raced')
    const hour = Number(input.text)
    expect([cron, new Date(nextRunAt).getUTCHours()]).toEqual([`0 ${hour} * * *`, hour])
  })

  it('do not exist for other organizations, agents and tokens', async () => {
    await put('hidden')
    const other = await newOrganization()
    const limited = await own.withLimits({ agents: ['counted'], scopes: ['read', 'manage'] })
    const paths = [pathOf('hidden'), '/v1/agents/echo/schedules']
    for (const call of [other.call, limited])
      for (const path of paths)
        expect(comparable(await call('GET', path))).toEqual(
          comparable(await call('GET', path.replace('echo', 'none'))),
        )
    expect((await put('hidden', {}, limited)).json.code).toBe('AgentNotFound')
    const bound = await own.withLimits({ tenantId: 'acme', scopes: ['read', 'manage'] })
    expect((await put('hidden', {}, bound)).json.code).toBe('Forbidden')
  })

  it('are refused for an agent that is archived, but can be paused', async () => {
    const { organizationId } = await own.publish('counted')
    expect(organizationId).toBe(own.id)
    const path = '/v1/agents/counted/schedules/hourly'
    const body = { cron: '@hourly', input: { text: 'x' } }
    await own.call('PUT', path, { body: { ...body, enabled: false } })
    await own.call('POST', '/v1/agents/counted/archive')
    const { status, json } = await own.call('PUT', path, { body })
    expect([status, json.code]).toEqual([410, 'AgentArchived'])
    expect((await own.call('PUT', path, { body: { ...body, cron: '@daily', enabled: false } })).status).toBe(
      200,
    )
    await own.call('POST', '/v1/agents/counted/restore')
  })
})
