import { EventEmitter } from 'node:events'
import { type Execution, isFinal } from '../core/execution.ts'
import type { ExecutionStore } from '../core/ports/executions.ts'

const events = new EventEmitter().setMaxListeners(0)

/** Notifies waiters in this process that an execution may be final. On Lambda, nobody can: waiters poll there. */
export const emitCompleted = (executionId: string): boolean => events.emit(executionId)

/** Calls the listener at the next event of an execution. @returns what ends that */
export function onceCompleted(executionId: string, listener: () => void): () => void {
  events.once(executionId, listener)
  return () => events.off(executionId, listener)
}

type Params = {
  executions: Pick<ExecutionStore, 'get' | 'getState'>
  organizationId: string
  id: string
  timeoutMs: number
  signal?: AbortSignal
  /**
   * `suspension`: also ends when the execution is suspended. `nextSuspension`: not for the suspension that the first
   * read finds, since what it waits for may have arrived.
   */
  until?: 'suspension' | 'nextSuspension'
}

/**
 * Between two reads of the status. Longer intervals save reads, but bill more of the time after the end:
 * docs/decisions/0037-events.md has the prices of both.
 */
export const INTERVAL_MS = { first: 100, factor: 1.5, max: 1_500 }

/**
 * Waits until an execution is final, and returns it: `IN_PROGRESS` after the timeout, null if it does not exist. Reads
 * the record when this process learns of the completion, and until then the status, at least once and at growing
 * intervals.
 * @throws the signal's reason when it aborts
 */
export async function waitForCompletion({
  executions,
  timeoutMs,
  signal,
  until,
  ...key
}: Params): Promise<Execution | 'IN_PROGRESS' | null> {
  const deadline = performance.now() + timeoutMs
  const readFinal = async () => {
    const execution = await executions.get(key)
    return execution && !isFinal(execution) ? 'IN_PROGRESS' : execution
  }
  let isNotified = false
  /** Since when it was suspended, as known. */
  let known: number | null | undefined = until === 'suspension' ? null : undefined
  const { first, factor, max } = INTERVAL_MS
  for (let pollMs = first; ; pollMs = Math.min(pollMs * factor, max)) {
    signal?.throwIfAborted()
    const woken = Promise.withResolvers<boolean>()
    const wake = () => woken.resolve(false)
    let timer: NodeJS.Timeout | undefined
    signal?.addEventListener('abort', wake, { once: true })
    // Subscribed before the read, so that no event is missed in between.
    const ignore = onceCompleted(key.id, () => woken.resolve(true))
    try {
      const state = isNotified && !until ? null : await executions.getState(key)
      const result = state?.status === 'IN_PROGRESS' ? state.status : await readFinal()
      const suspendedAt = state?.suspendedAt ?? null
      const waitsAgain = until && known !== undefined && suspendedAt !== null && suspendedAt !== known
      const remainingMs = deadline - performance.now()
      if (result !== 'IN_PROGRESS' || waitsAgain || remainingMs <= 0) return result
      known = suspendedAt
      timer = setTimeout(wake, Math.min(pollMs, remainingMs))
      isNotified = await woken.promise
    } finally {
      ignore()
      clearTimeout(timer)
      signal?.removeEventListener('abort', wake)
    }
  }
}
