import './overview.css'
import { NeedsScope, Page } from '../components/page.tsx'
import { PeriodChoice } from '../usage/period-choice.tsx'
import { parsePeriod } from '../usage/periods.ts'
import { UsageFigures } from '../usage/usage-figures.tsx'
import { OpenRuns } from './open-runs.tsx'

/** What happens now, and what ran in a period that ends now. The period is in the URL. */
export function OverviewPage({ query }: { query: URLSearchParams }) {
  const period = parsePeriod(query)
  return (
    <Page title="Overview" actions={<PeriodChoice period={period} path="/" />}>
      <NeedsScope scope="read">
        <div class="stack">
          <OpenRuns>
            <section class="stack" aria-label="Usage">
              <UsageFigures key={period} period={period} />
            </section>
          </OpenRuns>
        </div>
      </NeedsScope>
    </Page>
  )
}
