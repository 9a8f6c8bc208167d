import type { Subject } from '../notification.ts'
import type { LimitSubject } from '../usage-limits.ts'
import type { SubjectKey } from './usage.ts'

/**
 * `tenantId` is the message group, so that one tenant's backlog does not delay another's. `sharesWorker`: it is
 * received in a batch with others; absent or false: alone.
 */
export type QueuedExecution = {
  executionId: string
  organizationId: string
  tenantId: string | null
  sharesWorker?: boolean
  /** It is suspended, and what it waits for may have arrived. */
  wakes?: boolean
  /** It executes a line of a batch, which comes behind other runs. */
  isLine?: boolean
  /** It has lost workers in a row, and may be what killed them. */
  isSuspect?: boolean
}

export interface RunQueue {
  /** @throws Unavailable */
  send(params: DelayedExecution): Promise<void>
}

/** `delayMs` delays delivery, 15 minutes at most. */
export type DelayedExecution = QueuedExecution & { delayMs?: number }

/** A queue that accepts `MAX_QUEUE_BATCH` messages in one request. */
export interface BatchQueue extends RunQueue {
  /** @throws Unavailable if one was not accepted; the others may have been */
  sendBatch(params: (QueueMessage & { delayMs?: number })[]): Promise<void>
}

/** Executions in a batch run alone. */
export type QueueMessage = Omit<QueuedExecution, 'sharesWorker'> | FeedMessage | FiringMessage

/** Messages of the run queue that are about no single execution. SQS can deliver each of them more than once. */
export interface FeedQueue {
  /** A batch, or one of its lanes, has to be looked at. @throws Unavailable */
  feed(params: FeedMessage & { delayMs?: number }): Promise<void>
  /** A schedule is due. @throws Unavailable */
  fire(params: FiringMessage & { delayMs?: number }): Promise<void>
}

/**
 * `line`: the one that has changed, which may have given its lane to another. `at`: it repeats an earlier message,
 * unless the timer of the batch has moved from this time.
 */
export type FeedMessage = {
  batchId: string
  organizationId: string
  lane?: number
  line?: number
  at?: number
}

/**
 * `at`: when the timer of the schedule was due, in milliseconds since the epoch. It may have moved since: `nextRunAt`
 * says whether there is anything to start.
 */
export type FiringMessage = { organizationId: string; agentId: string; schedule: string; at: number }

/** `destinationId` and `revision`: another attempt of one delivery; absent: all events that are not handled. */
export type DeliveryMessage = {
  subject: Subject
  organizationId: string
  destinationId?: string
  revision?: number
}

/** What the message says that starts it. `createdAt`: of the execution, in ISO 8601. */
export type QueuedRun = QueuedExecution & { createdAt: string }

/** Executions that wait for a slot of a subject, in the order in which they were accepted. */
export interface SlotQueue {
  /** Again does nothing. */
  enterQueue(params: { subject: LimitSubject; run: QueuedRun }): Promise<void>
  /** The first ones. */
  listQueue(params: SubjectKey & { limit: number }): Promise<QueuedRun[]>
  leaveQueue(params: {
    subject: LimitSubject
    run: Pick<QueuedRun, 'organizationId' | 'executionId' | 'createdAt'>
  }): Promise<void>
}

export interface DeliveryQueue {
  /** `delayMs`: 15 minutes at most. @throws Unavailable */
  send(params: DeliveryMessage & { delayMs?: number }): Promise<void>
}
