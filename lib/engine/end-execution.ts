import pLimit from 'p-limit'
import {
  type BatchLine,
  type Execution,
  type ExecutionSummary,
  isFinal,
  type Progress,
} from '../core/execution.ts'
import { CANCELLED, type ExecutionError } from '../core/execution-errors.ts'
import type { ExecutionStore } from '../core/ports/executions.ts'
import type { FeedQueue, RunQueue, SlotQueue } from '../core/ports/queues.ts'
import type { OwnedId, System } from '../core/ports/system.ts'
import type { LimitStore } from '../core/ports/usage.ts'
import { scoredBy } from '../core/run-score.ts'
import { type StepStore, withLost } from '../core/step.ts'
import { endOfWait } from '../core/suspension.ts'
import { isoNow, queuedOf } from './engine.ts'
import { releaseSlots } from './queued-runs.ts'
import { emitCompleted } from './wait-for-completion.ts'

export type Endings = {
  executions: Pick<ExecutionStore, 'end' | 'getSummary' | 'listOpenChildren' | 'settle'>
  steps: Pick<StepStore, 'close' | 'getProgress' | 'read'>
  /** Unless it is given, the next sweep resumes a parent, and the timer of a batch starts its next line. */
  queue?: RunQueue & Partial<Pick<FeedQueue, 'feed'>>
  /** Without them, no slots are released: takers find out that their executions have ended. */
  limits?: LimitStore & SlotQueue
  /** Starts the next line of a batch in this process. */
  afterLine?: (ended: ExecutionSummary) => Promise<void>
  system: System
}

/** `listed`: if it still has these values. `unleasedAt`: unless a lease was live then, or it is suspended. */
type EndGuard = Pick<Parameters<ExecutionStore['end']>[0], 'listed' | 'unleasedAt'>

/** Children that are ended at the same time. */
const PARALLEL_CHILDREN = 10

/** Ends an open execution in ERROR with what its steps used, and closes its journal. Null if it is final or missing. */
export const endExecution = (stores: Endings, { error, ...key }: OwnedId & { error: ExecutionError }) =>
  end(stores, key, error, stores.steps.close, {})

/** The same of one that no worker is running: its journal stays as it is. */
export const endAbandoned = (stores: Endings, key: OwnedId, error: ExecutionError, guard: EndGuard) =>
  end(stores, key, error, stores.steps.getProgress, guard)

async function end(
  stores: Endings,
  { organizationId, id }: OwnedId,
  error: ExecutionError,
  readProgress: StepStore['getProgress'],
  guard: EndGuard,
): Promise<Execution | null> {
  const { executions, system } = stores
  const key = { organizationId, id }
  const execution = await executions.getSummary(key)
  if (!execution || isFinal(execution)) return null
  const recorded = await readProgress({ executionId: id })
  const progress = await withLosses(stores, key, recorded)
  const staysListed = execution.parentExecutionId !== null || (await hasOpenChildren(stores, execution))
  const finishedAt = isoNow(system)
  const wait = endOfWait(execution, finishedAt)
  const ended = await executions.end({
    ...key,
    execution,
    error,
    progress,
    finishedAt,
    staysListed,
    wait,
    ...guard,
  })
  // It ends whatever it does: it was woken, or has ended, since it was read.
  if (!ended && wait && Object.keys(guard).length === 0) return end(stores, key, error, readProgress, guard)
  if (ended) await afterEnd(stores, ended)
  return ended
}

export const hasOpenChildren = async ({ executions }: Pick<Endings, 'executions'>, key: OwnedId) =>
  (await executions.listOpenChildren(key)).length > 0

/** What follows from the end of an execution, at once. Best effort: until it is done, the sweeper repeats it. */
export async function afterEnd(stores: Endings, ended: ExecutionSummary): Promise<void> {
  const { limits } = stores
  if (ended.limits.length > 0 && limits)
    await releaseSlots({ ...stores, limits }, ended).catch(() => undefined)
  if (ended.openUntil !== null) await settle(stores, ended).catch(() => undefined)
  if (ended.batch) await startNextLine(stores, ended, ended.batch).catch(() => undefined)
}

async function startNextLine({ afterLine, queue }: Endings, ended: ExecutionSummary, batch: BatchLine) {
  if (afterLine) return afterLine(ended)
  const { id: batchId, lane, line } = batch
  await queue?.feed?.({ batchId, organizationId: ended.organizationId, lane, line })
}

/**
 * Ends the agents that an execution had called and that are still open, and resumes the parent that waits for it. The
 * execution is final before: no parent runs on because its children were ended.
 * @returns whether nothing is left to do; then it is no longer listed
 * @throws Unavailable
 */
export async function settle(stores: Endings, ended: ExecutionSummary): Promise<boolean> {
  const { organizationId } = ended
  if (ended.status === 'ERROR') {
    const limit = pLimit(PARALLEL_CHILDREN)
    const children = await stores.executions.listOpenChildren(ended)
    await Promise.all(children.map((child) => limit(() => endChild(stores, { organizationId, id: child }))))
  }
  const parent = await findUnawareParent(stores, ended)
  if (!parent) {
    await stores.executions.settle({ execution: ended, until: null })
    return true
  }
  if (parent.suspension) await stores.queue?.send({ ...queuedOf(parent), wakes: true })
  return false
}

async function endChild(stores: Endings, key: OwnedId): Promise<void> {
  if (await endExecution(stores, { ...key, error: CANCELLED })) emitCompleted(key.id)
}

/**
 * The parent of a final execution, unless it certainly knows, or does not care. One that is suspended for other things
 * has the result; one that is running may be about to wait for it.
 */
export async function findUnawareParent(
  { executions }: { executions: Pick<ExecutionStore, 'getSummary'> },
  { organizationId, id, parentExecutionId }: ExecutionSummary,
): Promise<ExecutionSummary | null> {
  if (parentExecutionId === null) return null
  const parent = await executions.getSummary({ organizationId, id: parentExecutionId })
  if (!parent || isFinal(parent)) return null
  const waits = parent.suspension?.waits
  return waits?.every((wait) => wait.kind !== 'execution' || wait.id !== id) ? null : parent
}

/** Whether the parent of an execution has ended, which therefore ends, too. */
export async function hasFinalParent(
  { executions }: { executions: Pick<ExecutionStore, 'getStatus'> },
  execution: Pick<Execution, 'organizationId' | 'parentExecutionId' | 'source' | 'scored'>,
): Promise<boolean> {
  const { organizationId, parentExecutionId } = execution
  // A run has succeeded before it is scored.
  if (parentExecutionId === null || scoredBy(execution)) return false
  return (await executions.getStatus({ organizationId, id: parentExecutionId })) !== 'IN_PROGRESS'
}

type Readers = { executions: Pick<ExecutionStore, 'getSummary'>; steps: Pick<StepStore, 'read'> }

/** The progress of a run that no worker resumes, and the steps of its record that are lost indeed. */
export async function withLosses({ executions, steps }: Readers, key: OwnedId, progress: Progress | null) {
  const summary = progress && (await executions.getSummary(key))
  return withLost(steps, key.id, progress, summary?.lostSteps ?? [])
}
