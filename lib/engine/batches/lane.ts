import { isDeepStrictEqual } from 'node:util'
import {
  type Batch,
  firstLane,
  type Lane,
  type LineWait,
  lineExecutionId,
  ownLaneOf,
  sumTotals,
  totalsOf,
} from '../../core/batch.ts'
import { type ExecutionSummary, isFinal } from '../../core/execution.ts'
import { CANCELLED, type ExecutionError } from '../../core/execution-errors.ts'
import { LimitExceeded, TooManyRequests } from '../../core/limit-errors.ts'
import { MAX_QUEUE_DELAY_MS } from '../../core/limits.ts'
import { usageOfTree } from '../../core/model-usage.ts'
import type { OwnedId } from '../../core/ports/system.ts'
import { isTrialUsedUp, trialUsedUp } from '../../limits/trial-limit.ts'
import { endExecution } from '../end-execution.ts'
import { emitCompleted } from '../wait-for-completion.ts'
import { type BatchEngine, endingsOf, readOpenBatch } from './batch-engine.ts'
import { hasWaited, nextOf } from './next-line.ts'
import { startLine } from './start-line.ts'

/**
 * What a lane is after it was looked at. `open`: its line runs; `ended`: it has none left; `unfinished`: the time was
 * up; `retryMs`: until it should be looked at again, because the organization has too many open executions, or a limit
 * of its tenant or agent is reached.
 */
export type Fed = 'open' | 'ended' | 'unfinished' | { retryMs: number }

/** Until the next attempt if something failed, or if the organization has too many open executions. */
export const RETRY_MS = 5_000

type Options = {
  /** No line begins later. Milliseconds since the epoch. */
  until: number
  /** The final execution of its line, if the caller has it. */
  ended?: ExecutionSummary | undefined
}

/**
 * Starts the line of a lane, or the next one if it has ended. Everybody may do so at any time, also at the same time:
 * the id of a line's execution derives from it, and a lane goes on from a line once. The lane is written before the
 * line is started, so that whoever looks at it next finds a line that was not.
 * @throws Unavailable
 */
export async function feedLane(
  engine: BatchEngine,
  batch: Batch,
  lane: Lane,
  { until, ended }: Options,
): Promise<Fed> {
  const { batches, executions, system } = engine
  let [current, stored]: [Batch | null, Lane] = [batch, lane]
  /** Undefined: unknown; null: it has probably not begun. */
  let known: ExecutionSummary | null | undefined = ended
  while (stored.line !== null && current) {
    if (system.now() >= until) return 'unfinished'
    const { line, number } = stored
    const key = { organizationId: batch.organizationId, id: lineExecutionId(batch, line) }
    let waits: LineWait[] | null = null
    let execution = known === undefined ? await executions.getSummary(key) : known
    const hasOwnLane = number >= batch.lanes
    if (!execution && !hasOwnLane) {
      if (!current.stopped) current = await stopAtLimit(engine, current, key)
      const started = current.stopped
        ? await refuseLine(engine, key)
        : await startLine(engine, current, { line, lane: number }).catch(unlessRefused)
      if (started && 'retryMs' in started) return started
      execution = started
      // Another process knows that the batch was stopped. It goes on.
      if (!execution && !current.stopped) return 'open'
    }
    const isOwn = hasOwnLane || execution?.batch?.lane === number
    if (execution && !isFinal(execution) && isOwn) {
      if (current.status === 'CANCELLING') execution = await cancelLine(engine, key)
      if (execution && !isFinal(execution)) {
        waits = await waitsOf(engine, execution)
        if (hasOwnLane || !(await mayHandOver(engine, current, waits))) {
          await note(engine, batch, stored, { ...(waits && { waits }), ...(hasOwnLane && costOf(execution)) })
          return 'open'
        }
      }
    }
    if (execution && isOwn && !hasOwnLane && hasWaited(execution))
      await openOwnLane(engine, batch, execution, { line, ...(waits && { waits }) })
    const error = execution && excessOfTrial(current, execution)
    if (error && !current.stopped) current = await stop(engine, current, error)
    const next = await nextOf(engine, current, stored, execution)
    const isWritten = await batches.putLane({ batch, lane: next, replaces: line })
    stored = isWritten ? next : await batches.getLane({ batch, number })
    engine.lanes.set(`${batch.id}/${number}`, stored)
    known = isWritten ? null : undefined
    if (!current.stopped) current = await readOpenBatch(engine, batch)
  }
  return 'ended'
}

/**
 * What a line waits for; null while it or an agent that it has called is running. Each is named once.
 * @throws Unavailable
 */
async function waitsOf(engine: BatchEngine, execution: ExecutionSummary): Promise<LineWait[] | null> {
  const { organizationId, suspension } = execution
  if (!suspension) return null
  const waits = new Map<string, LineWait>()
  for (const { kind, name, id = '' } of suspension.waits) {
    const child = kind === 'execution' ? await engine.executions.getSummary({ organizationId, id }) : null
    const found = kind !== 'execution' ? [{ kind, name }] : child && (await waitsOf(engine, child))
    if (!found) return null
    for (const wait of found) if (waits.size < MAX_WAITS) waits.set(`${wait.kind} ${wait.name}`, wait)
  }
  return [...waits.values()]
}

/** How many waits of a line are counted. */
const MAX_WAITS = 10

/** Not one that waits for its turn, which has not begun: more of them would not begin earlier. */
async function mayHandOver(
  { mayHandOver: may }: BatchEngine,
  { organizationId, lanes, stopped }: Batch,
  waits: LineWait[] | null,
): Promise<boolean> {
  if (stopped || !waits || waits.some(({ kind }) => kind === 'limit')) return false
  return may(organizationId, lanes - 1)
}

/** What readers of the batch see of a line that keeps its lane. */
async function note(
  { batches, lanes }: BatchEngine,
  batch: Batch,
  lane: Lane,
  seen: Pick<Lane, 'waits'> & { costUsd?: number },
): Promise<void> {
  const { waits: _, ...running } = lane
  const noted = { ...running, ...seen }
  if (isDeepStrictEqual(noted, lane)) return
  if (await batches.putLane({ batch, lane: noted, replaces: lane.line ?? -1 }))
    lanes.set(`${batch.id}/${lane.number}`, noted)
}

/** Before the line leaves its lane. It is counted here, however often it is written. */
async function openOwnLane(
  { batches }: BatchEngine,
  batch: Batch,
  execution: ExecutionSummary,
  { line, waits }: { line: number; waits?: LineWait[] },
): Promise<void> {
  const lane = firstLane(ownLaneOf(batch, line), batch)
  const seen = isFinal(execution)
    ? { ...totalsOf(execution), line: null }
    : { ...costOf(execution), ...(waits && { waits }) }
  await batches.putLane({ batch, lane: { ...lane, ...seen }, replaces: line })
}

/** The limit of the batch counts what waiting lines have cost, too. */
const costOf = (execution: ExecutionSummary) => ({ costUsd: usageOfTree(execution)?.costUsd ?? 0 })

/** A limit that is raised before is noticed after a quarter of an hour at most. */
function unlessRefused(error: unknown): { retryMs: number } {
  if (error instanceof TooManyRequests) return { retryMs: RETRY_MS }
  if (!(error instanceof LimitExceeded)) throw error
  return { retryMs: Math.min(error.retryAfterSeconds * 1000, MAX_QUEUE_DELAY_MS) }
}

/** No process can start the line from now on. Returns its execution if one has. */
async function refuseLine(
  { executions, system }: BatchEngine,
  key: OwnedId,
): Promise<ExecutionSummary | null> {
  return (await executions.refuse({ ...key, now: system.now() })) ? null : executions.getSummary(key)
}

/** The next line is up to the caller. */
async function cancelLine(engine: BatchEngine, key: OwnedId): Promise<ExecutionSummary | null> {
  const { executions } = engine
  const ended = await endExecution(endingsOf(engine), { ...key, error: CANCELLED })
  if (ended) emitCompleted(key.id)
  return ended ?? executions.getSummary(key)
}

/** Whether a further line may start. Whoever has written a lane sees what all lanes have spent before. */
async function stopAtLimit(engine: BatchEngine, batch: Batch, key: OwnedId): Promise<Batch> {
  const error = await findExcess(engine, batch)
  // Nothing is left out yet if another lane has started the line: it may have been the last one.
  if (!error || (await engine.executions.getStatus(key))) return batch
  return stop(engine, batch, error)
}

/** Why no further line may start; null if this is not why a line ended. Others may need no response of a model. */
function excessOfTrial({ trial }: Batch, { error }: ExecutionSummary): ExecutionError | null {
  if (trial?.models !== 'live' || error?.code !== 'BudgetExceeded' || !('maxTrialCostUsd' in error))
    return null
  const { code, message, maxTrialCostUsd } = error
  return { code, message, maxTrialCostUsd }
}

async function stop(
  { batches, queue, recent }: BatchEngine,
  batch: Batch,
  error: ExecutionError,
): Promise<Batch> {
  const { id: batchId, organizationId } = batch
  const isFirst = await batches.stop({ batch, error, status: 'IN_PROGRESS' })
  recent.delete(batchId)
  // Lanes that have yet to start a line must not wait for the timer.
  if (isFirst) await queue.feed({ batchId, organizationId })
  return { ...batch, stopped: error }
}

async function findExcess(
  { batches, deadlineMs, limits, system }: BatchEngine,
  batch: Batch,
): Promise<ExecutionError | null> {
  const { createdAt, maxCostUsd } = batch
  if (Date.parse(createdAt) + deadlineMs <= system.now()) {
    const message = `The line had not started ${deadlineMs / 3_600_000} hours after the batch was accepted.`
    return { code: 'DeadlineExceeded', message }
  }
  if (maxCostUsd === null) return null
  if (batch.trial && limits && (await isTrialUsedUp(limits, batch, maxCostUsd)))
    return trialUsedUp(maxCostUsd)
  const { costUsd } = sumTotals(await batches.listLanes({ batch }))
  if (costUsd < maxCostUsd) return null
  if (batch.trial) return trialUsedUp(maxCostUsd)
  const message = `The lines that had ended cost $${costUsd}, and maxBatchCostUsd of the batch is ${maxCostUsd}.`
  return { code: 'BudgetExceeded', message }
}
