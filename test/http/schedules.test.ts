import { describe, expect, it } from 'vitest'
import { newOrganization } from '../support/engine/organization.ts'
import { waitForExecution } from '../support/service/client.ts'

const own = await newOrganization()
const { agentId } = await own.publish('echo')

const pathOf = (name: string) => `/v1/agents/echo/schedules/${name}`
const BODY = { cron: '30 9 * * 1-5', timezone: 'Europe/Berlin', input: { text: 'Morning' } }
const put = (name: string, body: object = {}) => own.call('PUT', pathOf(name), { body: { ...BODY, ...body } })
const get = async (name: string) => (await own.call('GET', pathOf(name))).json

describe('schedules', () => {
  it('are created, read, replaced, listed and deleted', async () => {
    const created = await put('morning')
    expect([created.status, created.headers.get('location')]).toEqual([201, pathOf('morning')])
    const record = created.json
    const { createdAt, nextRunAt } = record
    expect(record).toEqual({
      ...{ ...BODY, name: 'morning', documentId: agentId, tenantId: null, options: {}, version: null },
      ...{ enabled: true, overlap: 'skip', catchUpSeconds: 3600, declared: false, firings: [] },
      tokenId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: createdAt,
      nextRunAt: expect.stringMatching(/T0[78]:30:00.000Z$/),
      nextRuns: [nextRunAt, ...Array(4).fill(expect.any(String))],
    })
    expect(await get('morning')).toEqual(record)

    const repeated = await put('morning')
    expect([repeated.status, repeated.json]).toEqual([200, record])
    const changes = {
      ...{ cron: '@daily', timezone: 'UTC', tenantId: 'acme', overlap: 'allow', catchUpSeconds: 0 },
      options: { maxAgentSteps: 5, useCache: true },
    }
    const { json: changed } = await put('morning', changes)
    expect(changed).toMatchObject({ ...changes, createdAt })
    expect(changed.nextRunAt).toMatch(/T00:00:00.000Z$/)
    const { json: paused } = await put('morning', { ...changes, enabled: false })
    expect(paused).toMatchObject({ enabled: false, nextRunAt: null, nextRuns: [] })

    expect((await own.call('GET', '/v1/agents/echo/schedules')).json).toEqual([paused])
    expect((await own.call('DELETE', pathOf('morning'))).status).toBe(204)
    for (const method of ['GET', 'DELETE'])
      expect((await own.call(method, pathOf('morning'))).json.code).toBe('ScheduleNotFound')
  })

  it.each<[object, string, RegExp]>([
    [{ cron: '61 * * * *' }, '/cron', /minute "61" is invalid/],
    [{ cron: '0 0 31 2 *' }, '/cron', /does not exist/],
    [{ timezone: 'Europe/Berln' }, '/timezone', /did you mean Europe\/Berlin/],
    [{ input: {} }, '/input/text', /required|missing/],
    [{ input: { text: 'x', count: 'many' } }, '/input/count', /^\/input\/count must be an integer/],
    [{ options: { maxAgentSteps: 0 } }, '/options/maxAgentSteps', /integer from 1 to 500/],
    [{ options: { execMode: 'async' } }, '/options/execMode', /Allowed fields: enforceInputSchema, max/],
    [{ options: { model: 'openai/gpt-5' } }, '/options/model', /code agent/],
    [{ options: { maxTokens: 5 } }, '/options/maxTokens', /^The agent echo is a code agent; it does not/],
    [{ version: '01a2003a-d1f2-7169-a695-5ea4428d9251' }, '/version', /of this agent/],
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

  it('run now, with the options of the schedule', async () => {
    await put('now', { tenantId: 'acme', enabled: false })
    const response = await own.call('POST', `${pathOf('now')}/run`)
    expect(response.status).toBe(202)
    expect(response.headers.get('location')).toBe(`/v1/agent_executions/${response.json.id}`)
    const { id, scheduledFor } = response.json
    expect(response.json).toMatchObject({
      ...{ source: 'SCHEDULE', scheduleName: 'now', tenantId: 'acme', input: { text: 'Morning' } },
      scheduledFor: expect.stringMatching(/Z$/),
    })
    expect(Math.abs(Date.parse(scheduledFor) - Date.now())).toBeLessThan(60_000)
    const record = await waitForExecution(own.call, id)
    expect(record).toMatchObject({ status: 'SUCCESS', output: { text: 'Morning' } })
    expect((await get('now')).firings).toEqual([])
    expect((await own.call('POST', `${pathOf('none')}/run`)).json.code).toBe('ScheduleNotFound')
  })
})
