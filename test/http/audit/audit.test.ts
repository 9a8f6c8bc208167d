import { beforeAll, describe, expect, it } from 'vitest'
import { newOrganization, type TestOrganization } from '../../support/engine/organization.ts'
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
})
