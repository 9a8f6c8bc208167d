import { useEffect, useState } from 'preact/hooks'
import type { TrialItemRecord, TrialRecord } from '../../lib/contract/records/trial.ts'
import { toText } from '../../lib/contract/trial-outcome.ts'
import type { Verdict } from '../../lib/core/trial.ts'
import { requestPage } from '../api/request.ts'
import { usePages } from '../api/use-pages.ts'
import { Table } from '../components/data.tsx'
import { formatCost, formatCount, formatCountOf, formatDuration, shortId } from '../components/format.ts'
import { ListEnd } from '../components/list-end.tsx'
import { Spinner } from '../components/page.tsx'
import { RunLink } from '../components/values.tsx'
import { VisibleText } from '../components/visible-text.tsx'
import { toHref } from '../state/location.ts'
import { VerdictBadge } from './verdict-bar.tsx'
import { endedOf, VERDICT_LABELS } from './verdicts.ts'

const PAGE_SIZE = 25

type Props = { trial: TrialRecord; verdict: Verdict | null }

/** The runs of a trial, each with its original and what differs. */
export function TrialItems({ trial, verdict }: Props) {
  const { id, status } = trial
  const { items, next, isLoading, error, loadMore, reload } = usePages(`${id} ${verdict}`, (query, signal) =>
    requestPage<TrialItemRecord>(`/v1/trials/${id}/items`, {
      query: query ?? { verdict, limit: PAGE_SIZE },
      signal,
    }),
  )
  const ended = endedOf(trial)
  const [seen, setSeen] = useState(ended)
  // What was loaded further down would be gone.
  const isFirstPage = items.length <= PAGE_SIZE
  useEffect(() => {
    if (ended === seen || !isFirstPage) return
    setSeen(ended)
    reload()
  }, [ended])
  const isEmpty = items.length === 0
  return (
    <section class="stack" aria-labelledby="items-title">
      <div class="toolbar">
        <h2 id="items-title">{verdict ? `Runs with the verdict “${VERDICT_LABELS[verdict]}”` : 'Runs'}</h2>
        {ended !== seen && !isFirstPage && (
          <button
            type="button"
            onClick={() => {
              setSeen(ended)
              reload()
            }}
          >
            Show what has ended since
          </button>
        )}
      </div>
      {isLoading && isEmpty && <Spinner label="Loading runs…" />}
      {!isEmpty && (
        <ul class="trial-items">
          {items.map((item) => (
            <Item key={item.originalExecutionId} item={item} hasEnded={status === 'ENDED'} />
          ))}
        </ul>
      )}
      {!isLoading && !error && isEmpty && (
        <p class="empty">{verdict ? 'No run has this verdict.' : 'The trial has no runs.'}</p>
      )}
      <ListEnd {...{ next, isLoading, error, loadMore, reload }} />
    </section>
  )
}

function Item({ item, hasEnded }: { item: TrialItemRecord; hasEnded: boolean }) {
  const { originalExecutionId, executionId, verdict, error, costUsd, replayedCostUsd, runTimeMs, steps } =
    item
  const measures = [
    ...(costUsd === null && replayedCostUsd === null
      ? []
      : [`${formatCost(costUsd ?? 0)}${replayedCostUsd === null ? '' : ' beside recorded responses'}`]),
    ...(runTimeMs === null ? [] : [formatDuration(runTimeMs)]),
    ...(steps === null ? [] : [formatCountOf(steps, 'step')]),
  ]
  return (
    <li class="card">
      <div class="trial-item-head">
        {verdict ? (
          <VerdictBadge verdict={verdict} />
        ) : (
          <span class="badge">
            {hasEnded ? 'Not started' : executionId === null ? 'Waits' : 'In progress'}
          </span>
        )}
        <span>
          Original <RunLink executionId={originalExecutionId} />
        </span>
        {executionId !== null && (
          <>
            <span>
              New run <RunLink executionId={executionId} />
            </span>
            <a href={toHref('/compare', { a: originalExecutionId, b: executionId })}>Compare</a>
          </>
        )}
        <span class="muted">{measures.join(' · ')}</span>
      </div>
      {error && verdict !== 'SAME' && (
        <p class="trial-item-error">
          <code>
            <VisibleText text={error.code} />
          </code>{' '}
          <VisibleText text={error.message} />
        </p>
      )}
      <Differences item={item} />
    </li>
  )
}

const SHOWN = 3

function Differences({ item }: { item: TrialItemRecord }) {
  const { originalExecutionId, differences, moreDifferences } = item
  const [isOpen, setIsOpen] = useState(false)
  if (differences.length === 0) return null
  const shown = isOpen ? differences : differences.slice(0, SHOWN)
  return (
    <>
      <Table
        caption={`Differences of ${shortId(originalExecutionId)}`}
        columns={['Where', 'Original', 'New']}
      >
        {shown.map((each) => (
          <tr key={each.path} class="difference-row">
            <th scope="row">
              {each.path === '' ? (
                'Everything'
              ) : (
                <code>
                  <VisibleText text={each.path} />
                </code>
              )}
            </th>
            <td>
              <Side each={each} side="original" />
            </td>
            <td>
              <Side each={each} side="trial" />
            </td>
          </tr>
        ))}
      </Table>
      {shown.length < differences.length && (
        <p>
          <button type="button" class="link" onClick={() => setIsOpen(true)}>
            Show all {formatCount(differences.length)}
          </button>
        </p>
      )}
      {moreDifferences && shown.length === differences.length && (
        <p class="muted">There are more differences: compare the two runs.</p>
      )}
    </>
  )
}

type SideProps = { each: { original?: unknown; trial?: unknown }; side: 'original' | 'trial' }

const Side = ({ each, side }: SideProps) =>
  side in each ? (
    <code>
      <VisibleText text={toText(each, side)} />
    </code>
  ) : (
    <span class="muted">absent</span>
  )
