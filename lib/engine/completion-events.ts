import { EventEmitter } from 'node:events'

const events = new EventEmitter().setMaxListeners(0)

/** Notifies waiters in this process that an execution may be final. On Lambda, nobody can: waiters poll there. */
export const emitCompleted = (executionId: string): boolean => events.emit(executionId)

/** Calls the listener at the next event of an execution. @returns what ends that */
export function onceCompleted(executionId: string, listener: () => void): () => void {
  events.once(executionId, listener)
  return () => events.off(executionId, listener)
}
