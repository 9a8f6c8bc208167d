import type { LimitsRecord } from '../../lib/contract/records/limits.ts'
import type { UsageRowRecord as UsageRow } from '../../lib/contract/records/usage.ts'
import { MAX_TENANT_ID } from '../../lib/core/access.ts'
import type { UsageLimits } from '../../lib/core/usage-limits.ts'
import { useList } from '../api/use-list.ts'
import { Views } from '../components/filter-bar.tsx'
import { findTexts, formatCost, formatCount } from '../components/format.ts'
import { NeedsScope, Page } from '../components/page.tsx'
import { LimitBar, Spark } from '../components/small-charts.tsx'
import { TextLink, VisibleText } from '../components/visible-text.tsx'
import { listPage } from '../list-page.tsx'
import { toHref, toPath } from '../state/location.ts'
import { useMe, useScope } from '../state/session.ts'
import {
  describeSpan,
  PERIOD_VIEW,
  type Period,
  parsePeriod,
  spanOf,
  toRuns,
  toSpark,
  toUsageQuery,
} from '../usage/periods.ts'
import { addUp, addUpBy, type Group } from '../usage/totals.ts'
import { UsageFigures } from '../usage/usage-figures.tsx'
import { INCOMPLETE_NOTE, loadUsage } from '../usage/use-usage.ts'
import { listLimits, loadSpent, spentByTenant } from './limits.ts'
import { LimitsCard } from './limits-card.tsx'

/** `key`: the tenant's ID; null for runs without a tenant. */
export type TenantRow = Group<string | null> & { limits: UsageLimits | null; rows: UsageRow[] }

/** Every tenant that has usage or limits: the highest cost first. */
export function toTenantRows(usage: UsageRow[], limits: LimitsRecord[]): TenantRow[] {
  const limitsOf = new Map(limits.map((each) => [each.tenantId ?? '', each]))
  const rowsOf = Map.groupBy(usage, ({ tenantId }) => tenantId ?? null)
  const used = addUpBy(usage, ({ tenantId }) => tenantId ?? null)
  const unused = [...limitsOf.keys()].filter((key) => !rowsOf.has(key)).map((key) => ({ key, ...addUp([]) }))
  return [...used, ...unused].map((group) => ({
    ...{ ...group, limits: limitsOf.get(group.key ?? '') ?? null },
    rows: rowsOf.get(group.key) ?? [],
  }))
}

export const searchTenants = <Row extends Pick<TenantRow, 'key'>>(rows: Row[], search: string): Row[] =>
  findTexts(rows, ({ key }) => key ?? '', search)

type Row = TenantRow & { period: Period; now: number; spent: { day: number; month: number } | undefined }

/** Usage and limits. The token may see no limits. @throws ApiError */
async function loadTenants(period: Period, signal: AbortSignal) {
  const now = Date.now()
  const loading = listLimits(signal)
  const [usage, limits, spent] = await Promise.all([
    loadUsage(toUsageQuery(period, now, { groupBy: 'tenant' }), signal),
    loading,
    loading.then((limits) => loadSpent(limits ?? [], signal)),
  ])
  const note = `Limits, or runs that ended ${describeSpan(period, now)}`
  const spentOf = spentByTenant(spent, now)
  const items = toTenantRows(usage.items, limits ?? []).map(
    (row): Row => ({ ...row, period, now, spent: spentOf.get(row.key ?? '') }),
  )
  return { items, next: null, note: usage.isComplete ? note : `${note}. ${INCOMPLETE_NOTE}` }
}

/** A number of runs, which leads to them. */
function runsOf({ key: tenantId, period, now }: Row, count: number, status?: 'ERROR') {
  if (tenantId === null || count === 0) return formatCount(count)
  return <a href={toRuns({ tenantId, status, ...spanOf(period, now) })}>{formatCount(count)}</a>
}

const spentColumn = (period: 'day' | 'month') => ({
  text({ limits, spent }: Row) {
    const limit = limits?.maxCostUsd[period] ?? null
    return limit !== null && <LimitBar used={spent?.[period] ?? 0} limit={limit} format={formatCost} />
  },
})

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
  shown: 100,
  columns: (rows) => ({
    Tenant: ({ key: tenantId, period }) =>
      tenantId === null ? (
        <span class="muted">No tenant</span>
      ) : (
        <TextLink href={toHref(toPath('tenants', tenantId), { period })} text={tenantId} />
      ),
    'Over time': ({ period, now, rows }) => <Spark values={toSpark(period, now, rows)} />,
    Runs: { numeric: (row) => runsOf(row, row.runs) },
    Errors: { numeric: (row) => runsOf(row, row.failed, 'ERROR') },
    Cost: { numeric: ({ costUsd }) => formatCost(costUsd) },
    ...(rows.some(({ limits }) => limits) && LIMIT_COLUMNS),
  }),
  empty: () =>
    'No run of a tenant ended in this time, and no tenant has limits. A run has a tenant if its request names one.',
  noMatch: ({ search }) => <NoTenant search={search.trim()} />,
})

const LIMIT_COLUMNS = {
  'Spent today': spentColumn('day'),
  'Spent this month': spentColumn('month'),
  'Open runs at most': {
    numeric: ({ limits }: Row) => limits?.maxOpenExecutions != null && formatCount(limits.maxOpenExecutions),
  },
  'Runs per minute': {
    numeric: ({ limits }: Row) => limits?.maxRunsPerMinute != null && formatCount(limits.maxRunsPerMinute),
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
              <UsageFigures key={period} period={period} of={{ tenantId }} />
            </section>
          </NeedsScope>
        </LimitsCard>
      </div>
    </Page>
  )
}
