import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import type { TokenLimits } from '../../../lib/core/access.ts'
import { createToken } from '../../support/engine/access.ts'
import { newOrganization, sharedTable, type TestOrganization } from '../../support/engine/organization.ts'
import { waitUntil } from '../../support/processes/wait-until.ts'
import { type ApiResponse, getNextLink } from '../../support/service/client.ts'

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

  it('lists all changes newest first, page by page, with the same filters', async () => {
    const other = await newOrganization()
    const call = (path: string) => other.call('GET', path)
    for (let i = 0; i < 12; i++) {
      const body = { warnAt: (i + 1) / 100 }
      expect((await other.call('PUT', `/v1/tenants/t${i % 3}/limits`, { body })).status).toBe(200)
      expect((await other.call('DELETE', `/v1/tenants/t${i % 3}/limits`)).status).toBe(204)
    }
    const all = (await call('/v1/audit?limit=100')).json
    expect(all).toHaveLength(24)
    const ids = all.map(({ id }: { id: string }) => id)
    expect(ids).toEqual([...ids].sort().reverse())
    for (const query of ['', '&target=t1', '&action=limits.delete', '&target=t2&action=limits.put']) {
      const paged: unknown[] = []
      let path: string | undefined = `/v1/audit?limit=5${query}`
      while (path) {
        const response = await call(path)
        expect(response.status).toBe(200)
        expect(response.json.length).toBeLessThanOrEqual(5)
        paged.push(...response.json)
        path = getNextLink(response)
      }
      expect(paged).toEqual((await call(`/v1/audit?limit=100${query}`)).json)
    }
    expect((await call('/v1/audit?limit=100&target=t1&action=limits.put')).json).toHaveLength(4)
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

  it('selects changes by their time', async () => {
    const [entry] = await entriesOf('?limit=1')
    const at = Date.parse(entry.at)
    const iso = (ms: number) => encodeURIComponent(new Date(ms).toISOString())
    expect(await entriesOf(`?from=${iso(at)}&to=${iso(at + 1)}`)).toContainEqual(entry)
    expect(await entriesOf(`?from=${iso(at + 1)}`)).not.toContainEqual(entry)
    expect(await entriesOf(`?to=${iso(at)}`)).not.toContainEqual(entry)
    expect(await entriesOf(`?from=${iso(at)}&to=${iso(at - 1)}`)).toEqual([])
  })

  it('rejects other filters and cursors, and says what is allowed', async () => {
    for (const query of ['action=delete', 'from=yesterday', 'actor=', 'cursor=abc', 'limit=101', 'user=x']) {
      const { status, json } = await own.call('GET', `/v1/audit?${query}`)
      expect([status, json.code], query).toEqual([400, 'InvalidQueryParameter'])
    }
  })

  it('is only for tokens that may manage all agents and all tenants', async () => {
    const statusOf = async (limits: Partial<TokenLimits>) =>
      (await (await own.withLimits(limits))('GET', '/v1/audit')).status
    expect(await statusOf({ scopes: ['manage'] })).toBe(200)
    expect(await statusOf({ scopes: ['read', 'run', 'approve', 'review'] })).toBe(403)
    expect(await statusOf({ tenantId: 'acme' })).toBe(403)
    expect(await statusOf({ agents: ['echo'] })).toBe(403)
  })

  it('shows nothing of another organization', async () => {
    const [entry] = await entriesOf('?limit=1')
    const other = await newOrganization()
    for (const query of ['', `?target=${entry.target.id}`, `?actor=${entry.actor.id}`])
      expect((await other.call('GET', `/v1/audit${query}`)).json).toEqual([])
  })

  it('has no method that changes an entry', async () => {
    const [{ id }] = await entriesOf('?limit=1')
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      expect((await own.call(method, '/v1/audit')).status, method).toBe(405)
      expect((await own.call(method, `/v1/audit/${id}`)).status, method).toBe(404)
    }
  })

  it('does not believe X-Forwarded-For', async () => {
    const headers = { 'X-Forwarded-For': '198.51.100.1', 'User-Agent': 'u'.repeat(5_000) }
    await own.call('POST', '/v1/agents/missing/archive', { headers })
    const [entry] = await entriesOf('?limit=1')
    expect(entry).toMatchObject({ source: { ip: '127.0.0.1' }, result: 'FAILED', error: 'AgentNotFound' })
    expect(entry.source.userAgent).toHaveLength(200)
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
