import type { LimitsRecord } from '../../lib/contract/records/limits.ts'
import type { UsageRowRecord as UsageRow } from '../../lib/contract/records/usage.ts'
import { MAX_TENANT_ID } from '../../lib/core/access.ts'
import type { UsageLimits } from '../../lib/core/usage-limits.ts'
import { useList } from '../api/use-list.ts'
import { useResource } from '../api/use-resource.ts'
import { Views } from '../components/filter-bar.tsx'
import { formatCost, formatCount } from '../components/format.ts'
import { NeedsScope, Page } from '../components/page.tsx'
import type { Period } from '../components/range.ts'
import { TextLink, VisibleText } from '../components/visible-text.tsx'
import { listPage } from '../list-page.tsx'
import { toHref, toPath } from '../state/location.ts'
import { useMe, useScope } from '../state/session.ts'
import {
  formatStart,
  PERIOD_VIEW,
  parsePeriod,
  startOfPeriod,
  toRuns,
  toUsageQuery,
} from '../usage/periods.ts'
import { addUp, addUpBy, type Group } from '../usage/totals.ts'
import { UsageFigures } from '../usage/usage-figures.tsx'
import { INCOMPLETE_NOTE, loadUsage } from '../usage/use-usage.ts'
import { findLimits, listLimits } from './limits.ts'
import { LeftOf, LimitsCard } from './limits-card.tsx'

/** `key`: the tenant's ID; null for runs without a tenant. */
export type TenantRow = Group<string | null> & { limits: UsageLimits | null }

/** Every tenant that has usage or limits: the highest cost first. */
export function toTenantRows(usage: UsageRow[], limits: LimitsRecord[]): TenantRow[] {
  const limitsOf = new Map(limits.map((each) => [each.tenantId ?? '', each]))
  const used = addUpBy(usage, ({ tenantId }) => tenantId ?? null)
  const known = new Set(used.map(({ key }) => key))
  const unused = [...limitsOf.keys()].filter((key) => !known.has(key)).map((key) => ({ key, ...addUp([]) }))
  return [...used, ...unused].map((group) => ({ ...group, limits: limitsOf.get(group.key ?? '') ?? null }))
}

/** Those whose ID contains a text, in any case. Runs without a tenant have none. */
export function searchTenants<Row extends Pick<TenantRow, 'key'>>(rows: Row[], search: string): Row[] {
  const text = search.trim().toLowerCase()
  return text === '' ? rows : rows.filter(({ key }) => key?.toLowerCase().includes(text))
}

/** `limits`: undefined if the token may not read them. */
type Row = Omit<TenantRow, 'limits'> & { limits?: TenantRow['limits']; period: Period }

/** Usage and limits. The token may see no limits. @throws ApiError */
async function loadTenants(period: Period, signal: AbortSignal) {
  const now = Date.now()
  const [usage, limits] = await Promise.all([
    loadUsage(toUsageQuery(period, now, { groupBy: 'tenant' }), signal),
    listLimits(signal),
  ])
  const note = `Limits, or runs that ended since ${formatStart(period, now)}`
  const items = toTenantRows(usage.items, limits ?? []).map(
    ({ limits: own, ...row }): Row => ({ ...row, period, ...(limits && { limits: own }) }),
  )
  return { items, next: null, note: usage.isComplete ? note : `${note}. ${INCOMPLETE_NOTE}` }
}

const runsOf = ({ key: tenantId, period }: Row, status?: 'ERROR') =>
  toRuns({ tenantId, status, from: startOfPeriod(period, Date.now()) })

/** What can still be used of the limits of a tenant. */
const useLeft = ({ key, limits }: Row) =>
  useResource('left', async (signal) => (key !== null && limits ? await findLimits(key, signal) : null))

type Left = ReturnType<typeof useLeft>

const Tenants = listPage({
  title: 'Tenants',
  path: '/tenants',
  scope: 'read',
  filters: {
    ...PERIOD_VIEW,
    search: { label: 'Search', type: 'search', placeholder: 'Tenant ID', maxLength: MAX_TENANT_ID },
  },
  useItems: ({ period }) =>
    useList<Row>('/v1/usage', {
      query: { period },
      keyOf: ({ key }) => JSON.stringify(key),
      load: (_, signal) => loadTenants(period as Period, signal),
    }),
  find: (rows, { search }) => searchTenants(rows, search),
  noun: 'tenant',
  caption: 'Tenants, highest cost first',
  // Each row with limits takes a request.
  shown: 25,
  useRow: useLeft,
  columns: (rows) => ({
    Tenant: ({ key: tenantId, period }) =>
      tenantId === null ? (
        <span class="muted">No tenant</span>
      ) : (
        <TextLink href={toHref(toPath('tenants', tenantId), { period })} text={tenantId} />
      ),
    Runs: {
      numeric: (row) =>
        row.key === null ? formatCount(row.runs) : <a href={runsOf(row)}>{formatCount(row.runs)}</a>,
    },
    Errors: {
      numeric: (row) =>
        row.key === null || row.failed === 0 ? (
          formatCount(row.failed)
        ) : (
          <a href={runsOf(row, 'ERROR')}>{formatCount(row.failed)}</a>
        ),
    },
    Cost: { numeric: ({ costUsd }) => formatCost(costUsd) },
    ...(rows.some(({ limits }) => limits !== undefined) && LIMIT_COLUMNS),
  }),
  empty: () =>
    'No run of a tenant ended in this time, and no tenant has limits. A run has a tenant if its request names one.',
  noMatch: ({ search }) => <NoTenant search={search.trim()} />,
})

type State = NonNullable<Left['data']>

const leftColumn = (
  limitOf: (limits: State['limits']) => number | null,
  leftOf: (left: State['left']) => number | null,
  format: (value: number) => string,
) => ({
  numeric({ limits: listed }: Row, { data, isLoading }: Left) {
    const limits = data?.limits ?? listed
    return (
      <LeftOf
        {...{ limit: limits ? limitOf(limits) : null, left: data && leftOf(data.left), format, isLoading }}
      />
    )
  },
})

const LIMIT_COLUMNS = {
  'Left today': leftColumn(
    ({ maxCostUsd }) => maxCostUsd.day,
    ({ costUsd }) => costUsd.day,
    formatCost,
  ),
  'Left this month': leftColumn(
    ({ maxCostUsd }) => maxCostUsd.month,
    ({ costUsd }) => costUsd.month,
    formatCost,
  ),
  'Open runs left': leftColumn(
    ({ maxOpenExecutions }) => maxOpenExecutions,
    ({ openExecutions }) => openExecutions,
    formatCount,
  ),
  'Runs per minute': {
    numeric({ limits }: Row, { data }: Left) {
      const { maxRunsPerMinute = null } = data?.limits ?? limits ?? {}
      return maxRunsPerMinute !== null && formatCount(maxRunsPerMinute)
    },
  },
}

function NoTenant({ search }: { search: string }) {
  const mayManage = useScope('manage')
  return (
    <>
      No tenant with usage or limits matches this search.{' '}
      {mayManage && (
        <a href={toHref(toPath('tenants', search))}>
          Set limits of “<VisibleText text={search} />”
        </a>
      )}
    </>
  )
}

/** All tenants: what they used, their limits, and what is left. A token of a tenant sees the page of this one. */
export function TenantsPage({ query }: { query: URLSearchParams }) {
  const boundTenant = useMe()?.tenantId ?? null
  return boundTenant === null ? (
    <Tenants query={query} />
  ) : (
    <TenantPage tenantId={boundTenant} query={query} />
  )
}

/** One tenant: its limits, and what it used. */
export function TenantPage({ tenantId, query }: { tenantId: string; query: URLSearchParams }) {
  const period = parsePeriod(query)
  const isBound = useMe()?.tenantId != null
  return (
    <Page
      title={tenantId}
      parent={isBound ? 'Tenant' : <a href="#/tenants">Tenants</a>}
      actions={<Views filters={PERIOD_VIEW} values={{ period }} />}
    >
      <div class="stack">
        <LimitsCard tenantId={tenantId}>
          <NeedsScope scope="read">
            <section class="stack" aria-label="Usage">
              <UsageFigures key={period} period={period} tenantId={tenantId} />
            </section>
          </NeedsScope>
        </LimitsCard>
      </div>
    </Page>
  )
}
