import pLimit from 'p-limit'
import { type LeaseTimes, nextSweep } from '../../core/lease-times.ts'
import { MAX_QUEUE_BATCH, MAX_QUEUE_DELAY_MS } from '../../core/limits.ts'
import type {
  BatchQueue,
  DeliveryQueue,
  DeliveryStore,
  ExecutionStore,
  StaleExecution,
  System,
} from '../../core/ports.ts'
import { DEADLINE_EXCEEDED } from '../../core/transitions.ts'
import { type Endings, endAbandoned } from '../end-execution.ts'
import { listedOf } from '../maintenance.ts'

type Params = Endings & {
  executions: Pick<ExecutionStore, 'postpone' | 'readTimers'>
  queue: BatchQueue
  deliveries: Pick<DeliveryStore, 'postpone'>
  deliveryQueue: DeliveryQueue
  times: LeaseTimes
  /** Timers before this time have been sent by an earlier sweep of this process. Milliseconds since the epoch. */
  sentUntil: number
}

/** Requests at the same time: as many as the SQS client has connections. */
const MAX_REQUESTS = 50

/**
 * Sends the messages that resume suspended executions, each with a delay until its time. The sweep looks two intervals
 * ahead, and sends the earliest first: one that is late, or dies, delays none. Executions that are still suspended long
 * after their time get another message, and those past their deadline end.
 *
 * A timer that enters the index later is due after `sentUntil`: a wait that is shorter has a message of its own, and is
 * due in the index when that message must have been lost (`suspend.ts`).
 * @returns until when timers have been sent
 * @throws an AggregateError at the end if some could not be sent; the next sweep sends all of them
 */
export async function sweepTimers(params: Params): Promise<number> {
  const { executions, queue, system, times, sentUntil } = params
  const now = system.now()
  const before = now + Math.min(2 * times.leaseMs, MAX_QUEUE_DELAY_MS)
  const limit = pLimit(MAX_REQUESTS)
  const errors: unknown[] = []
  for await (const page of executions.readTimers({ before })) {
    const isOverdue = ({ openUntil, deadlineAt }: StaleExecution) =>
      openUntil < now - 2 * times.graceMs || deadlineAt <= now
    const overdue = page.filter(isOverdue)
    const next = page.filter((timer) => !isOverdue(timer) && timer.openUntil >= sentUntil)
    const requests = [
      ...next.flatMap((timer) => (timer.delivery ? limit(() => sendDelivery(params, timer)) : [])),
      ...toBatches(next.filter(({ delivery }) => !delivery)).map((batch) =>
        limit(() => queue.sendBatch(batch.map((each) => toMessage(each, system)))),
      ),
      ...overdue.map((timer) => limit(() => processOverdue(params, timer))),
    ]
    const results = await Promise.allSettled(requests)
    errors.push(...results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : [])))
  }
  if (errors.length === 0) return before
  const [first] = errors
  const reason = first instanceof Error ? first.message : String(first)
  throw new AggregateError(errors, `${errors.length} requests for timers failed. First error: ${reason}`)
}

const toBatches = (timers: StaleExecution[]): StaleExecution[][] =>
  Array.from({ length: Math.ceil(timers.length / MAX_QUEUE_BATCH) }, (_, index) =>
    timers.slice(index * MAX_QUEUE_BATCH, (index + 1) * MAX_QUEUE_BATCH),
  )

const toMessage = (
  { id: executionId, organizationId, tenantId, openUntil }: StaleExecution,
  { now }: System,
) => ({
  executionId,
  organizationId,
  tenantId,
  wakes: true,
  delayMs: Math.max(openUntil - now(), 0),
})

const sendDelivery = ({ deliveryQueue, system }: Params, timer: StaleExecution): Promise<void> => {
  const { id: executionId, organizationId, openUntil, delivery } = timer
  const delayMs = Math.max(openUntil - system.now(), 0)
  return deliveryQueue.send({ executionId, organizationId, ...delivery, delayMs })
}

async function processOverdue(params: Params, timer: StaleExecution): Promise<void> {
  const { executions, deliveries, queue, system, times } = params
  const { id: executionId, openUntil: dueAt, delivery } = timer
  const now = system.now()
  if (delivery) {
    const isMoved = await deliveries.postpone({
      executionId,
      ...delivery,
      dueAt,
      until: nextSweep(times, dueAt, now),
    })
    if (isMoved) await sendDelivery(params, timer)
    return
  }
  if (timer.deadlineAt <= now) {
    await endAbandoned(params, timer, DEADLINE_EXCEEDED, listedOf(timer))
    return
  }
  const until = nextSweep(times, Date.parse(timer.createdAt), now)
  if (await executions.postpone({ stale: timer, until, now: null }))
    await queue.send(toMessage(timer, system))
}
