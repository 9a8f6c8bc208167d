import { EventEmitter, once } from 'node:events'

const endings = new EventEmitter().setMaxListeners(0)

/**
 * Tells those who wait in this process that an execution may have ended. Whoever runs executions beside this process says
 * so where it can; on Lambda nobody can.
 */
export const emitCompleted = (executionId: string): boolean => endings.emit(executionId)

/** Resolves at the next announcement of an execution, or when the signal is aborted. */
export const onceCompleted = (executionId: string, signal: AbortSignal): Promise<unknown> =>
  once(endings, executionId, { signal }).catch(() => undefined)
