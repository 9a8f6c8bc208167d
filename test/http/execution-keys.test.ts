import { describe, expect, it } from 'vitest'
import { type ApiClient, getExecutionId, idsOf } from '../support/service/client.ts'
import { organizationWith } from '../support/service/organization-with.ts'

const query = (key: string, rest = '') => `/v1/agent_executions?key=${encodeURIComponent(key)}${rest}`

const [org, other] = [await organizationWith('keyed'), await organizationWith('keyed')]

describe('a list of executions by key', () => {
  const call = (path: string, client = org.call) => client('GET', path)
  const find = async (key: string, rest?: string, client?: ApiClient) =>
    idsOf((await call(query(key, rest), client)).json)
  const run = async (orderId: string, parameters = '') =>
    getExecutionId(await org.run('keyed', { orderId }, parameters))

  it('has those with the value or the prefix, newest first', async () => {
    const first = await run('O-1300')
    const longer = await run('O-13000')
    const second = await run('O-1300')
    const third = await run('O-1310')
    await run('P-1300')
    expect(await find('orderId:O-1300')).toEqual([second, first])
    expect(await find('orderId:O-13*')).toEqual([third, second, longer, first])
    expect(await find('refundId:R-O-13*', '&status=SUCCESS&fields=summary')).toHaveLength(4)
    expect(await find('refundId:O-1300')).toEqual([])
    expect(await find('orderid:O-1300')).toEqual([])
    expect(await find('orderId:o-1300')).toEqual([])
    const { keys } = (await call(query('orderId:O-1300', '&fields=summary'))).json[0]
    expect(keys).toEqual({ orderId: 'O-1300', refundId: 'R-O-1300' })
  })

  it('shows nobody what another organization, tenant or agent has', async () => {
    const acme = await run('T-1', 'tenantId=acme')
    const globex = await run('T-1', 'tenantId=globex')
    await other.run('keyed', { orderId: 'T-1' })
    expect(await find('orderId:T-1')).toEqual([globex, acme])
    expect(await find('orderId:T-*', '&tenantId=acme')).toEqual([acme])
    const ofTenant = await org.withLimits({ tenantId: 'globex' })
    for (const key of ['orderId:T-1', 'orderId:T*', 'orderId:*'])
      expect(await find(key, '', ofTenant)).toEqual([globex])
    expect((await call(query('orderId:T-1', '&tenantId=acme'), ofTenant)).status).toBe(403)
    const ofAgent = await org.withLimits({ agents: ['echo'] })
    for (const key of ['orderId:T-1', 'orderId:*']) expect(await find(key, '', ofAgent)).toEqual([])
    const ofKeyed = await call('/v1/agents/keyed/executions?key=orderId:T-1')
    expect(idsOf(ofKeyed.json)).toEqual([globex, acme])
  })

  it('has reruns and cached results, and nothing that was deleted', async () => {
    const id = await run('D-1', 'useCache=true')
    const cached = await run('D-1', 'useCache=true')
    const rerun = (await org.call('POST', `/v1/agent_executions/${id}/rerun`, { body: {} })).json.id
    expect(await find('orderId:D-1')).toEqual([rerun, cached, id])
    expect(await find('refundId:R-D-1')).toContain(cached)
    expect((await org.call('DELETE', `/v1/agent_executions/${id}`)).status).toBe(204)
    expect(await find('orderId:D-1')).toEqual([rerun, cached])
    expect(await find('orderId:D*')).toEqual([rerun, cached])
  })

  it('says what a key is', async () => {
    for (const key of ['orderId', 'orderId:', ':x', `orderId:${'x'.repeat(129)}`]) {
      const { status, json } = await call(query(key))
      expect([status, json.code]).toEqual([400, 'InvalidQueryParameter'])
      const message = expect.stringContaining('{name}:{value}')
      expect(json.errors[0]).toMatchObject({ path: 'key', message })
    }
  })
})
