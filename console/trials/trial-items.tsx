import { useEffect, useState } from 'preact/hooks'
import type { TrialRecord } from '../../lib/contract/records/trial.ts'
import type { TrialItemRecord } from '../../lib/contract/records/trial-item.ts'
import type { Verdict } from '../../lib/core/trial.ts'
import { useList } from '../api/use-list.ts'
import { Button } from '../components/button.tsx'
import {
  formatCost,
  formatCount,
  formatCountOf,
  formatDuration,
  formatScore,
  shortId,
} from '../components/format.ts'
import { ListView } from '../components/list.tsx'
import { RunLink } from '../components/values.tsx'
import { VisibleText } from '../components/visible-text.tsx'
import { toHref } from '../state/location.ts'
import { Change, FieldName } from './field-summary.tsx'
import { VerdictBadge } from './verdict-bar.tsx'
import { endedOf, VERDICT_LABELS } from './verdicts.ts'

const PAGE_SIZE = 25

export function TrialItems({ trial, verdict }: { trial: TrialRecord; verdict: Verdict | null }) {
  const { id, status } = trial
  const list = useList<TrialItemRecord>(`/v1/trials/${id}/items`, {
    query: { verdict, limit: PAGE_SIZE },
    keyOf: ({ originalExecutionId }) => originalExecutionId,
  })
  const ended = endedOf(trial)
  const [seen, setSeen] = useState(ended)
  function showEnded() {
    setSeen(ended)
    list.reload()
  }
  // What was loaded further down would be gone.
  const isFirstPage = list.items.length <= PAGE_SIZE
  useEffect(() => {
    if (ended !== seen && isFirstPage) showEnded()
  }, [ended])
  return (
    <section class="stack" aria-labelledby="items-title">
      <div class="toolbar">
        <h2 id="items-title">{verdict ? `Runs with the verdict “${VERDICT_LABELS[verdict]}”` : 'Runs'}</h2>
        {ended !== seen && !isFirstPage && <Button label="Show what has ended since" onClick={showEnded} />}
      </div>
      <ListView
        list={list}
        noun="run"
        isUncounted
        caption="Runs of the trial"
        class="stack"
        Item={status === 'ENDED' ? EndedItem : Item}
        empty={verdict ? 'No run has this verdict.' : 'The trial has no runs.'}
      />
    </section>
  )
}

type ItemProps = { item: TrialItemRecord; hasEnded?: boolean }

const EndedItem = ({ item }: ItemProps) => <Item item={item} hasEnded />

function Item({ item, hasEnded = false }: ItemProps) {
  const { originalExecutionId, executionId, verdict, error, costUsd, replayedCostUsd, runTimeMs, steps } =
    item
  const toScore = (score: number | null) => (score === null ? 'none' : formatScore(score))
  const measures = [
    ...(costUsd === null && replayedCostUsd === null
      ? []
      : [`${formatCost(costUsd ?? 0)}${replayedCostUsd === null ? '' : ' beside recorded responses'}`]),
    ...(runTimeMs === null ? [] : [formatDuration(runTimeMs)]),
    ...(steps === null ? [] : [formatCountOf(steps, 'step')]),
    ...(item.scores ?? []).map((each) => `${each.agent} ${toScore(each.original)} → ${toScore(each.trial)}`),
  ]
  return (
    <li class="card">
      <div class="actions">
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
        <VisibleText text={measures.join(' · ')} class="muted" />
      </div>
      {error && verdict !== 'SAME' && (
        <p class="long-text">
          <VisibleText text={error.code} class="mono" /> <VisibleText text={error.message} />
        </p>
      )}
      <Differences item={item} />
    </li>
  )
}

const SHOWN = 3

function Differences({ item }: { item: TrialItemRecord }) {
  const { differences, moreDifferences } = item
  const [isOpen, setIsOpen] = useState(false)
  if (differences.length === 0) return null
  const shown = isOpen ? differences : differences.slice(0, SHOWN)
  return (
    <>
      <ul class="plain-list" aria-label={`Differences of ${shortId(item.originalExecutionId)}`}>
        {shown.map((each) => (
          <li key={each.path}>
            <FieldName path={each.path} /> <Change {...each} />
          </li>
        ))}
      </ul>
      {shown.length < differences.length && (
        <p>
          <Button
            label={`Show all ${formatCount(differences.length)}`}
            class="link"
            onClick={() => setIsOpen(true)}
          />
        </p>
      )}
      {moreDifferences && shown.length === differences.length && (
        <p class="muted">There are more differences: compare the two runs.</p>
      )}
    </>
  )
}
