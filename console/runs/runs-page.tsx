import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { useResource } from '../api/use-resource.ts'
import { FilterBar } from '../components/filter-bar.tsx'
import { hrefOf, isFiltered } from '../components/filters.ts'
import { formatCount, formatCountOf, formatMinute } from '../components/format.ts'
import { ErrorBox, Page, Spinner } from '../components/page.tsx'
import { historyKey, navigate } from '../state/location.ts'
import { useScope } from '../state/session.ts'
import { changeFilters, FILTERS, type Filters, isSearch, parseFilters } from './filters.ts'
import { RunRows } from './run-rows.tsx'
import { type Run, type RunsView, type Searched, useRuns } from './use-runs.ts'

/** Fresh runs appear by themselves only while the beginning of the list is visible: otherwise the list would move. */
const TOP_PIXELS = 40

/** Runs that are retried at once. */
const MAX_RETRIES = 50

/** All runs, newest first. The filters are in the URL. */
export function RunsPage({ query }: { query: URLSearchParams }) {
  const text = query.toString()
  const filters = useMemo(() => parseFilters(query), [text])
  const [entry] = useState(historyKey)
  const view = useRuns(filters, entry)
  const { items: runs, fresh, showFresh } = view
  const selected = useSelection(runs)
  const [mayRun, mayRead] = [useScope('run'), useScope('read')]
  const [isRetrying, setIsRetrying] = useState(false)
  useScrollRestoration(entry, runs.length > 0)
  useEffect(() => {
    if (fresh.length > 0 && window.scrollY < TOP_PIXELS) showFresh()
  }, [fresh, showFresh])

  function change(change: Partial<Filters>) {
    selected.clear()
    // The back button leaves the list, however often its filters have changed.
    navigate(hrefOf('/runs', FILTERS, changeFilters(filters, change)), { replace: true })
  }

  const maySelect = mayRun && mayRead && runs.some(isFailed)
  return (
    <Page title="Runs">
      <FilterBar filters={FILTERS} values={filters} items={runs} onChange={change} />
      <div class="runs-state muted">
        <span>
          {runs.length > 0 && (view.next ? newest(runs.length) : formatCountOf(runs.length, 'run'))}
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
        </span>
        {maySelect && <SelectAll {...selected} />}
      </div>
      {runs.length > 0 && (
        <RunRows runs={runs} isComplete={view.next === null} selection={maySelect ? selected : null} />
      )}
      {maySelect && selected.runs.length > 0 && (
        <section class="runs-selected" aria-label="Selected runs">
          <span>
            {formatCountOf(selected.runs.length, 'run')} selected{selected.isFull && ', the most at once'}
          </span>
          <button type="button" class="primary" onClick={() => setIsRetrying(true)}>
            Retry…
          </button>
          <button
            type="button"
            onClick={() => {
              selected.clear()
              document.getElementById(SELECT_ALL)?.focus()
            }}
          >
            Clear selection
          </button>
        </section>
      )}
      {isRetrying && (
        <RetryFailed
          runs={selected.runs}
          onClose={(hasStarted) => {
            setIsRetrying(false)
            if (hasStarted) selected.clear()
          }}
        />
      )}
      <ListEnd view={view} filters={filters} />
    </Page>
  )
}

const newest = (count: number) => (count === 1 ? 'The newest run' : `${formatCount(count)} newest runs`)

const isFailed = ({ status }: Run) => status === 'ERROR'

const SELECT_ALL = 'select-all-runs'

type Selected = {
  runs: Run[]
  ids: ReadonlySet<string>
  failed: Run[]
  isFull: boolean
  toggle: (executionId: string) => void
  select: (runs: Run[]) => void
  clear: () => void
}

/** Failed runs of the list. Their order is that of the list. */
function useSelection(listed: Run[]): Selected {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  const select = (runs: Run[]) => setIds(new Set(runs.slice(0, MAX_RETRIES).map(({ id }) => id)))
  const toggle = useCallback((id: string) => {
    setIds((last) => new Set(last.has(id) ? [...last].filter((each) => each !== id) : [...last, id]))
  }, [])
  const failed = listed.filter(isFailed)
  const runs = failed.filter(({ id }) => ids.has(id))
  return { runs, ids, failed, isFull: runs.length >= MAX_RETRIES, toggle, select, clear: () => select([]) }
}

function SelectAll({ runs, failed, select }: Selected) {
  const all = Math.min(failed.length, MAX_RETRIES)
  const isAll = runs.length >= all
  return (
    <label>
      <input
        id={SELECT_ALL}
        type="checkbox"
        checked={isAll}
        ref={(input) => {
          if (input) input.indeterminate = runs.length > 0 && !isAll
        }}
        onChange={() => select(isAll ? [] : failed)}
      />
      {failed.length > MAX_RETRIES
        ? `Select the newest ${MAX_RETRIES} failed runs`
        : `Select ${formatCountOf(all, 'failed run')}`}
    </label>
  )
}

type RetryProps = { runs: Run[]; onClose: (hasStarted: boolean) => void }

/** Its script is loaded when it is needed. */
function RetryFailed(props: RetryProps) {
  const { data: loaded, error, reload } = useResource('retry', () => import('./retry-dialog.tsx'))
  if (loaded) return <loaded.RetryDialog {...props} />
  return error && <ErrorBox error={error} onRetry={reload} />
}

/** Loads the next page when it becomes visible; with the button also without scrolling. */
function ListEnd({ view, filters }: { view: RunsView; filters: Filters }) {
  const { items: runs, next, searched, isLoading, error, loadMore, retry } = view
  const end = useRef<HTMLDivElement>(null)
  // How far a search looks is for its user to say.
  const isAutomatic = next !== null && !isSearch(filters)
  useEffect(() => {
    if (!end.current || !isAutomatic || isLoading || error) return
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && loadMore(), {
      rootMargin: '2000px',
    })
    observer.observe(end.current)
    return () => observer.disconnect()
  }, [isAutomatic, isLoading, error, loadMore, runs.length])

  if (error) return <ErrorBox error={error} onRetry={retry} />
  if (searched) return <SearchEnd view={view} searched={searched} />
  if (isLoading && runs.length === 0) return <Spinner label="Loading runs…" />
  if (runs.length === 0) return <NoRuns isFiltered={isFiltered(FILTERS, filters)} />
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

/** How far the service has looked, and a button to look further: it stays where it is, and keeps the focus. */
function SearchEnd({ view, searched }: { view: RunsView; searched: Searched }) {
  const { items: runs, next, isLoading, loadMore } = view
  const state = useRef<HTMLParagraphElement>(null)
  const [wasAsked, setWasAsked] = useState(false)
  useEffect(() => {
    if (wasAsked && next === null) state.current?.focus()
  }, [wasAsked, next])
  return (
    <div class="runs-end">
      <p ref={state} class="muted" role="status" tabIndex={-1}>
        {runs.length === 0 && 'None of them matches. '}
        {next === null ? 'Looked at all ' : 'Looked at '}
        {formatCountOf(searched.runs, 'run')}
        {searched.until !== null && ` back to ${formatMinute(Date.parse(searched.until), Date.now())}`}
      </p>
      {next && (
        <button
          type="button"
          aria-busy={isLoading}
          onClick={() => {
            setWasAsked(true)
            loadMore()
          }}
        >
          {isLoading ? 'Looking…' : 'Look further'}
        </button>
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
