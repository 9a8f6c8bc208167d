import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { ExecutionFilter } from '../../../lib/core/ports/execution-reader.ts'
import { executionStore } from '../../../lib/dynamodb/executions/execution-store.ts'
import { openTable, type Table } from '../../../lib/dynamodb/table/table.ts'
import { system } from '../../../lib/system.ts'
import { LOCAL_TABLE } from '../../../local/emulators/provision.ts'
import { meterCapacity } from '../../support/proxy/observe.ts'
import { type HttpProxy, startProxy } from '../../support/proxy/start-proxy.ts'
import { type CreationTimes, MATCHING_TENANT, storeExecutions } from '../../support/tables/listing-data.ts'

const PAGE = 50
const MATCHES = 2 * PAGE

type Organization = { organizationId: string; agentId: string } & CreationTimes
type Filter = Partial<Pick<ExecutionFilter, 'status' | 'tenantId'>>

const FILTERS: [string, { ofAgent: boolean; filter: Filter }][] = [
  ['status=ERROR', { ofAgent: false, filter: { status: 'ERROR' } }],
  ['status=IN_PROGRESS', { ofAgent: false, filter: { status: 'IN_PROGRESS' } }],
  ['a tenant', { ofAgent: false, filter: { tenantId: MATCHING_TENANT } }],
  ['an agent and status=ERROR', { ofAgent: true, filter: { status: 'ERROR' } }],
  ['an agent and a tenant', { ofAgent: true, filter: { tenantId: MATCHING_TENANT } }],
]

describe('a page of 50 executions that match', () => {
  const meter = meterCapacity()
  let proxy: HttpProxy
  let table: Table
  let few: Organization
  let many: Organization
  beforeAll(async () => {
    proxy = await startProxy(inject('dynamodb'), meter.behavior)
    table = openTable({ TABLE_NAME: LOCAL_TABLE, DYNAMODB_ENDPOINT: proxy.url })
    few = await createOrganization(3 * MATCHES)
    many = await createOrganization(3_000)
  })
  afterAll(async () => {
    await proxy.stop()
  })

  async function createOrganization(size: number): Promise<Organization> {
    const organizationId = system.newId()
    const [agentId, other] = [system.newId(), system.newId()]
    const stored = { organizationId, agentIds: [agentId, other], size, matches: MATCHES }
    return { organizationId, agentId, ...(await storeExecutions(table, stored)) }
  }

  /** Of a page of a list; with `inRange`, of the older 60 % of its executions. */
  async function unitsOf(
    { organizationId, agentId, firstAt, lastAt }: Organization,
    { ofAgent, filter, inRange }: { ofAgent: boolean; filter: Filter; inRange: boolean },
  ): Promise<number> {
    meter.take()
    const range = inRange && { from: firstAt, to: firstAt + 0.6 * (lastAt - firstAt) }
    const scope = { organizationId, agentId: ofAgent ? agentId : null, status: null, tenantId: null }
    const page = { ...scope, ...filter, ...range, limit: PAGE, after: null }
    expect((await executionStore(table).list(page)).items).toHaveLength(PAGE)
    return meter.take().readUnits
  }

  it.each(FILTERS)('costs at most 1.5 times as much among 3,000 as among 300: %s', async (_, page) => {
    for (const inRange of [false, true]) {
      const fewUnits = await unitsOf(few, { ...page, inRange })
      expect(await unitsOf(many, { ...page, inRange })).toBeLessThanOrEqual(fewUnits * 1.5)
    }
  })

  it('costs half a unit per shard if there is nothing new', async () => {
    meter.take()
    const { items } = await executionStore(table).listSummaries({
      ...{ organizationId: many.organizationId, agentId: null, status: null, tenantId: null },
      ...{ from: Date.now() + 60_000, limit: PAGE, after: null },
    })
    expect(items).toEqual([])
    // What the console asks for again and again: test/nightly/browser/idle.test.ts.
    expect(meter.take().readUnits).toBeLessThanOrEqual(5)
  })

  it('costs about one unit per execution, and half a unit per shard', async () => {
    const units = await unitsOf(many, { ofAgent: false, filter: { status: 'ERROR' }, inRange: false })
    expect(units).toBeLessThanOrEqual(60)
  })
})
