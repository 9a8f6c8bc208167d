import type { Version } from '../../lib/core/agent.ts'
import type { ExecutionSummary } from '../../lib/core/execution.ts'
import type { RecordedStep } from '../../lib/core/step.ts'
import { canCallTools, isLive, type OpenStores } from '../../lib/engine/executions/open-executions.ts'
import { isFinalAnswer } from '../../lib/engine/model-agent/history/final-answer.ts'
import { relativeTime } from '../format.ts'

export type { OpenStores }

/** What an operator needs to decide about an execution in progress. */
type OpenRow = {
  id: string
  organizationId: string
  agentId: string
  /** Its slug; the id if the version is missing. */
  agent: string
  tenantId: string | null
  parentExecutionId: string | null
  createdAt: string
  deadlineAt: string
  attempts: number
  steps: number
  lastStepAt: string | null
  /** Calls in the journal. At most these were made when it was written; null: code, whose calls are not recorded. */
  toolCalls: number | null
  /** Whether the agent has tools or code. */
  hasTools: boolean
  isRunning: boolean
}

export async function describeOpen(stores: OpenStores, execution: ExecutionSummary): Promise<OpenRow> {
  const { id, organizationId, agentId, versionId, lease, deadlineAt, ...record } = execution
  const [version, journal] = await Promise.all([
    stores.agents.getVersion({ organizationId, agentId, id: versionId }),
    stores.steps.read({ executionId: id }),
  ])
  return {
    id,
    organizationId,
    agentId,
    agent: version?.slug ?? agentId,
    tenantId: record.tenantId,
    parentExecutionId: record.parentExecutionId,
    createdAt: record.createdAt,
    deadlineAt: new Date(deadlineAt).toISOString(),
    attempts: record.attempts,
    steps: journal.length,
    lastStepAt: lastTimeOf(journal),
    toolCalls: countCalls(version, journal),
    hasTools: canCallTools(version),
    isRunning: isLive(lease, stores.system),
  }
}

function lastTimeOf(journal: RecordedStep[]): string | null {
  const last = journal.at(-1)
  if (!last) return null
  const times = [last.step, ...last.results.values()].map(({ finishedAt }) => finishedAt)
  return times.sort().at(-1) ?? null
}

const countCalls = (version: Version | null, journal: RecordedStep[]): number | null =>
  version?.code || version?.remote
    ? null
    : journal
        .flatMap(({ step }) => (step.kind === 'MODEL' ? step.calls : []))
        .filter((call) => !isFinalAnswer(call)).length

export const COLUMNS = [
  'EXECUTION',
  'AGENT',
  'ACCEPTED',
  'STEPS',
  'LAST STEP',
  'TOOL CALLS',
  'WORKER',
  'PARENT',
]

export const toRow = (row: OpenRow): string[] => [
  row.id,
  row.agent,
  relativeTime(row.createdAt),
  String(row.steps),
  row.lastStepAt ? relativeTime(row.lastStepAt) : '-',
  describeCalls(row),
  row.isRunning ? 'running' : '-',
  row.parentExecutionId ?? '-',
]

function describeCalls({ toolCalls, hasTools }: OpenRow): string {
  if (toolCalls === null) return 'code'
  return hasTools ? String(toolCalls) : 'no tools'
}
