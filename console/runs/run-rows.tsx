import './runs.css'
import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import { MAX_KEYS } from '../../lib/core/limits.ts'
import { runTimeOf } from '../api/runs.ts'
import {
  formatCompact,
  formatCost,
  formatCount,
  formatCountOf,
  shorten,
  shortId,
} from '../components/format.ts'
import { memo } from '../components/memo.ts'
import { AgentLink, Duration, Elapsed, RunLink, RunMarks, StatusBadge, Time } from '../components/values.tsx'
import { toVisible, VisibleText } from '../components/visible-text.tsx'
import type { Run } from './run-list.ts'
import { useVisibleRange } from './use-visible-range.ts'

/** In the order of the cells of a row. Keys come before the message. */
const COLUMNS = ['Status', 'Agent', 'Created', 'Duration', 'Steps', 'Tokens', 'Cost', 'Tenant', 'Run']

type KeyColumn = { name: string; width: string }

/** Columns of keys: as many as an agent can declare, each as wide as its longest value. */
function keyColumnsOf(runs: Run[]): KeyColumn[] {
  const widths = new Map<string, number>()
  for (const { keys = {} } of runs)
    for (const [name, value] of Object.entries(keys))
      widths.set(name, Math.max(widths.get(name) ?? 0, name.length + value.length + 2))
  return [...widths].slice(0, MAX_KEYS).map(([name, width]) => ({ name, width: `${width}ch` }))
}

type Selection = { ids: ReadonlySet<string>; isFull: boolean; toggle: (executionId: string) => void }

/** `selection`: which failed runs are selected; null if the token may do nothing with them. */
type Props = { runs: Run[]; isComplete: boolean; selection: Selection | null }

/** A table of which only the visible rows exist, all as high as the style sheet says: thousands scroll smoothly. */
export function RunRows({ runs, isComplete, selection }: Props) {
  const { body, start, end, rowHeight } = useVisibleRange(runs.length)
  const keyColumns = useMemo(() => keyColumnsOf(runs), [runs])
  const columns = [
    ...[...(selection ? ['Select'] : []), ...COLUMNS].map((label) => ({ label, class: label.toLowerCase() })),
    // Its name can be that of another column.
    ...keyColumns.map(({ name }) => ({ label: name, class: 'key' })),
    { label: 'Message', class: 'message' },
  ]
  return (
    // biome-ignore lint/a11y/useSemanticElements: rows of a table element cannot be laid out in several lines.
    <div
      class={`panel runs ${selection ? 'runs-selectable' : ''}`}
      role="table"
      aria-label="Runs"
      aria-rowcount={isComplete ? runs.length + 1 : -1}
    >
      {/* biome-ignore lint/a11y/useSemanticElements: see above. */}
      <div role="rowgroup" class="runs-head">
        {/* biome-ignore lint/a11y/useSemanticElements lint/a11y/useFocusableInteractive: see above. */}
        <div role="row" class="run-row" aria-rowindex={1}>
          {columns.map(({ label, class: name }, index) => (
            // biome-ignore lint/a11y/useSemanticElements lint/a11y/useFocusableInteractive: see above.
            <span
              key={index}
              role="columnheader"
              class={`run-${name}`}
              style={NOT_PLACED.includes(name) ? undefined : { gridArea: name }}
            >
              {label}
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
          <RunRow
            key={run.id}
            run={run}
            keyColumns={keyColumns}
            index={start + index + 2}
            isSelected={selection?.ids.has(run.id) ?? null}
            isFull={selection?.isFull ?? false}
            toggle={selection?.toggle}
          />
        ))}
      </div>
    </div>
  )
}

const MAX_MESSAGE = 200

export const firstLineOf = (message: string): string =>
  shorten(message.trimStart().split(/[\r\n\u2028\u2029]/, 1)[0] ?? '', MAX_MESSAGE)

type RowProps = {
  run: Run
  keyColumns: KeyColumn[]
  index: number
  /** Null: none can be selected. */
  isSelected: boolean | null
  isFull: boolean
  toggle: Selection['toggle'] | undefined
}

const RunRow = memo(({ run, keyColumns, index, isSelected, isFull, toggle }: RowProps) => {
  const { inputTokens, outputTokens } = run.usage
  const tokens = inputTokens + outputTokens
  const duration = runTimeOf(run)
  const isOpen = run.status === 'IN_PROGRESS'
  const message = run.error ? firstLineOf(run.error.message) : undefined
  return (
    // biome-ignore lint/a11y/useSemanticElements lint/a11y/useFocusableInteractive: see above.
    <div role="row" class="run-row" aria-rowindex={index}>
      {isSelected !== null && (
        <Cell name="select">
          {run.status === 'ERROR' && (
            <input
              type="checkbox"
              aria-label={`Select run ${shortId(run.id)}`}
              checked={isSelected}
              disabled={isFull && !isSelected}
              onChange={() => toggle?.(run.id)}
            />
          )}
        </Cell>
      )}
      <Cell name="status">
        <StatusBadge status={run.status} code={run.error?.code} isWaiting={run.waitingFor !== null} />
      </Cell>
      <Cell name="agent">
        <AgentLink agentId={run.documentId} />
      </Cell>
      <Cell name="created">
        <Time value={run.createdAt} />
      </Cell>
      <div class="run-facts" role="presentation">
        <Cell name="duration" isEmpty={!isOpen && duration === null}>
          {isOpen ? <Elapsed since={run.createdAt} /> : <Duration ms={duration} />}
        </Cell>
        <Cell name="steps" isEmpty={run.steps === 0}>
          <Figure value={formatCount(run.steps)} label={formatCountOf(run.steps, 'step')} />
        </Cell>
        <Cell name="tokens" isEmpty={tokens === 0}>
          {tokens > 0 ? (
            <Figure value={formatCount(tokens)} label={`${formatCompact(tokens)} tokens`} />
          ) : (
            '–'
          )}
        </Cell>
        <Cell name="cost" isEmpty={!run.costUsd}>
          {run.costUsd ? formatCost(run.costUsd) : '–'}
        </Cell>
        <Cell name="tenant" isEmpty={run.tenantId === null}>
          {run.tenantId === null ? '–' : <VisibleText text={run.tenantId} />}
        </Cell>
      </div>
      <Cell name="run">
        <RunLink executionId={run.id} />
      </Cell>
      <div class="run-line" role="presentation">
        {keyColumns.map(({ name, width }) => (
          <Cell
            key={name}
            name="key"
            // A message has the room of keys that the run does not have.
            width={message !== undefined && run.keys?.[name] === undefined ? '0' : width}
            isEmpty={run.keys?.[name] === undefined}
            title={toVisible(run.keys?.[name] ?? '')}
          >
            {run.keys?.[name] !== undefined && (
              <>
                <span class="muted">{name}</span> <VisibleText text={run.keys[name]} />
              </>
            )}
          </Cell>
        ))}
        <Cell name="message" title={message === undefined ? undefined : toVisible(message)}>
          <RunMarks run={run} />
          {message !== undefined && <VisibleText text={message} />}
        </Cell>
      </div>
    </div>
  )
})

/** Cells that have no area of the grid. */
const NOT_PLACED = ['select', 'key', 'message']

type CellProps = {
  name: string
  width?: string
  isEmpty?: boolean
  title?: string | undefined
  children: ComponentChildren
}

const Cell = ({ name, width, isEmpty, title, children }: CellProps) => (
  // biome-ignore lint/a11y/useSemanticElements: see above.
  <span
    role="cell"
    class={`run-${name} ${isEmpty ? 'run-no-value' : ''}`}
    style={NOT_PLACED.includes(name) ? { width } : { gridArea: name }}
    title={title}
  >
    {children}
  </span>
)

/** A number below its column; where there are no columns, with what it counts. */
const Figure = ({ value, label }: { value: string; label: string }) => (
  <>
    <span class="run-figure">{value}</span>
    <span class="run-labelled">{label}</span>
  </>
)
