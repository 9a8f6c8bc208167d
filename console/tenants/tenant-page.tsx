import { NeedsScope, Page } from '../components/page.tsx'
import { toPath } from '../state/location.ts'
import { useMe } from '../state/session.ts'
import { PeriodChoice } from '../usage/period-choice.tsx'
import { parsePeriod } from '../usage/periods.ts'
import { UsageFigures } from '../usage/usage-figures.tsx'
import { LimitsCard } from './limits-card.tsx'

/** One tenant: its limits, and what it used. */
export function TenantPage({ tenantId, query }: { tenantId: string; query: URLSearchParams }) {
  const period = parsePeriod(query)
  const isBound = useMe()?.tenantId != null
  return (
    <Page
      title={tenantId}
      parent={isBound ? 'Tenant' : <a href="#/tenants">Tenants</a>}
      actions={<PeriodChoice period={period} path={toPath('tenants', tenantId)} />}
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
