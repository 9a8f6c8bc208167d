import './overview.css'
import { formatCount } from '../components/format.ts'
import { ErrorBox, Page, Spinner } from '../components/page.tsx'
import { CostChart, DurationChart, Failures, RunChart, TokenChart } from './charts.tsx'
import { OpenRuns } from './open-runs.tsx'
import { sumUp } from './statistics.ts'
import { AgentTable, Totals } from './totals.tsx'
import { MAX_RUNS, useRecentRuns } from './use-recent-runs.ts'

/** What happens now, and how the recent runs went. */
export function OverviewPage() {
  const { runs, isLoading, error, reload } = useRecentRuns()
  const totals = sumUp(runs)
  const hasFigures = runs.length > 0 || !isLoading
  return (
    <Page
      title="Overview"
      actions={
        <button type="button" onClick={reload} disabled={isLoading}>
          Refresh
        </button>
      }
    >
      <div class="stack">
        <OpenRuns>
          <section class="stack" aria-labelledby="recent-title">
            <div>
              <h2 id="recent-title">Recent runs</h2>
              <p class="muted">
                These figures are of the most recent {formatCount(MAX_RUNS)} runs that this token may see, not
                of all runs.
              </p>
              <p class="muted">{describe(runs.length, isLoading)}</p>
            </div>
            {error && <ErrorBox error={error} onRetry={reload} />}
            {hasFigures ? (
              <>
                <Totals totals={totals} runs={runs} />
                <div class="charts">
                  <RunChart runs={runs} />
                  <Failures runs={runs} />
                  <DurationChart runs={runs} />
                  <TokenChart runs={runs} />
                  <CostChart runs={runs} />
                </div>
                <AgentTable runs={runs} />
              </>
            ) : (
              <Spinner label="Loading the runs…" />
            )}
          </section>
        </OpenRuns>
      </div>
    </Page>
  )
}

/** One line, also on a phone: what is below does not move when loading ends. */
const describe = (count: number, isLoading: boolean): string =>
  isLoading ? `Loading: ${formatCount(count)} so far…` : `${formatCount(count)} runs are included.`
