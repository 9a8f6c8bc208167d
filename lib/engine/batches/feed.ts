import pLimit from 'p-limit'
import { type Batch, type Lane, lineExecutionId, ownLaneOf, sumTotals } from '../../core/batch.ts'
import { type ExecutionSummary, isFinal } from '../../core/execution.ts'
import type { FeedMessage } from '../../core/ports/queues.ts'
import { describeCause, logger } from '../../logger.ts'
import { isoNow, timesOf } from '../engine.ts'
import { type BatchEngine, readOpenBatch } from './batch-engine.ts'
import { deleteHidden } from './delete-hidden.ts'
import { feedLane, RETRY_MS } from './lane.ts'
import { hasWaited } from './next-line.ts'
import { sumTrial } from './sum-trial.ts'

/** How long one message starts lines: cache hits end at once, and a batch can consist of them. */
const WORK_MS = 10_000
const PARALLEL_LANES = 32
/** Lines with lanes of their own that one look reads. Only those are found here whose messages were lost. */
const MAX_WAITING_READ = 100

/**
 * Looks at a batch or one of its lanes: starts the lines that have to be, and ends it after the last one. A hidden
 * batch is deleted.
 * @throws whatever fails: another message or the timer tries it again
 */
export async function feedBatch(engine: BatchEngine, message: FeedMessage): Promise<void> {
  const { batchId: id, organizationId, lane, line, at } = message
  const until = engine.system.now() + WORK_MS
  const batch = await engine.batches.get({ organizationId, id })
  if (!batch) return lane === undefined ? deleteHidden(engine, message, until) : undefined
  if (batch.status === 'ENDED') return
  engine.recent.set(id, batch)
  if (lane !== undefined) return feedOne(engine, batch, { lane, line }, { until })
  if (at === undefined || at === batch.openUntil) await feedAll(engine, batch, until)
}

/**
 * After a line has ended, begins to wait or goes on: starts the next one if it may, or sends a message that does.
 * @throws Unavailable
 */
export async function afterLine(engine: BatchEngine, changed: ExecutionSummary): Promise<void> {
  const { organizationId, batch: line } = changed
  if (!line) return
  const ended = isFinal(changed) ? changed : undefined
  const until = engine.system.now() + WORK_MS
  try {
    const batch = await readOpenBatch(engine, { id: line.id, organizationId })
    if (batch) await feedOne(engine, batch, line, { until, ended })
  } catch (error) {
    const message = { batchId: line.id, organizationId, lane: line.lane, line: line.line }
    logger.warn('next line not started', { ...message, cause: describeCause(error) })
    await engine.queue.feed({ ...message, delayMs: RETRY_MS })
  }
}

async function feedOne(
  engine: BatchEngine,
  batch: Batch,
  { lane: first, line }: { lane: number; line?: number | undefined },
  { until, ended }: { until: number; ended?: ExecutionSummary | undefined },
): Promise<void> {
  const known = engine.lanes.get(`${batch.id}/${first}`)
  const isKnown = known !== undefined && known.line === ended?.batch?.line
  let lane = isKnown ? known : await engine.batches.getLane({ batch, number: first })
  if (line !== undefined && lane.line !== line && (await hasOwnLane(engine, batch, line, ended)))
    lane = await engine.batches.getLane({ batch, number: ownLaneOf(batch, line) })
  const { number } = lane
  const isOfLane = ended?.batch?.line === lane.line
  const fed = await feedLane(engine, batch, lane, { until, ended: isOfLane ? ended : undefined })
  if (fed === 'open') return
  if (fed === 'ended') return endIfDone(engine, batch)
  const delayMs = fed === 'unfinished' ? 0 : fed.retryMs
  await engine.queue.feed({ batchId: batch.id, organizationId: batch.organizationId, lane: number, delayMs })
}

/** Whether a line has left its lane. */
async function hasOwnLane(
  { executions }: BatchEngine,
  batch: Batch,
  line: number,
  ended: ExecutionSummary | undefined,
): Promise<boolean> {
  const key = { organizationId: batch.organizationId, id: lineExecutionId(batch, line) }
  const execution = ended ?? (await executions.getSummary(key))
  return execution !== null && hasWaited(execution)
}

/** The timer is moved first: it repairs what this process does not finish. */
async function feedAll(engine: BatchEngine, batch: Batch, until: number): Promise<void> {
  const { batches, queue, system } = engine
  const { id, organizationId } = batch
  await batches.postpone({ id, openUntil: system.now() + timesOf(engine).leaseMs })
  const limit = pLimit(PARALLEL_LANES)
  const all = await batches.listLanes({ batch })
  // A look reads each line. Those that wait can be many, and wait for days.
  const waiting = all.slice(batch.lanes).filter(({ line }) => line !== null).length
  const isRead = ({ number, line }: Lane) =>
    number < batch.lanes || (line !== null && Math.random() * waiting < MAX_WAITING_READ)
  const lanes = batch.status === 'CANCELLING' ? all : all.filter(isRead)
  const results = await Promise.all(
    lanes.map((lane) =>
      limit(() => feedLane(engine, batch, lane, { until })).catch((error: unknown) => {
        logger.warn('lane not fed', { batchId: id, lane: lane.number, cause: describeCause(error) })
        return { retryMs: RETRY_MS }
      }),
    ),
  )
  const unfinished = lanes.filter((_, index) => results[index] === 'unfinished')
  await Promise.all(
    unfinished.map(({ number }) => limit(() => queue.feed({ batchId: id, organizationId, lane: number }))),
  )
  if (results.every((result) => result === 'ended')) return endIfDone(engine, batch)
  const repeated = results.flatMap((result) => (typeof result === 'object' ? result.retryMs : []))
  if (batch.status === 'CANCELLING') repeated.push(RETRY_MS)
  if (repeated.length === 0) return
  const delayMs = Math.min(...repeated)
  const openUntil = system.now() + delayMs
  await batches.postpone({ id, openUntil })
  await queue.feed({ batchId: id, organizationId, at: openUntil, delayMs })
}

/**
 * Ends a batch whose lanes have no lines left. The last lane sees this, because it is written before. A line's own lane
 * is written before it is handed over: no read of the lanes that misses one sees all of them.
 */
async function endIfDone(engine: BatchEngine, batch: Batch): Promise<void> {
  const { batches, recent, system } = engine
  const lanes = await batches.listLanes({ batch })
  const handedOver = lanes.reduce((sum, lane) => sum + (lane.handedOver ?? 0), 0)
  if (lanes.some(({ line }) => line !== null) || lanes.length < batch.lanes + handedOver) return
  const sums = batch.trial && (await sumTrial(engine, batch))
  await batches.end({ batch, totals: sumTotals(lanes), sums, endedAt: isoNow(system) })
  recent.delete(batch.id)
}
