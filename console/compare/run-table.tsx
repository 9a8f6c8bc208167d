import type { ComponentChildren } from 'preact'
import type { ExecutionSummaryRecord } from '../../lib/contract/records/execution.ts'
import { durationOf } from '../agents/run-figures.ts'
import { formatCost, formatCount, formatDuration } from '../components/format.ts'
import { AgentLink, RunLink, StatusBadge, Time, VersionLink } from '../components/values.tsx'
import { VisibleText } from '../components/visible-text.tsx'
import { toHref, toPath } from '../state/location.ts'
import { formatChange } from './comparison.ts'

type Run = ExecutionSummaryRecord

type Row = {
  name: string
  show: (run: Run) => ComponentChildren
  /** What makes two runs differ in it; absent where they always do. */
  valueIn?: (run: Run) => unknown
  /** Of figures: how much more or less B has is shown, too. */
  figureIn?: (run: Run) => number | null
  /** It depends on what else ran. */
  isTime?: boolean
}

const absent = <span class="muted">–</span>

const figure = (
  name: string,
  figureIn: (run: Run) => number | null,
  format: (value: number) => string,
): Row => ({
  name,
  figureIn,
  show: (run) => {
    const value = figureIn(run)
    return value === null ? absent : format(value)
  },
})

const text = (name: string, valueIn: (run: Run) => string | null): Row => ({
  name,
  valueIn,
  show: (run) => {
    const value = valueIn(run)
    return value === null ? absent : <VisibleText text={value} />
  },
})

const SOURCES: Record<Run['source'], string> = {
  API: 'A request',
  AGENT: 'Another agent',
  BATCH: 'A batch',
  SCHEDULE: 'A schedule',
  TRIAL: 'A trial',
  SCORE: 'A score of another run',
}

const ROWS: Row[] = [
  { name: 'Run', show: ({ id }) => <RunLink executionId={id} /> },
  { name: 'Created', show: ({ createdAt }) => <Time value={createdAt} /> },
  {
    name: 'Status',
    valueIn: ({ status, error }) => `${status} ${error?.code}`,
    show: ({ status, error }) => <StatusBadge status={status} code={error?.code} />,
  },
  {
    name: 'Agent',
    valueIn: ({ documentId }) => documentId,
    show: ({ documentId }) => <AgentLink agentId={documentId} />,
  },
  {
    name: 'Version',
    valueIn: ({ versionId }) => versionId,
    show: ({ documentId, versionId }) => <VersionLink agent={documentId} versionId={versionId} />,
  },
  text('Model', ({ model }) => model),
  text('Tenant', ({ tenantId }) => tenantId),
  text('Started by', ({ source }) => SOURCES[source]),
  { ...figure('Duration', durationOf, formatDuration), isTime: true },
  figure('Attempts', ({ attempts }) => attempts, formatCount),
  figure('Input tokens', ({ totalUsage }) => totalUsage.inputTokens, formatCount),
  figure('Output tokens', ({ totalUsage }) => totalUsage.outputTokens, formatCount),
  figure('Cost', ({ totalCostUsd }) => totalCostUsd, formatCost),
]

/** What is known of both runs beside their payloads. Tokens and cost are with the agents that they called. */
export const RunTable = ({ left, right }: { left: Run; right: Run }) => (
  <dl class="lines compared-facts">
    {ROWS.map(({ name, show, valueIn, figureIn, isTime }) => {
      // How much figures differ is said beside them.
      const differs = valueIn !== undefined && valueIn(left) !== valueIn(right)
      const isCompared = figureIn && !(isTime && !hasSameLoad(left, right))
      const change = isCompared ? formatChange(figureIn(left), figureIn(right)) : ''
      return (
        <div key={name} class={differs ? 'differs' : undefined}>
          <dt class="muted">
            {name} {differs && <span class="badge badge-warning">differs</span>}
          </dt>
          <dd>
            <span class="side-name">A</span> {show(left)}
          </dd>
          <dd>
            <span class="side-name">B</span> {show(right)} {change && <span class="muted">({change})</span>}
          </dd>
        </div>
      )
    })}
  </dl>
)

/** A run of a batch or of a trial shares workers with others of it, and a resumed one has waited. */
export const hasSameLoad = (a: Pick<Run, 'source' | 'attempts'>, b: Pick<Run, 'source' | 'attempts'>) =>
  a.source === b.source && a.attempts === b.attempts

export const versionsHref = ({ documentId, versionId }: Run, right: Run): string | null =>
  documentId === right.documentId && versionId !== right.versionId
    ? toHref(toPath('agents', documentId, 'compare'), { before: versionId, after: right.versionId })
    : null
