import { useState } from 'preact/hooks'
import type { ExecutionSummaryRecord } from '../../lib/contract/records/execution.ts'
import { requestPage } from '../api/request.ts'
import { useResource } from '../api/use-resource.ts'
import { lazyPart } from '../app/lazy-page.tsx'
import { Views } from '../components/filter-bar.tsx'
import { NeedsScope, Page, Spinner } from '../components/page.tsx'
import { PERIOD_VIEW, type Period, parsePeriod } from '../usage/periods.ts'
import { UsageFigures } from '../usage/usage-figures.tsx'
import { Attention, OpenRuns } from './now.tsx'

export function OverviewPage({ query }: { query: URLSearchParams }) {
  const period = parsePeriod(query)
  return (
    <Page title="Overview" actions={<Views filters={PERIOD_VIEW} values={{ period }} />}>
      <NeedsScope scope="read">
        <Overview period={period} />
      </NeedsScope>
    </Page>
  )
}

function Overview({ period }: { period: Period }) {
  const [isEmpty, setIsEmpty] = useState(false)
  const isFirst = useFirstVisit(isEmpty)
  return (
    <div class="stack">
      {isFirst === false && <Attention />}
      <OpenRuns>
        {isFirst === null && <Spinner label="Loading runs…" />}
        {isFirst && <FirstVisit />}
        <section class="stack" aria-label="Usage" hidden={isFirst !== false}>
          <UsageFigures key={period} period={period} onLoad={({ runs }) => setIsEmpty(runs === 0)} />
        </section>
      </OpenRuns>
    </div>
  )
}

/**
 * Whether the organization has no run at all: usage is counted some time after a run, and forgets those of other
 * periods. Null until it is known. It becomes false with the first run.
 * @param isEmpty whether there is a reason to ask
 */
function useFirstVisit(isEmpty: boolean): boolean | null {
  const [hasRun, setHasRun] = useState(false)
  const isAsked = isEmpty && !hasRun
  async function check(signal: AbortSignal) {
    if (!isAsked) return false
    const query = { limit: 1, fields: 'summary' }
    const { items, next } = await requestPage<ExecutionSummaryRecord>('/v1/agent_executions', {
      query,
      signal,
    })
    // A page can be empty although others follow.
    const isFirst = items.length === 0 && next === null
    setHasRun(!isFirst)
    return isFirst
  }
  const { data, error } = useResource(`first visit ${isAsked}`, check, isAsked ? {} : undefined)
  return !isAsked || error ? false : data
}

const FirstVisit = lazyPart('the next step', () => import('./first-visit.tsx'), 'FirstVisit')
