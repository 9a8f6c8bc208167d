import { setTimeout as sleep } from 'node:timers/promises'
import type { ExecutionStatus } from '../core/execution.ts'
import type { ExecutionStore } from '../core/ports.ts'
import { onceCompleted } from './completion-events.ts'

type Params = {
  executions: Pick<ExecutionStore, 'getStatus'>
  organizationId: string
  id: string
  timeoutMs: number
  signal?: AbortSignal
}

const FIRST_POLL_MS = 50
const MAX_POLL_MS = 1_000

/**
 * Waits until an execution is final, and returns its status: `IN_PROGRESS` after the timeout, null if it does not
 * exist. Reads the status at least once, as soon as this process learns of the completion, and otherwise at growing
 * intervals.
 * @throws the signal's reason when it aborts
 */
export async function waitForCompletion({
  executions,
  organizationId,
  id,
  timeoutMs,
  signal,
}: Params): Promise<ExecutionStatus | null> {
  const deadline = performance.now() + timeoutMs
  for (let pollMs = FIRST_POLL_MS; ; pollMs = Math.min(pollMs * 1.5, MAX_POLL_MS)) {
    signal?.throwIfAborted()
    const round = new AbortController()
    const woken = signal ? AbortSignal.any([round.signal, signal]) : round.signal
    // Subscribed before the read, so that no event is missed in between.
    const completed = onceCompleted(id, woken)
    try {
      const status = await executions.getStatus({ organizationId, id })
      const remainingMs = deadline - performance.now()
      if (status !== 'IN_PROGRESS' || remainingMs <= 0) return status
      const pause = sleep(Math.min(pollMs, remainingMs), undefined, { signal: woken })
      await Promise.race([completed, pause.catch(() => undefined)])
    } finally {
      round.abort()
    }
  }
}
