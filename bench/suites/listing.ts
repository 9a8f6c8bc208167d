import { executionStore } from '../../lib/dynamodb/executions/execution-store.ts'
import { openTable } from '../../lib/dynamodb/table/table.ts'
import { DYNAMODB_ENDPOINT, TABLE_NAME } from '../../lib/environment.ts'
import { LOCAL_TABLE } from '../../local/emulators/provision.ts'
import { meterCapacity } from '../../test/support/proxy/observe.ts'
import { startProxy } from '../../test/support/proxy/start-proxy.ts'
import { MATCHING_TENANT } from '../../test/support/tables/listing-data.ts'
import { type Organization, startWithExecutions } from '../harness/organizations.ts'
import { generateLoad, interleave, median, timed, toRatio, toSpread } from '../harness/rounds.ts'
import type { Service } from '../harness/service.ts'
import { formatNumber, formatSpread, type SuiteContext, type SuiteResult } from '../report.ts'

const FULL = { rounds: 9, durationMs: 300, size: 100_000 }
const QUICK = { rounds: 3, durationMs: 150, size: 10_000 }
/** With which the size is compared. */
const SMALL = 1_000
/** The default page size. */
const PAGE = 50
/** One execution in a thousand matches a filter, and enough for a page in a part of the time. */
const matchesOf = (size: number): number => Math.max(size / 1_000, 2 * PAGE)
/** As shares of the time in which the executions were created. */
const RANGE = { from: 0.2, to: 0.9 }

type Filter = { ofAgent?: true; status?: 'ERROR' | 'IN_PROGRESS'; tenantId?: string; inRange?: true }
type Page = Filter & { name: string }

const FILTERS: Page[] = [
  { name: 'status=ERROR', status: 'ERROR' },
  { name: 'status=IN_PROGRESS', status: 'IN_PROGRESS' },
  { name: 'tenant', tenantId: MATCHING_TENANT },
  { name: 'agent, status=ERROR', ofAgent: true, status: 'ERROR' },
  { name: 'agent, tenant', ofAgent: true, tenantId: MATCHING_TENANT },
]
const ALL: Page[] = [{ name: 'all' }, { name: 'agent', ofAgent: true }]
const PAGES = [
  ...ALL,
  ...FILTERS,
  ...FILTERS.map((page): Page => ({ ...page, name: `${page.name}, from and to`, inRange: true })),
]

/** The first page of lists in which one of a thousand executions is shown, compared with a small organization's. */
export async function listing({ workspace, quick, log }: SuiteContext): Promise<SuiteResult> {
  const { rounds, durationMs, size } = quick ? QUICK : FULL
  const startedAt = performance.now()
  const { service, organizations } = await startWithExecutions(workspace, [SMALL, size], matchesOf)
  log(`stored ${size} executions in ${formatNumber((performance.now() - startedAt) / 1000)} s`)
  const [small, large] = organizations as [Organization, Organization]

  log('read units')
  const meter = meterCapacity()
  const proxy = await startProxy(service.dynamodbEndpoint, meter.behavior)
  workspace.onCleanUp(proxy.stop)
  const metered = executionStore(openTable({ [TABLE_NAME]: LOCAL_TABLE, [DYNAMODB_ENDPOINT]: proxy.url }))
  const unitsOf = async (page: Page, organization: Organization) => {
    const { items } = await metered.list(toParams(page, organization))
    assertFull(page, items.length)
    return meter.take().readUnits
  }
  const units: number[] = []
  for (const page of PAGES) units.push((await unitsOf(page, large)) / (await unitsOf(page, small)))

  log(`warm-up, ${rounds} rounds`)
  const contenders = PAGES.flatMap((page) =>
    organizations.map((organization) => {
      const operation = timed(() => readPage(service, page, organization))
      const measure = () => generateLoad({ concurrency: 1, durationMs, operation })
      return { name: `${page.name} ${organization.size}`, measure }
    }),
  )
  for (const { measure } of contenders) await measure()
  const loads = await interleave(contenders, rounds)
  const p50s = (page: Page, { size }: Organization) =>
    loads[`${page.name} ${size}`]?.map(({ p50 }) => p50) ?? []
  const latencies = PAGES.map((page) => toRatio(p50s(page, large), p50s(page, small)))
  return {
    figures: {
      listUnits: toSpread([Math.max(...units)]),
      listLatency: latencies.reduce((a, b) => (b.median > a.median ? b : a)),
    },
    details: {
      title: `The first ${PAGE} of ${size} executions in a list, compared with those of ${SMALL}`,
      rows: PAGES.map((page, index) => ({
        page: page.name,
        'read units': formatNumber(units[index] ?? 0),
        p50: formatSpread(latencies[index] ?? toSpread([0])),
        'p50 ms': formatNumber(median(p50s(page, large))),
      })),
    },
  }
}

function toParams(page: Page, organization: Organization) {
  const { id: organizationId, agentId } = organization
  return {
    organizationId,
    agentId: page.ofAgent ? agentId : null,
    status: page.status ?? null,
    tenantId: page.tenantId ?? null,
    ...(page.inRange && rangeOf(organization)),
    limit: PAGE,
    after: null,
  }
}

function rangeOf({ firstAt, lastAt }: Organization): { from: number; to: number } {
  const at = (share: number) => Math.round(firstAt + (lastAt - firstAt) * share)
  return { from: at(RANGE.from), to: at(RANGE.to) }
}

async function readPage(service: Service, page: Page, organization: Organization): Promise<void> {
  const { ofAgent, status, tenantId, inRange } = page
  const { agentId, token } = organization
  const query = new URLSearchParams({ ...(status && { status }), ...(tenantId && { tenantId }) })
  if (inRange) {
    for (const [name, time] of Object.entries(rangeOf(organization)))
      query.set(name, new Date(time).toISOString())
  }
  const path = ofAgent ? `/v1/agents/${agentId}/executions` : '/v1/agent_executions'
  const { body } = await service.request('GET', `${path}?${query}`, { status: 200, token })
  assertFull(page, (JSON.parse(body) as unknown[]).length)
}

function assertFull({ name }: Page, length: number): void {
  if (length !== PAGE) throw new Error(`"${name}" returned ${length} executions, expected ${PAGE}.`)
}
