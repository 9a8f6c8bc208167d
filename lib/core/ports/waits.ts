import type { Signal } from '../wait.ts'
import type { StaleExecution } from './executions.ts'
import type { DeliveryId } from './notifications.ts'
import type { DeliveryMessage, FeedMessage, FiringMessage, QueuedExecution } from './queues.ts'

/** What has to be looked at when its time has come (milliseconds since the epoch), and the message that says so. */
export type Timer = { openUntil: number } & (
  | { kind: 'execution'; message: QueuedExecution; stale: StaleExecution }
  | { kind: 'delivery'; message: DeliveryMessage & DeliveryId }
  | { kind: 'batch'; message: FeedMessage }
  | { kind: 'schedule'; message: FiringMessage }
  | { kind: 'agent'; message: { organizationId: string; agentId: string } }
)

/**
 * The timers of suspended executions, pending deliveries, open batches, enabled schedules, and agents whose schedules
 * have to follow a promotion.
 */
export interface TimerStore {
  /**
   * Those that are due before this time (milliseconds since the epoch), page by page. A page is sorted by the time; the
   * next one has later ones of each shard.
   */
  read(params: { before: number }): AsyncGenerator<Timer[]>
  /** False if it has moved, or what it is the timer of does not exist any more. */
  postpone(params: {
    timer: Exclude<Timer, { kind: 'execution' | 'agent' }>
    until: number
  }): Promise<boolean>
}

/** Data sent to executions. */
export interface SignalStore {
  /** Keeps the signal, unless one with its id is known; returns the known one. */
  put(params: { executionId: string; signal: Signal }): Promise<KnownSignal>
  /** A signal that is kept, or that a wait has used since; null if there is none with this id. */
  find(params: { executionId: string; id: string }): Promise<KnownSignal | null>
  /** All signals that are kept, in the order in which they were received. */
  list(params: { executionId: string }): Promise<Signal[]>
  /** The same without their data. */
  measure(params: { executionId: string }): Promise<Pick<Signal, 'id' | 'bytes'>[]>
  /**
   * Counts a signal that is about to be kept. Used ones are counted until the next `recount`, and the first few are
   * not. Returns the count if it permits no more; `unknown`: there are too many to go on without one.
   */
  admit(params: { executionId: string; bytes: number }): Promise<'admitted' | 'unknown' | SignalCount>
  /** Replaces the last count, unless it has changed. */
  recount(params: { executionId: string; last: SignalCount | null; unread: SignalCount }): Promise<void>
  /** Deletes signals that waits have used. Their ids stay known if their senders chose them. */
  forget(params: { executionId: string; ids: string[] }): Promise<void>
}

export type KnownSignal = Pick<Signal, 'id' | 'dataHash'>

/** Signals that no wait has used. `countedAt`: milliseconds since the epoch. */
export type SignalCount = { count: number; bytes: number; countedAt: number }
