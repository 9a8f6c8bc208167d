import pLimit from 'p-limit'
import type { LeaseTimes } from '../lib/core/lease-times.ts'
import { MAX_QUEUE_DELAY_MS } from '../lib/core/limits.ts'
import type { ExecutionStore } from '../lib/core/ports/executions.ts'
import type { BatchQueue } from '../lib/core/ports/queues.ts'
import type { System } from '../lib/core/ports/system.ts'
import type { TimerStore } from '../lib/core/ports/waits.ts'

type Params = {
  executions: Pick<ExecutionStore, 'getSuspended'>
  timers: Pick<TimerStore, 'read'>
  queue: Pick<BatchQueue, 'sendBatch'>
  system: Pick<System, 'now'>
  times: LeaseTimes
}

/** Reads at the same time. */
const MAX_READS = 50

/**
 * Sends the messages again that resume suspended runs, which the queue in memory has lost with the last process: of all
 * runs whose time comes before the longest delay of a message is over. The sweeper would send them only two grace
 * periods after their time. A second message for a run changes nothing.
 */
export async function loadTimers({ executions, timers, queue, system, times }: Params): Promise<void> {
  const now = system.now()
  const limit = pLimit(MAX_READS)
  for await (const page of timers.read({ before: now + MAX_QUEUE_DELAY_MS + 2 * times.graceMs })) {
    const messages = page.flatMap((timer) => (timer.kind === 'execution' ? [timer.message] : []))
    const loading = messages.map((message) =>
      limit(async () => {
        const suspended = await executions.getSuspended({ id: message.executionId })
        const delayMs = suspended ? Math.max(suspended.suspension.until - now, 0) : MAX_QUEUE_DELAY_MS
        if (delayMs < MAX_QUEUE_DELAY_MS) await queue.sendBatch([{ ...message, delayMs }])
      }),
    )
    await Promise.all(loading)
  }
}
