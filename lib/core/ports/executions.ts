import type {
  Execution,
  ExecutionSummary,
  LeasedExecution,
  LostStep,
  Outcome,
  Progress,
  SuspendedExecution,
} from '../execution.ts'
import type { ExecutionError } from '../execution-errors.ts'
import type { LearningStore } from '../learning.ts'
import type { Lease } from '../lease-times.ts'
import type { Score } from '../score.ts'
import type { Suspend } from '../suspension.ts'
import type { EndOfWait, Release, Renewal } from '../transitions.ts'
import type { ExecutionReader } from './execution-reader.ts'
import type { OwnedId } from './system.ts'

/** `isMarked`: the write also enters a final execution into the outbox (`DeliveryStore.readOutbox`). */
export type Marking = { isMarked?: boolean }

/**
 * Of a write by which an execution is final. `sendBefore`: later, it fails with `Unavailable` (milliseconds since the
 * epoch); by default, `MAX_ENDING_MS` after the call. The caller has taken the time of the end directly before.
 */
type Ending = Marking & { sendBefore?: number }

export interface ExecutionStore extends ExecutionReader, LearningStore {
  /** Records an accepted execution. False if the id exists; then nothing changes. */
  create(
    params: {
      execution: Execution
      /** When one counts that is final, in milliseconds since the epoch: now, if it was accepted before. */
      countedAt?: number
    } & Ending,
  ): Promise<boolean>
  /**
   * Takes the lease of an open execution that does not wait. `held`: another lease is live; `closed`: it is final or
   * deleted.
   */
  claim(params: {
    id: string
    lease: Lease
    now: number
  }): Promise<LeasedExecution | 'held' | 'suspended' | 'closed'>
  /** Gives up the lease until `wake`; false if the owner had lost it. */
  suspend(params: { execution: ExecutionSummary; owner: string } & Suspend): Promise<boolean>
  /** The events of a suspended execution are handled: its timer is due at `openUntil`. */
  clearEvents(params: { execution: SuspendedExecution; openUntil: number }): Promise<void>
  /** Takes the lease of a suspended execution; null if that suspension is over. */
  wake(params: {
    execution: SuspendedExecution
    lease: Lease
    openUntil: number
    now: number
  }): Promise<LeasedExecution | null>
  /** Extends the lease; null if the owner has lost it. */
  renew(params: { id: string } & Renewal): Promise<Pick<Execution, 'watchedUntil'> | null>
  /** Tells the worker of an open execution, at its next renewal, that readers in other processes follow it. */
  watch(params: { organizationId: string; id: string; until: number }): Promise<void>
  /** Gives up the lease so that another worker can continue; false if the owner had lost it. */
  release(params: { id: string; owner: string } & Release): Promise<boolean>
  /**
   * Ends the execution; null if its worker no longer holds the lease. `staysListed`: `listStale` lists it until it is
   * settled.
   */
  finish(
    params: {
      execution: LeasedExecution
      outcome: Outcome
      finishedAt: string
      staysListed?: boolean
    } & Ending,
  ): Promise<Execution | null>
  /** Ends an open execution, regardless of its lease; null if it is final or does not exist. */
  end(
    params: {
      organizationId: string
      id: string
      /** As it was read: only with it, the end is an event. */
      execution?: ExecutionSummary
      error: ExecutionError
      finishedAt: string
      /** The progress recorded with its last step; null keeps what the record has. */
      progress?: (Progress & { lostSteps?: LostStep[] }) | null
      /** Only if no lease was live at this time, and if it does not wait. */
      unleasedAt?: number
      /** Only if the record still has these values. */
      listed?: { openUntil: number; deadlineAt: number }
      /** `listStale` lists it, as soon as it is final, until it is settled. */
      staysListed?: boolean
      /** The end of the wait of a suspended execution, only if it still is suspended. */
      wait?: EndOfWait | null
    } & Ending,
  ): Promise<Execution | null>
  /**
   * Of a final execution that stayed listed: when it is due again; null if nothing is left to do. `markedAt`: it is
   * also entered into the outbox, with this time.
   */
  settle(params: {
    execution: ExecutionSummary
    until: number | null
    markedAt?: string | false
  }): Promise<void>
  /** Sets what a scorer says about an execution, if that has the scorer. Again does nothing. */
  setScore(params: { organizationId: string; id: string; score: Score }): Promise<void>
  /**
   * Deletes a final execution and everything that belongs to it. An interrupted deletion, and what late writers add, is
   * left to `cleanUp`. Its events are delivered all the same. `awaited`: it has a parent and has not been settled.
   */
  delete(params: OwnedId & { now: number }): Promise<'deleted' | 'missing' | 'open' | 'awaited'>
  /**
   * No execution is created with this id any more by a process that is about to; false if one was, or if the id was
   * refused before. `idempotencyId`: what is bound to the id gets another one.
   */
  refuse(params: OwnedId & { now: number; idempotencyId?: string | null }): Promise<boolean>
  /** Cleanups that are due at `now`. */
  listCleanups(params: { now: number; limit: number }): Promise<Cleanup[]>
  /** Completes a deletion, or deletes a payload that nothing refers to. */
  cleanUp(params: { cleanup: Cleanup; now: number }): Promise<void>
  /**
   * Open executions whose lease or queue grace period had expired at `now`, oldest expiry first, and final ones that
   * have stayed listed.
   */
  listStale(params: { now: number; limit: number }): Promise<StaleExecution[]>
  /** A page of the open executions of all organizations, in no order. A page can be short. */
  listOpen(params: { limit: number; after: OpenPosition | null }): Promise<OpenPage>
  /** Makes an open execution due for the next sweep, with a new deadline; false if it is final or a lease is live. */
  resume(params: {
    execution: Pick<Execution, 'id' | 'createdAt' | 'suspension'>
    now: number
    deadlineAt: number
  }): Promise<boolean>
  /**
   * Postpones the next sweep of a stale execution; null if a worker has claimed it. `now`: null for a suspended one.
   * `restores`: also writes the keys by which it is found, which the process that created it may not have written.
   */
  postpone(params: {
    stale: StaleExecution
    until: number
    now: number | null
    restores?: true
  }): Promise<
    (Pick<Execution, 'attempts' | 'attemptsSinceProgress' | 'sharesWorker'> & { isLine?: true }) | null
  >
}

/** An entry of the sweeper's index. */
export type StaleExecution = Pick<
  Execution,
  'id' | 'organizationId' | 'tenantId' | 'createdAt' | 'deadlineAt'
> & { openUntil: number }

/** Where a page of open executions ended: in which shard of the index, and at which of its entries. */
export type OpenPosition = { shard: number; entry: Record<string, unknown> | null }

export type OpenPage = { items: ExecutionSummary[]; next: OpenPosition | null }

/** A check of one item of an execution: a payload whose record may not exist, or a deletion that may be incomplete. */
export type Cleanup = { executionId: string; item: string; dueAt: number }
