import pRetry from 'p-retry'
import { kindOf, type Version } from '../../core/agent.ts'
import { Unavailable } from '../../core/errors.ts'
import type { ExecutionSummary } from '../../core/execution.ts'
import type { ExecutionError } from '../../core/execution-errors.ts'
import { agentIdFrom } from '../../core/ids.ts'
import { DEADLINE_MS } from '../../core/limits.ts'
import type { AgentStore } from '../../core/ports/agents.ts'
import type { ExecutionStore, OpenPage, OpenPosition } from '../../core/ports/executions.ts'
import type { System } from '../../core/ports/system.ts'
import { type Endings, endAbandoned, endExecution } from '../end-execution.ts'

export type OpenStores = Endings & {
  agents: Pick<AgentStore, 'getVersion'>
  executions: Pick<ExecutionStore, 'listOpen' | 'resume'>
}

/** Which open executions; a member that is undefined selects all of them. */
export type OpenFilter = {
  ids?: ReadonlySet<string> | undefined
  organizationId?: string | undefined
  /** Slug or id; a slug selects the agent of each organization. */
  agent?: string | undefined
  /** Milliseconds since the epoch. */
  createdBefore?: number | undefined
  /** Whether the agent has tools, or code, or is remote. */
  hasTools?: boolean | undefined
}

export const ENDED_BY_OPERATOR: ExecutionError = {
  code: 'Cancelled',
  message: 'An operator ended the execution, for example after a restore of the database.',
}

/** What became of an execution. `running`: a worker has a live lease; `closed`: it ended or was deleted meanwhile. */
export type OpenResult = 'done' | 'running' | 'closed'

/** Executions in memory at a time: more than one shard of the index has of 10,000. */
const PAGE_SIZE = 500

/** More than a minute of throttling; the SDK has retried before. */
const RETRIES = { retries: 12, minTimeout: 200, maxTimeout: 10_000, randomize: true }

/** The open executions that match, page by page. One that is open when this begins is in exactly one page. */
export async function* readOpen(stores: OpenStores, filter: OpenFilter): AsyncGenerator<ExecutionSummary[]> {
  const matches = matcherOf(stores, filter)
  const readPage = (after: OpenPosition | null): Promise<OpenPage> =>
    patiently(() => stores.executions.listOpen({ limit: PAGE_SIZE, after }))
  for (let after: OpenPosition | null = null; ; ) {
    const { items, next } = await readPage(after)
    const matching = await Promise.all(items.map(async (each) => ((await matches(each)) ? [each] : [])))
    yield matching.flat()
    if (!next) return
    after = next
  }
}

/**
 * Ends an execution in ERROR `Cancelled`. Its client finds this result with the same idempotency key; a run that waits
 * for its cached result computes its own.
 * @param isForced also ends one that a worker is running, as a cancel does
 * @throws Unavailable when the database throttles for minutes
 */
export function endOpen(
  stores: OpenStores,
  { organizationId, id, lease, suspension }: ExecutionSummary,
  { isForced }: { isForced: boolean },
): Promise<OpenResult> {
  const ending = { organizationId, id, error: ENDED_BY_OPERATOR }
  return patiently(async () => {
    if (isForced && isLive(lease, stores.system))
      return (await endExecution(stores, ending)) ? 'done' : 'closed'
    const guard = suspension ? {} : { unleasedAt: stores.system.now() }
    const ended = await endAbandoned(stores, ending, ENDED_BY_OPERATOR, guard)
    return ended ? 'done' : whyNot(stores, ending)
  })
}

/** Lets the next sweep enqueue an execution, however old it is; a suspended one at its time. @throws Unavailable */
export function resumeOpen(stores: OpenStores, execution: ExecutionSummary): Promise<OpenResult> {
  return patiently(async () => {
    const now = stores.system.now()
    const deadlineAt = Math.max(execution.suspension?.until ?? now, now) + DEADLINE_MS
    const isResumed = await stores.executions.resume({ execution, now, deadlineAt })
    return isResumed ? 'done' : whyNot(stores, execution)
  })
}

/** Whether a run of the version can do more than ask a model; also of one that is missing. */
export const canCallTools = (version: Version | null): boolean =>
  !version || kindOf(version) !== 'model' || version.tools.length > 0

export const isLive = (lease: ExecutionSummary['lease'], system: System): boolean =>
  lease !== null && lease.expiresAt >= system.now()

/** A write whose condition failed may also be the repetition of one that succeeded. */
async function whyNot(
  { executions }: OpenStores,
  { organizationId, id }: Pick<ExecutionSummary, 'organizationId' | 'id'>,
): Promise<OpenResult> {
  const summary = await executions.getSummary({ organizationId, id })
  if (summary?.status === 'IN_PROGRESS') return 'running'
  return summary?.error?.message === ENDED_BY_OPERATOR.message ? 'done' : 'closed'
}

function matcherOf({ agents }: OpenStores, filter: OpenFilter) {
  const { ids, organizationId, agent, createdBefore, hasTools } = filter
  const versions = new Map<string, Promise<boolean>>()
  const versionHasTools = (execution: ExecutionSummary) => {
    const { versionId: id, agentId, organizationId } = execution
    const reading =
      versions.get(id) ??
      patiently(async () => canCallTools(await agents.getVersion({ organizationId, agentId, id })))
    versions.set(id, reading)
    return reading
  }
  return async (execution: ExecutionSummary): Promise<boolean> =>
    (ids?.has(execution.id) ?? true) &&
    (organizationId === undefined || organizationId === execution.organizationId) &&
    (agent === undefined || agentIdFrom(execution.organizationId, agent) === execution.agentId) &&
    (createdBefore === undefined || Date.parse(execution.createdAt) < createdBefore) &&
    (hasTools === undefined || hasTools === (await versionHasTools(execution)))
}

const patiently = <T>(work: () => Promise<T>): Promise<T> =>
  pRetry(work, { ...RETRIES, shouldRetry: ({ error }) => error instanceof Unavailable })
