import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { listen } from '../api/attention.ts'
import { lazyPart } from '../app/lazy-page.tsx'
import { Button } from '../components/button.tsx'
import { formatCount, formatCountOf, formatMinute } from '../components/format.ts'
import { ErrorBox, Spinner } from '../components/page.tsx'
import { say } from '../components/visible-text.tsx'
import { type BodyProps, listPage } from '../list-page.tsx'
import { historyKey } from '../state/location.ts'
import { useScope } from '../state/session.ts'
import { changeFilters, FILTERS, type Filters, isSearch } from './filters.ts'
import type { Run } from './run-list.ts'
import { RunRows } from './run-rows.tsx'
import { isFailed, SELECT_ALL, SelectAll, useSelection } from './selection.tsx'
import { type RunsView, type Searched, useRuns } from './use-runs.ts'

/** Fresh runs appear by themselves only while the beginning of the list is visible: otherwise the list would move. */
const TOP_PIXELS = 40

export const RunsPage = listPage({
  title: 'Runs',
  path: '/runs',
  filters: FILTERS,
  change: changeFilters,
  useItems(filters) {
    const [entry] = useState(historyKey)
    return useRuns(filters, entry)
  },
  noun: 'run',
  caption: 'Runs',
  empty: () => say`Nothing has run yet. Choose an ${<a href="#/agents">agent</a>} and try it.`,
  Actions: () => <a href="#/scores">Low scores</a>,
  Body: Runs,
})

function Runs({ values, list, empty }: BodyProps<Run, keyof Filters, RunsView>) {
  const { items: runs, fresh, showFresh } = list
  const selected = useSelection(runs, JSON.stringify(values))
  const [mayRun, mayRead] = [useScope('run'), useScope('read')]
  const [isRetrying, setIsRetrying] = useState(false)
  useScrollRestoration(runs.length > 0)
  useEffect(() => {
    if (fresh.length > 0 && window.scrollY < TOP_PIXELS) showFresh()
  }, [fresh, showFresh])
  const maySelect = mayRun && mayRead && runs.some(isFailed)
  return (
    <div>
      <div class="toolbar runs-state muted">
        <span>
          {runs.length > 0 && (list.next ? newest(runs.length) : formatCountOf(runs.length, 'run'))}
          {!list.isLive && ' · Updates are interrupted: the service does not respond. Trying again…'}
          {fresh.length > 0 && (
            <>
              {' · '}
              <Button
                label={`Show ${formatCount(fresh.length)} new`}
                class="link"
                onClick={() => {
                  showFresh()
                  window.scrollTo(0, 0)
                }}
              />
            </>
          )}
        </span>
        {maySelect && <SelectAll {...selected} />}
      </div>
      {runs.length > 0 && (
        <RunRows runs={runs} isComplete={list.next === null} selection={maySelect ? selected : null} />
      )}
      {maySelect && selected.runs.length > 0 && (
        <section class="actions panel runs-selected" aria-label="Selected runs">
          <span>
            {formatCountOf(selected.runs.length, 'run')} selected{selected.isFull && ', the most at once'}
          </span>
          <Button label="Retry…" class="primary" onClick={() => setIsRetrying(true)} />
          <Button
            label="Clear selection"
            onClick={() => {
              selected.clear()
              document.getElementById(SELECT_ALL)?.focus()
            }}
          />
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
      <RunsEnd list={list} isAutomatic={!isSearch(values)}>
        {empty}
      </RunsEnd>
    </div>
  )
}

const newest = (count: number) => (count === 1 ? 'The newest run' : `${formatCount(count)} newest runs`)

/** Its script is loaded when it is needed. */
const RetryFailed = lazyPart('the retry', () => import('./retry-dialog.tsx'), 'RetryDialog')

type EndProps = { list: RunsView; isAutomatic: boolean; children: ComponentChildren }

/** Loads the next page when it becomes visible; with the button also without scrolling. */
function RunsEnd({ list, isAutomatic, children }: EndProps) {
  const { items: runs, next, searched, isLoading, error, loadMore, retry } = list
  const end = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // How far a search looks is for its user to say.
    if (!end.current || !isAutomatic || !next || isLoading || error) return
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && loadMore(), {
      rootMargin: '2000px',
    })
    observer.observe(end.current)
    return () => observer.disconnect()
  }, [isAutomatic, next, isLoading, error, loadMore, runs.length])

  if (error) return <ErrorBox error={error} onRetry={retry} />
  if (searched) return <SearchEnd list={list} searched={searched} />
  if (isLoading && runs.length === 0) return <Spinner label="Loading runs…" />
  if (runs.length === 0) return <p class="empty">{children}</p>
  return (
    // A new element: the old one would have moved.
    <div key={runs.length} class="actions runs-end" ref={end}>
      {isLoading ? (
        <span class="muted" role="status">
          Loading more…
        </span>
      ) : next ? (
        <Button label="Load more" onClick={loadMore} />
      ) : (
        <span class="muted">No more runs</span>
      )}
    </div>
  )
}

/** How far the service has looked, and a button to look further: it stays where it is, and keeps the focus. */
function SearchEnd({ list, searched }: { list: RunsView; searched: Searched }) {
  const { items: runs, next, isLoading, loadMore } = list
  const state = useRef<HTMLParagraphElement>(null)
  const [wasAsked, setWasAsked] = useState(false)
  useEffect(() => {
    if (wasAsked && next === null) state.current?.focus()
  }, [wasAsked, next])
  return (
    <div class="actions runs-end">
      <p ref={state} class="muted" role="status" tabIndex={-1}>
        {runs.length === 0 && 'None of them matches. '}
        {next === null ? 'Looked at all ' : 'Looked at '}
        {formatCountOf(searched.runs, 'run')}
        {searched.until !== null && ` back to ${formatMinute(Date.parse(searched.until), Date.now())}`}
      </p>
      {next && (
        <Button
          label={isLoading ? 'Looking…' : 'Look further'}
          aria-busy={isLoading}
          onClick={() => {
            setWasAsked(true)
            loadMore()
          }}
        />
      )}
    </div>
  )
}

const positions = new Map<string, number>()

/** Going back to the list shows the part that it showed when it was left. */
function useScrollRestoration(isReady: boolean): void {
  const [entry] = useState(historyKey)
  useLayoutEffect(() => {
    if (entry === undefined || !isReady) return
    const position = positions.get(entry)
    if (position !== undefined) window.scrollTo(0, position)
    return listen(window, { scroll: () => positions.set(entry, window.scrollY) }, { passive: true })
  }, [entry, isReady])
}
