import './tenants.css'
import { useMemo, useState } from 'preact/hooks'
import { MAX_TENANT_ID } from '../../lib/core/access.ts'
import { useResource } from '../api/use-resource.ts'
import { Table } from '../components/data.tsx'
import { SearchField } from '../components/field.tsx'
import { formatCost, formatCount, formatCountOf } from '../components/format.ts'
import { ErrorBox, NeedsScope, Page, Spinner } from '../components/page.tsx'
import type { Period } from '../components/range.ts'
import { VisibleText } from '../components/visible-text.tsx'
import { navigate, toHref, toPath } from '../state/location.ts'
import { useMe, useScope } from '../state/session.ts'
import { IncompleteNote } from '../usage/cost-by.tsx'
import { PeriodChoice } from '../usage/period-choice.tsx'
import { formatStart, parsePeriod, toUsageQuery } from '../usage/periods.ts'
import { loadUsage } from '../usage/use-usage.ts'
import { findLimits, listLimits } from './limits.ts'
import { LeftOf } from './limits-card.tsx'
import { TenantPage } from './tenant-page.tsx'
import { searchTenants, type TenantRow, toTenantRows } from './tenant-rows.ts'

export { TenantPage }

/** All tenants: what they used, their limits, and what is left. The period and the search are in the URL. */
export function TenantsPage({ query }: { query: URLSearchParams }) {
  const boundTenant = useMe()?.tenantId ?? null
  if (boundTenant !== null) return <TenantPage tenantId={boundTenant} query={query} />
  const period = parsePeriod(query)
  const search = query.get('search') ?? ''
  return (
    <Page title="Tenants" actions={<PeriodChoice period={period} path="/tenants" query={{ search }} />}>
      <NeedsScope scope="read">
        <search class="tenants-search">
          <SearchField
            value={search}
            placeholder="Tenant ID"
            maxLength={MAX_TENANT_ID}
            onInput={(text) => navigate(toHref('/tenants', { period, search: text }), { replace: true })}
          />
        </search>
        <Tenants key={period} period={period} search={search} />
      </NeedsScope>
    </Page>
  )
}

/** Each row with limits takes a request. */
const SHOWN = 25

function Tenants({ period, search }: { period: Period; search: string }) {
  const mayManage = useScope('manage')
  const [shown, setShown] = useState(SHOWN)
  const { data, error, reload } = useResource('tenants', async (signal) => {
    const now = Date.now()
    const [usage, limits] = await Promise.all([
      loadUsage(toUsageQuery(period, now, { groupBy: 'tenant' }), signal),
      listLimits(signal),
    ])
    return { now, usage, limits }
  })
  const rows = useMemo(() => (data ? toTenantRows(data.usage.items, data.limits ?? []) : []), [data])
  if (!data) return error ? <ErrorBox error={error} onRetry={reload} /> : <Spinner label="Loading tenants…" />
  const found = searchTenants(rows, search)
  const hasLimits = data.limits !== null
  return (
    <div class="stack">
      <p class="muted note">
        {formatCountOf(rows.filter(({ key }) => key !== null).length, 'tenant')} with limits, or with runs
        that ended since {formatStart(period, data.now)}.
      </p>
      {!data.usage.isComplete && <IncompleteNote />}
      {found.length > 0 && (
        <Table
          caption="Tenants, highest cost first"
          columns={[
            'Tenant',
            ...['Runs', 'Errors', 'Cost', ...(hasLimits ? LIMIT_COLUMNS : [])].map((label) => ({
              label,
              isNumeric: true,
            })),
          ]}
        >
          {found.slice(0, shown).map((row) => (
            <Row key={JSON.stringify(row.key)} row={row} period={period} hasLimits={hasLimits} />
          ))}
        </Table>
      )}
      {found.length > shown && (
        <p>
          <button type="button" onClick={() => setShown(shown + SHOWN)}>
            Show {formatCount(Math.min(SHOWN, found.length - shown))} more
          </button>
        </p>
      )}
      {found.length === 0 && <NoTenants search={search.trim()} mayManage={mayManage} />}
    </div>
  )
}

const LIMIT_COLUMNS = ['Left today', 'Left this month', 'Open runs left', 'Runs per minute']

type RowProps = { row: TenantRow; period: Period; hasLimits: boolean }

function Row({ row, period, hasLimits }: RowProps) {
  const { key: tenantId, runs, failed, costUsd, limits } = row
  const runsOf = (status?: 'ERROR') => toHref('/runs', { tenantId, status, period })
  return (
    <tr class="tenant-row">
      <th scope="row">
        {tenantId === null ? (
          <span class="muted">No tenant</span>
        ) : (
          <a href={toHref(toPath('tenants', tenantId), { period })}>
            <VisibleText text={tenantId} />
          </a>
        )}
      </th>
      <td class="numeric">
        {tenantId === null ? formatCount(runs) : <a href={runsOf()}>{formatCount(runs)}</a>}
      </td>
      <td class="numeric">
        {tenantId === null || failed === 0 ? (
          formatCount(failed)
        ) : (
          <a href={runsOf('ERROR')}>{formatCount(failed)}</a>
        )}
      </td>
      <td class="numeric">{formatCost(costUsd)}</td>
      {hasLimits && <LimitCells tenantId={tenantId} limits={limits} />}
    </tr>
  )
}

function LimitCells({ tenantId, limits }: { tenantId: string | null } & Pick<TenantRow, 'limits'>) {
  const { data, isLoading } = useResource('left', async (signal) =>
    tenantId !== null && limits ? await findLimits(tenantId, signal) : null,
  )
  const {
    maxOpenExecutions = null,
    maxCostUsd = null,
    maxRunsPerMinute = null,
  } = data?.limits ?? limits ?? {}
  const cells = [
    { limit: maxCostUsd?.day ?? null, left: data?.left.costUsd.day, format: formatCost },
    { limit: maxCostUsd?.month ?? null, left: data?.left.costUsd.month, format: formatCost },
    { limit: maxOpenExecutions, left: data?.left.openExecutions, format: formatCount },
  ]
  return (
    <>
      {cells.map(({ limit, left, format }, index) => (
        <td key={index} class="numeric">
          <LeftOf {...{ limit, left, format, isLoading }} />
        </td>
      ))}
      <td class="numeric">{maxRunsPerMinute === null ? '–' : formatCount(maxRunsPerMinute)}</td>
    </>
  )
}

const NoTenants = ({ search, mayManage }: { search: string; mayManage: boolean }) => (
  <p class="empty">
    {search === '' ? (
      <>
        No run of a tenant ended in this time, and no tenant has limits. A run has a tenant if its request
        names one.
      </>
    ) : (
      <>
        No tenant with usage or limits matches this search.{' '}
        {mayManage && (
          <a href={toHref(toPath('tenants', search))}>
            Set limits of “<VisibleText text={search} />”
          </a>
        )}
      </>
    )}
  </p>
)
