import './runs.css'
import { formatCost, formatCount } from '../components/format.ts'
import { memo } from '../components/json-view.tsx'
import { AgentLink, Duration, Elapsed, RunLink, StatusBadge, Time } from '../components/values.tsx'
import type { Run } from './use-runs.ts'
import { useVisibleRange } from './use-visible-range.ts'

/** In the order of the cells of a row. */
const COLUMNS = ['Run', 'Status', 'Agent', 'Created', 'Duration', 'Steps', 'Tokens', 'Cost', 'Tenant']

/**
 * The runs as a table of which only the visible rows exist, so that thousands scroll smoothly. All rows have the height
 * that the style sheet gives them.
 */
export function RunRows({ runs, isComplete }: { runs: Run[]; isComplete: boolean }) {
  const { body, start, end, rowHeight } = useVisibleRange(runs.length)
  return (
    // biome-ignore lint/a11y/useSemanticElements: rows of a table element cannot be laid out in two lines on a phone.
    <div class="runs" role="table" aria-label="Runs" aria-rowcount={isComplete ? runs.length + 1 : -1}>
      {/* biome-ignore lint/a11y/useSemanticElements: see above. */}
      <div role="rowgroup" class="runs-head">
        {/* biome-ignore lint/a11y/useSemanticElements lint/a11y/useFocusableInteractive: see above. */}
        <div role="row" class="run-row" aria-rowindex={1}>
          {COLUMNS.map((column) => (
            // biome-ignore lint/a11y/useSemanticElements lint/a11y/useFocusableInteractive: see above.
            <span key={column} role="columnheader" class={`run-${column.toLowerCase()}`}>
              {column}
            </span>
          ))}
        </div>
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: see above. */}
      <div
        role="rowgroup"
        ref={body}
        style={{
          paddingTop: `${start * rowHeight}px`,
          paddingBottom: `${(runs.length - end) * rowHeight}px`,
        }}
      >
        {runs.slice(start, end).map((run, index) => (
          <RunRow key={run.id} run={run} index={start + index + 2} />
        ))}
      </div>
    </div>
  )
}

const durationOf = ({ startedAt, finishedAt }: Run): number | null =>
  startedAt && finishedAt ? Math.max(Date.parse(finishedAt) - Date.parse(startedAt), 0) : null

const RunRow = memo(({ run, index }: { run: Run; index: number }) => {
  const { inputTokens, outputTokens } = run.usage
  const tokens = inputTokens + outputTokens
  return (
    // biome-ignore lint/a11y/useSemanticElements lint/a11y/useFocusableInteractive: see above.
    <div role="row" class="run-row" aria-rowindex={index}>
      {/* biome-ignore-start lint/a11y/useSemanticElements: see above. */}
      <span role="cell" class="run-run">
        <RunLink executionId={run.id} />
      </span>
      <span role="cell" class="run-status">
        <StatusBadge status={run.status} code={run.error?.code} />
      </span>
      <span role="cell" class="run-agent">
        <AgentLink agentId={run.documentId} />
        {run.cached && <span class="badge">cached</span>}
      </span>
      <span role="cell" class="run-created">
        <Time value={run.createdAt} />
      </span>
      <span role="cell" class="run-duration">
        {run.status === 'IN_PROGRESS' ? <Elapsed since={run.createdAt} /> : <Duration ms={durationOf(run)} />}
      </span>
      <span role="cell" class="run-steps">
        {formatCount(run.steps)}
      </span>
      <span role="cell" class="run-tokens">
        {tokens > 0 ? formatCount(tokens) : '–'}
      </span>
      <span role="cell" class="run-cost">
        {run.costUsd ? formatCost(run.costUsd) : '–'}
      </span>
      <span role="cell" class="run-tenant">
        {run.tenantId ?? '–'}
      </span>
      {/* biome-ignore-end lint/a11y/useSemanticElements: see above. */}
    </div>
  )
})
