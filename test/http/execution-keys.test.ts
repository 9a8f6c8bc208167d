import { beforeAll, describe, expect, it } from 'vitest'
import { newOrganization, type TestOrganization } from '../support/engine/organization.ts'
import { type ApiResponse, getExecutionId } from '../support/service/client.ts'

const idsOf = ({ json }: ApiResponse) => json.map(({ id }: { id: string }) => id)
const query = (key: string, rest = '') => `/v1/agent_executions?key=${encodeURIComponent(key)}${rest}`

describe('a list of executions by key', () => {
  let [org, other]: TestOrganization[] = []
  const call = (path: string) => (org as TestOrganization).call('GET', path)
  const find = async (key: string, rest?: string) => idsOf(await call(query(key, rest)))
  const run = async (orderId: unknown, parameters = '', more: object = {}) =>
    getExecutionId(await (org as TestOrganization).run('keyed', { orderId, ...more }, parameters))

  beforeAll(async () => {
    org = await newOrganization()
    other = await newOrganization()
    await org.publish('keyed')
    await other.publish('keyed')
  })

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
    expect((await call(query('orderId:O-1300', '&fields=summary'))).json[0].keys).toEqual({
      orderId: 'O-1300',
      refundId: 'R-O-1300',
    })
  })

  it('shows nobody what another organization, tenant or agent has', async () => {
    const acme = await run('T-1', 'tenantId=acme')
    const globex = await run('T-1', 'tenantId=globex')
    await other?.run('keyed', { orderId: 'T-1' })
    expect(await find('orderId:T-1')).toEqual([globex, acme])
    expect(await find('orderId:T-*', '&tenantId=acme')).toEqual([acme])
    const ofTenant = await org?.withLimits({ tenantId: 'globex' })
    for (const key of ['orderId:T-1', 'orderId:T*', 'orderId:*'])
      expect(idsOf((await ofTenant?.('GET', query(key))) as ApiResponse)).toEqual([globex])
    expect((await ofTenant?.('GET', query('orderId:T-1', '&tenantId=acme')))?.status).toBe(403)
    const ofAgent = await org?.withLimits({ agents: ['echo'] })
    for (const key of ['orderId:T-1', 'orderId:*'])
      expect((await ofAgent?.('GET', query(key)))?.json).toEqual([])
    expect(idsOf(await call('/v1/agents/keyed/executions?key=orderId:T-1'))).toEqual([globex, acme])
  })

  it('has reruns and cached results, and nothing that was deleted', async () => {
    const id = await run('D-1', 'useCache=true')
    const cached = await run('D-1', 'useCache=true')
    const rerun = (await org?.call('POST', `/v1/agent_executions/${id}/rerun`, { body: {} }))?.json.id
    expect(await find('orderId:D-1')).toEqual([rerun, cached, id])
    expect(await find('refundId:R-D-1')).toContain(cached)
    expect((await org?.call('DELETE', `/v1/agent_executions/${id}`))?.status).toBe(204)
    expect(await find('orderId:D-1')).toEqual([rerun, cached])
    expect(await find('orderId:D*')).toEqual([rerun, cached])
  })

  it('says what a key is', async () => {
    for (const key of ['orderId', 'orderId:', ':x', `orderId:${'x'.repeat(129)}`]) {
      const { status, json } = await call(query(key))
      expect([status, json.code]).toEqual([400, 'InvalidQueryParameter'])
      expect(json.errors[0]).toMatchObject({
        path: 'key',
        message: expect.stringContaining('{name}:{value}'),
      })
    }
  })
})
