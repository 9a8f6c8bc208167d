import pLimit from 'p-limit'
import { MAX_QUEUE_DELAY_MS } from '../lib/core/limits.ts'
import type { ExecutionStore } from '../lib/core/ports/executions.ts'
import type { BatchQueue } from '../lib/core/ports/queues.ts'
import type { System } from '../lib/core/ports/system.ts'
import type { SignalStore, TimerStore } from '../lib/core/ports/waits.ts'
import type { Engine } from '../lib/engine/engine.ts'
import { hasArrived } from '../lib/engine/waiting/wake.ts'

type Params = {
  executions: Pick<ExecutionStore, 'getStatus' | 'getSuspended'>
  signals: Pick<SignalStore, 'list'>
  steps: Pick<Engine['steps'], 'hasResult' | 'read'>
  timers: Pick<TimerStore, 'read'>
  queue: Pick<BatchQueue, 'sendBatch'>
  system: Pick<System, 'now'>
}

/** Executions that are looked at at the same time. */
const MAX_READS = 50

/**
 * Sends the messages again that resume suspended runs, which the queue in memory has lost with the last process: of
 * runs for which something has arrived, at once, and of those whose time comes before the longest delay of a message is
 * over. The sweeper would send them only two grace periods after their time. A second message for a run changes
 * nothing.
 */
export async function loadTimers({ timers, queue, system, ...stores }: Params): Promise<void> {
  const now = system.now()
  const limit = pLimit(MAX_READS)
  for await (const page of timers.read({ before: Number.MAX_SAFE_INTEGER })) {
    const messages = page.flatMap((timer) => (timer.kind === 'execution' ? [timer.message] : []))
    const loading = messages.map((message) =>
      limit(async () => {
        const suspended = await stores.executions.getSuspended({ id: message.executionId })
        if (!suspended) return
        const remainingMs = Math.max(suspended.suspension.until - now, 0)
        const delayMs = (await hasArrived({ ...stores, system }, suspended)) ? 0 : remainingMs
        if (delayMs < MAX_QUEUE_DELAY_MS) await queue.sendBatch([{ ...message, delayMs }])
      }),
    )
    await Promise.all(loading)
  }
}
