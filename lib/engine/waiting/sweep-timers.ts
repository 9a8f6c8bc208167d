import { LRUCache } from 'lru-cache'
import pLimit from 'p-limit'
import { DEADLINE_EXCEEDED } from '../../core/execution-errors.ts'
import { type LeaseTimes, MAX_GRACE, nextSweep } from '../../core/lease-times.ts'
import { MAX_QUEUE_BATCH, MAX_QUEUE_DELAY_MS } from '../../core/limits.ts'
import type { ExecutionStore } from '../../core/ports/executions.ts'
import type { BatchQueue, DeliveryQueue } from '../../core/ports/queues.ts'
import type { Timer, TimerStore } from '../../core/ports/waits.ts'
import { type Endings, endAbandoned } from '../end-execution.ts'
import { listedOf, reasonsOf, throwAny } from '../maintenance.ts'

type Params = Endings & {
  executions: Pick<ExecutionStore, 'postpone'>
  timers: TimerStore
  queue: BatchQueue
  deliveryQueue: DeliveryQueue
  times: LeaseTimes
  /** Makes the schedules of an agent those of its current version; none by default. */
  sync?: (agent: AgentTimer['message']) => Promise<void>
  /** Kept by the caller from one sweep to the next. */
  sent: SentTimers
}

type AgentTimer = Extract<Timer, { kind: 'agent' }>
type QueuedTimer = Exclude<Timer, AgentTimer>

/** By the message of a timer: for which time this process has sent it. */
export type SentTimers = LRUCache<string, number>
export const newSentTimers = (): SentTimers => new LRUCache({ max: 100_000 })

/** Requests at the same time: as many as the SQS client has connections. */
const MAX_REQUESTS = 50

/**
 * Sends the messages about what is due, each with a delay until its time. The sweep looks two intervals ahead, and
 * sends the earliest first: one that is late, or dies, delays none. What is still due long after its time gets another
 * message, and executions past their deadline end.
 *
 * A timer can enter the index after the sweep before its time. A wait that is so short has a message of its own, and is
 * due in the index when that message must have been lost (`suspend.ts`).
 * @throws an AggregateError at the end if some could not be sent; the next sweep sends them
 */
export async function sweepTimers(params: Params): Promise<void> {
  const { timers, system, times, sent } = params
  const now = system.now()
  const before = now + Math.min(2 * times.leaseMs, MAX_QUEUE_DELAY_MS)
  const limit = pLimit(MAX_REQUESTS)
  const errors: unknown[] = []
  for await (const all of timers.read({ before })) {
    const agents = all.filter((timer) => timer.kind === 'agent')
    const page = all.filter((timer) => timer.kind !== 'agent')
    const isOverdue = (timer: QueuedTimer) =>
      timer.openUntil < now - overdueMs(timer, times) || isTooLate(timer, now)
    const overdue = page.filter(isOverdue)
    const next = page.filter((timer) => !isOverdue(timer) && sent.get(idOf(timer)) !== timer.openUntil)
    const requests = [
      // Another process does it until then.
      ...agents
        .filter(({ openUntil }) => openUntil <= now)
        .map((timer) => limit(async () => params.sync?.(timer.message))),
      ...toBatches(next).map((batch) => limit(() => send(params, batch))),
      ...toBatches(overdue).map((batch) => limit(() => processOverdue(params, batch))),
    ]
    errors.push(...reasonsOf(await Promise.allSettled(requests)))
  }
  throwAny(errors, 'requests for timers failed')
}

const idOf = ({ message }: QueuedTimer): string => JSON.stringify(message)

/**
 * How long after its time the message of a timer must have been lost. Many schedules can be due at the same minute:
 * their messages wait in the queue, on one machine for longer than a short lease, and more of them would not help.
 */
const overdueMs = ({ kind }: QueuedTimer, { graceMs }: LeaseTimes): number =>
  kind === 'schedule' ? Math.max(2 * graceMs, Math.min(MAX_GRACE * graceMs, MAX_LOST_MS)) : 2 * graceMs
const MAX_LOST_MS = 120_000

const isTooLate = (timer: QueuedTimer, now: number): boolean =>
  timer.kind === 'execution' && timer.stale.deadlineAt <= now

/** Each has messages of one queue, which accepts them in one request. */
function toBatches(timers: QueuedTimer[]): QueuedTimer[][] {
  const isDelivery = ({ kind }: QueuedTimer) => kind === 'delivery'
  return [
    ...timers.filter(isDelivery).map((timer) => [timer]),
    ...chunksOf(timers.filter((timer) => !isDelivery(timer))),
  ]
}

const chunksOf = (timers: QueuedTimer[]): QueuedTimer[][] =>
  Array.from({ length: Math.ceil(timers.length / MAX_QUEUE_BATCH) }, (_, index) =>
    timers.slice(index * MAX_QUEUE_BATCH, (index + 1) * MAX_QUEUE_BATCH),
  )

async function send({ queue, deliveryQueue, system, sent }: Params, timers: QueuedTimer[]): Promise<void> {
  const delayOf = ({ openUntil }: QueuedTimer) => Math.max(openUntil - system.now(), 0)
  const messages = timers.flatMap((timer) => {
    return timer.kind === 'delivery' ? [] : { ...timer.message, delayMs: delayOf(timer) }
  })
  if (messages.length > 0) await queue.sendBatch(messages)
  for (const timer of timers) {
    if (timer.kind === 'delivery') await deliveryQueue.send({ ...timer.message, delayMs: delayOf(timer) })
    sent.set(idOf(timer), timer.openUntil)
  }
}

/** Moves these timers, and sends them again. */
async function processOverdue(params: Params, timers: QueuedTimer[]): Promise<void> {
  const results = await Promise.allSettled(timers.map((timer) => move(params, timer)))
  const moved = timers.filter((_, index) => {
    const result = results[index]
    return result?.status === 'fulfilled' && result.value
  })
  await send(params, moved)
  const failed = results.find((result) => result.status === 'rejected')
  if (failed) throw failed.reason
}

/** False if nothing has to be sent. */
async function move(params: Params, timer: QueuedTimer): Promise<boolean> {
  const { executions, timers, system, times } = params
  const now = system.now()
  if (timer.kind !== 'execution')
    return timers.postpone({ timer, until: nextSweep(times, timer.openUntil, now) })
  const { stale } = timer
  if (isTooLate(timer, now)) {
    await endAbandoned(params, stale, DEADLINE_EXCEEDED, listedOf(stale))
    return false
  }
  const until = nextSweep(times, Date.parse(stale.createdAt), now)
  return (await executions.postpone({ stale, until, now: null, restores: true })) !== null
}
