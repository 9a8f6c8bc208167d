import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { createToken } from '../../support/engine/access.ts'
import { newOrganization, sharedTable, type TestOrganization } from '../../support/engine/organization.ts'
import { waitUntil } from '../../support/processes/wait-until.ts'
import type { ApiResponse } from '../../support/service/client.ts'

let own: TestOrganization
beforeAll(async () => {
  own = await newOrganization()
  await own.publish('echo')
})

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

  it.each([
    [
      'schedule.put',
      'PUT',
      '/v1/agents/echo/schedules/x',
      { cron: '@daily', isNew: true },
      { cron: '@daily' },
    ],
    ['approval.decide', 'POST', '/v1/agent_executions/x/approvals/y', { isEdited: true }, {}],
    ['version.promote', 'POST', '/v1/agents/echo/versions/x/promote', { currentVersionId: 'y' }, {}],
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
      const results = (await entriesOf(`?target=${name}`)).map(({ result }: { result: string }) => result)
      return `${status} ${results}`
    }
    const haveEnded = async () =>
      (await Promise.all(names.map(stateOf))).every((state) => ['404 ', '200 SUCCEEDED'].includes(state))
    await waitUntil(haveEnded, { what: 'a result for each change', limitMs: 10_000 })
  })
})
