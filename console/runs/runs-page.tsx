import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { formatCount, formatCountOf } from '../components/format.ts'
import { ErrorBox, Page, Spinner } from '../components/page.tsx'
import { historyKey, navigate, toHref } from '../state/location.ts'
import { type Filters, isFiltered, parseFilters, toPageQuery } from './filters.ts'
import { RunFilters } from './run-filters.tsx'
import { RunRows } from './run-rows.tsx'
import { type RunsView, useRuns } from './use-runs.ts'

/** Fresh runs appear by themselves only while the beginning of the list is visible: otherwise the list would move. */
const TOP_PIXELS = 40

/** All runs, newest first. The filters are in the URL. */
export function RunsPage({ query }: { query: URLSearchParams }) {
  const filters = parseFilters(query)
  const [isCustom, setIsCustom] = useState(Boolean(filters.from || filters.to))
  const [entry] = useState(historyKey)
  const view = useRuns(filters, entry)
  const { runs, fresh, showFresh } = view
  useScrollRestoration(entry, runs.length > 0)
  useEffect(() => {
    if (fresh.length > 0 && window.scrollY < TOP_PIXELS) showFresh()
  }, [fresh, showFresh])

  function changeFilters(next: Filters, isNextCustom: boolean) {
    setIsCustom(isNextCustom)
    // The back button leaves the list, however often its filters have changed.
    navigate(toHref('/runs', toPageQuery(next)), { replace: true })
  }

  return (
    <Page title="Runs">
      <RunFilters filters={filters} isCustom={isCustom} onChange={changeFilters} />
      <p class="runs-state muted">
        {runs.length > 0 && formatCountOf(runs.length, view.next ? 'newest run' : 'run')}
        {!view.isLive && ' · Updates are interrupted: the service does not respond. Trying again…'}
        {fresh.length > 0 && (
          <>
            {' · '}
            <button
              type="button"
              class="link"
              onClick={() => {
                showFresh()
                window.scrollTo(0, 0)
              }}
            >
              Show {formatCount(fresh.length)} new
            </button>
          </>
        )}
      </p>
      {runs.length > 0 && <RunRows runs={runs} isComplete={view.next === null} />}
      <ListEnd view={view} isFiltered={isFiltered(filters)} />
    </Page>
  )
}

/** Loads the next page when it becomes visible; with the button also without scrolling. */
function ListEnd({ view, isFiltered }: { view: RunsView; isFiltered: boolean }) {
  const { runs, next, isLoading, error, loadMore, reload } = view
  const end = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!end.current || !next || isLoading || error) return
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && loadMore(), {
      rootMargin: '2000px',
    })
    observer.observe(end.current)
    return () => observer.disconnect()
  }, [next, isLoading, error, loadMore, runs.length])

  if (error) return <ErrorBox error={error} onRetry={next && runs.length > 0 ? loadMore : reload} />
  if (isLoading && runs.length === 0) return <Spinner label="Loading runs…" />
  if (runs.length === 0) return <NoRuns isFiltered={isFiltered} />
  return (
    // A new element: the old one would have moved.
    <div key={runs.length} class="runs-end" ref={end}>
      {isLoading ? (
        <span class="muted" role="status">
          Loading more…
        </span>
      ) : next ? (
        <button type="button" onClick={loadMore}>
          Load more
        </button>
      ) : (
        <span class="muted">No more runs</span>
      )}
    </div>
  )
}

const NoRuns = ({ isFiltered }: { isFiltered: boolean }) => (
  <p class="empty">
    {isFiltered ? (
      'No run matches these filters.'
    ) : (
      <>
        Nothing has run yet. Choose an <a href="#/agents">agent</a> and try it.
      </>
    )}
  </p>
)

const positions = new Map<string, number>()

/** Going back to the list shows the part that it showed when it was left. */
function useScrollRestoration(entry: string | undefined, isReady: boolean): void {
  useLayoutEffect(() => {
    if (entry === undefined || !isReady) return
    const position = positions.get(entry)
    if (position !== undefined) window.scrollTo(0, position)
    const remember = () => positions.set(entry, window.scrollY)
    window.addEventListener('scroll', remember, { passive: true })
    return () => window.removeEventListener('scroll', remember)
  }, [entry, isReady])
}
