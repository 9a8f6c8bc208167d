import pLimit from 'p-limit'
import type { LeaseTimes } from '../../core/lease-times.ts'
import { nextSweep } from '../../core/lease-times.ts'
import type { ExecutionStore, RunQueue, StaleExecution, System } from '../../core/ports.ts'
import { DEADLINE_EXCEEDED } from '../../core/transitions.ts'
import { type Endings, endAbandoned, listedOf } from '../maintenance.ts'

type Params = Endings & {
  executions: Pick<ExecutionStore, 'postpone' | 'readTimers'>
  queue: RunQueue
  system: System
  times: LeaseTimes
  /** Timers before this time have been sent by an earlier sweep of this process. Milliseconds since the epoch. */
  sentUntil: number
}

/** Messages that are sent at the same time: as many as the SQS client has connections. */
const MAX_SENDS = 50

/**
 * Sends the messages that resume suspended executions, each with a delay until its time. The sweep looks two intervals
 * ahead, so that a late sweep delays none. Executions that are still suspended long after their time get another
 * message, and those past their deadline end.
 * @returns until when timers have been sent
 * @throws an AggregateError at the end if some could not be sent; the next sweep sends all of them
 */
export async function sweepTimers(params: Params): Promise<number> {
  const { executions, system, times } = params
  const before = system.now() + 2 * times.leaseMs
  const limit = pLimit(MAX_SENDS)
  const errors: unknown[] = []
  for await (const page of executions.readTimers({ before })) {
    const results = await Promise.allSettled(page.map((timer) => limit(() => processTimer(params, timer))))
    errors.push(...results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : [])))
  }
  if (errors.length === 0) return before
  const [first] = errors
  const reason = first instanceof Error ? first.message : String(first)
  throw new AggregateError(errors, `${errors.length} timers could not be sent. First error: ${reason}`)
}

async function processTimer(params: Params, timer: StaleExecution): Promise<void> {
  const { executions, queue, system, times, sentUntil } = params
  const now = system.now()
  const { id: executionId, organizationId, tenantId, createdAt, deadlineAt, openUntil } = timer
  if (deadlineAt <= now) {
    await endAbandoned(params, timer, DEADLINE_EXCEEDED, listedOf(timer))
    return
  }
  const isOverdue = openUntil < now - 2 * times.graceMs
  if (isOverdue) {
    const until = nextSweep(times, Date.parse(createdAt), now)
    if (!(await executions.postpone({ stale: timer, until, now: null }))) return
  } else if (openUntil < sentUntil) return
  const delayMs = Math.max(openUntil - now, 0)
  await queue.send({ executionId, organizationId, tenantId, wakes: true, delayMs })
}
