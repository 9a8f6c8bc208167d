import { EventEmitter, once } from 'node:events'

const events = new EventEmitter().setMaxListeners(0)

/** Notifies waiters in this process that an execution may be final. On Lambda, nobody can: waiters poll there. */
export const emitCompleted = (executionId: string): boolean => events.emit(executionId)

/** Resolves at the next event of an execution, or when the signal aborts. */
export const onceCompleted = (executionId: string, signal: AbortSignal): Promise<unknown> =>
  once(events, executionId, { signal }).catch(() => undefined)
