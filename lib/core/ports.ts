import type { Visibility } from './access.ts'
import type { Agent, Organization, Token, Version, VersionStatus } from './agent.ts'
import type { Batch, Lane, LaneTotals, LineInput } from './batch.ts'
import type { ListPosition } from './cursor.ts'
import type {
  Execution,
  ExecutionError,
  ExecutionResult,
  ExecutionStatus,
  ExecutionSummary,
  Feedback,
  Lease,
  LeasedExecution,
  LostStep,
  Outcome,
  Progress,
  SuspendedExecution,
} from './execution.ts'
import type { JsonObject } from './json/json.ts'
import type { LearningStore, Teachers } from './learning.ts'
import type { ServedDeclarations } from './model.ts'
import type { Delivery, Subject, Webhook, WebhookSecret } from './notification.ts'
import type { AbortedEvent, AbortedRollout, Rollout } from './rollout.ts'
import type { Schedule } from './schedule.ts'
import type { EndOfWait, Release, Renewal, Suspend } from './transitions.ts'
import type { TrialSums } from './trial.ts'
import type { UsageEntry, UsageInterval, UsageRow } from './usage.ts'
import type { LimitSubject, LimitWarning, SpendingSubject, Spent, StoredLimits } from './usage-limits.ts'
import type { Signal } from './wait.ts'

/** The clock (milliseconds since the epoch) and the id generator (UUIDv7). Passed in, so that tests control both. */
export type System = { now: () => number; newId: () => string }

/** One page of a list, newest first. `next` is where the following page begins; null on the last page. */
export type Page<T> = { items: T[]; next: ListPosition | null }

/** `searched`: of a list with a search, how many executions it has looked at, and back to which time (ISO 8601). */
export type SearchedPage<T> = Page<T> & { searched?: { executions: number; until: string | null } }

export type PageRequest = { limit: number; after: ListPosition | null }

export interface OrganizationStore {
  create(params: { organization: Organization }): Promise<void>
  get(params: { id: string }): Promise<Organization | null>
  list(params: PageRequest): Promise<Page<Organization>>
}

export interface TokenStore {
  /** False if a token with this hash exists. */
  create(params: { token: Token }): Promise<boolean>
  /** The token with this SHA-256 (hexadecimal), even if it is expired or revoked. */
  getByHash(params: { hash: string }): Promise<Token | null>
  list(params: { organizationId: string } & PageRequest): Promise<Page<Token>>
  /** Sets the hour of the last use, unless it is set to this hour or a later one. */
  recordUse(params: { hash: string; lastUsedAt: string }): Promise<void>
  /** The token with this id, even if it is expired or revoked. */
  get(params: { id: string }): Promise<Token | null>
  /** Returns the token; null if it does not exist. Revoking twice keeps the first time. */
  revoke(params: { hash: string; revokedAt: string }): Promise<Token | null>
  /** Lets the token end at this time, unless it ends before or is revoked. Returns it; null if it does not exist. */
  expire(params: { hash: string; expiresAt: string }): Promise<Token | null>
}

export interface RateStore {
  /** Counts a request of a token in a second (since the epoch). Returns the number of requests in it so far. */
  count(params: { tokenId: string; second: number }): Promise<number>
  /** Adds bytes to those of an organization in a minute (since the epoch). Returns their sum so far. */
  addBytes(params: { organizationId: string; minute: number; bytes: number }): Promise<number>
  /**
   * Counts a process that open requests of an organization occupy in a window of time, which ends at `endsAt`
   * (milliseconds since the epoch). `name`: of the counter. Returns the number of processes in it so far.
   */
  countProcess(params: {
    organizationId: string
    name: string
    window: number
    endsAt: number
  }): Promise<number>
}

/** A synchronous run, an event stream of a run that is not part of the request, or a wait for an execution. */
export type OpenRequestKind = 'run' | 'stream' | 'wait'

/** Limits the requests that stay open while an execution runs. */
export interface OpenRequests {
  /** @throws TooManyOpenRequests if it is known that the owner may have no more */
  hold(kind: OpenRequestKind, owner: { tokenId: string; organizationId: string }): Promise<HeldRequest>
}

export type HeldRequest = {
  /** Aborts when the request has to end because others of its organization take up its share. */
  full: AbortSignal
  /** The request has ended. Calling it again does nothing. */
  release: () => void
}

/** `agentIds`: 50 at most; null for all agents of the organization. `archived`: also lists archived agents. */
export type AgentListParams = {
  organizationId: string
  agentIds?: string[] | null
  archived?: boolean
} & PageRequest

export type VersionId = { organizationId: string; agentId: string; id: string }

export interface AgentStore {
  /**
   * Writes the version and its code, then points the agent to it; creates the agent if it does not exist. Returns false
   * if the agent is archived, or if `replaces` is given and is not the id of the agent's current version (of its draft,
   * for a draft; null: it has none). Then the version exists, but nothing refers to it; with `isWritten`, the next call
   * does not write it again. `syncAt`: its schedules have to follow, from then on.
   */
  publish(params: {
    version: Version
    code: string | null
    replaces?: string | null
    isWritten?: boolean
    syncAt?: number | null
  }): Promise<boolean>
  /**
   * Makes a version current, as it is. `draftVersionId` and `current`: the agent's, as read before; `message`: replaces
   * that of a draft; `syncAt`: when schedules have to follow if one of the two versions declares some. Returns null if
   * the draft or the current version has changed, if the agent or the version does not exist, if the agent is archived,
   * or the version retired.
   */
  promote(
    params: VersionId & {
      draftVersionId: string | null
      current: Version | null
      promotedAt: string
      syncAt: number
      message?: string | undefined
    },
  ): Promise<Agent | null>
  /**
   * Starts or changes a rollout; a draft is published by it, without becoming current. `draftVersionId`, `current` and
   * `replaces`: the agent's, as read before. With abort rules, it enters the agent into the timers before. Null if one
   * of the three has changed, if the agent or the version does not exist, if the agent is archived, or the version
   * retired. `now`: milliseconds since the epoch.
   */
  setRollout(params: {
    organizationId: string
    agentId: string
    draftVersionId: string | null
    current: Pick<Version, 'id'>
    replaces: Rollout | null
    rollout: Rollout
    now: number
  }): Promise<Agent | null>
  /** Ends this rollout, as read before, for good or with the reason. Null if it has changed or ended. */
  endRollout(params: {
    organizationId: string
    agentId: string
    rollout: Rollout
    aborted?: AbortedRollout
  }): Promise<Agent | null>
  /** The event of a rollout that the service has ended is told. */
  setAbortTold(params: { agentId: string; aborted: AbortedRollout }): Promise<void>
  /** Moves the timer of an agent whose schedules have to follow. Null if it was moved before. */
  claimSync(params: { agentId: string; syncAt: number; until: number }): Promise<Agent | null>
  /** The schedules are those of this version. False if another one is current, or if the timer was moved. */
  finishSync(params: { agentId: string; syncAt: number; versionId: string | null }): Promise<boolean>
  /**
   * Deletes a version with this status, and its code. `other`: it has the other status. A deletion that was interrupted
   * is completed by the next one.
   */
  deleteVersion(params: VersionId & { status: VersionStatus }): Promise<'deleted' | 'missing' | 'other'>
  /** Archives or restores (null) an agent; archiving twice keeps the first time. Null if the agent does not exist. */
  setArchived(params: Pick<Agent, 'organizationId' | 'id' | 'archivedAt'>): Promise<Agent | null>
  /**
   * Retires a version of the agent or makes it usable again (null); retiring twice keeps the first time. Null if it is
   * the agent's current version or in a rollout, or if the agent does not exist.
   */
  setRetired(params: VersionId & { retiredAt: string | null }): Promise<Agent | null>
  get(params: { organizationId: string; id: string }): Promise<Agent | null>
  list(params: AgentListParams): Promise<Page<Agent>>
  getVersion(params: VersionId): Promise<Version | null>
  /** Published versions and drafts, newest first. */
  listVersions(params: { organizationId: string; agentId: string } & PageRequest): Promise<Page<Version>>
  /** The bundled ES module of a code agent's version. */
  getCode(params: { agentId: string; versionId: string }): Promise<string | null>
}

/** Rollouts that the service may end, and what destinations are told of those that it has ended. */
export interface RolloutStore {
  /** Agents with a rollout that has abort rules, or had one. */
  listWatched(): Promise<{ organizationId: string; agentId: string }[]>
  /** Unless a rollout was started, or changed, at this time (milliseconds since the epoch) or later. */
  unwatch(params: { agentId: string; before: number }): Promise<void>
  /** Keeps what destinations are told, and enters it into the outbox at this time. False if it is kept. */
  putAborted(params: { aborted: AbortedEvent; now: number }): Promise<boolean>
  getAborted(params: { organizationId: string; id: string }): Promise<AbortedEvent | null>
}

/** `from` is included, `to` is not; both are milliseconds since the epoch, compared with the time in the id. */
export type ExecutionFilter = {
  status: ExecutionStatus | null
  /** Suspended executions: all of them, or those that wait for an approval. `none`: those that are not suspended. */
  waiting?: 'any' | 'approval' | 'none' | undefined
  tenantId: string | null
  from?: number | undefined
  to?: number | undefined
  /** A page looks at `MAX_SEARCHED` executions at most, so that it can be short or empty. */
  search?: ExecutionSearch | undefined
}

/** What no index has: it is compared with the record of each execution that the other filters let through. */
export type ExecutionSearch = {
  errorCode?: string | undefined
  versionId?: string | undefined
  source?: Execution['source'] | undefined
  model?: string | undefined
  /** In the code or the message of the error; upper and lower case are the same. */
  errorText?: string | undefined
}

export type ExecutionListParams = {
  organizationId: string
  agentId: string | null
  /** Only executions of these agents. Pages can be short: no index is read by several agents. */
  agentIds?: string[] | null
} & ExecutionFilter &
  PageRequest

/** `isMarked`: the write also enters a final execution into the outbox (`DeliveryStore.readOutbox`). */
type Marking = { isMarked?: boolean }

/**
 * Of a write by which an execution is final. `sendBefore`: later, it fails with `Unavailable` (milliseconds since the
 * epoch); by default, `MAX_ENDING_MS` after the call. The caller has taken the time of the end directly before.
 */
type Ending = Marking & { sendBefore?: number }

export interface ExecutionStore extends LearningStore {
  /** Records an accepted execution. False if the id exists; then nothing changes. */
  create(
    params: {
      execution: Execution
      /** When one counts that is final, in milliseconds since the epoch: now, if it was accepted before. */
      countedAt?: number
    } & Ending,
  ): Promise<boolean>
  get(params: { organizationId: string; id: string }): Promise<Execution | null>
  /** The same, without its payloads if their JSON has more bytes: large ones are not read then. */
  getLimited(params: {
    organizationId: string
    id: string
    maxBytes: number
  }): Promise<Execution | ExecutionSummary | null>
  /** The execution without its payloads, which are not read. */
  getSummary(params: { organizationId: string; id: string }): Promise<ExecutionSummary | null>
  /** What is kept of a deleted execution whose events are not delivered: no content, of an error only its code. */
  getDeleted(params: { organizationId: string; id: string }): Promise<ExecutionSummary | null>
  /** Whether the execution exists and belongs to the organization, one of the agents and the tenant. */
  isVisible(params: Visibility & { id: string }): Promise<boolean>
  /**
   * What became of executions, in the order of these ids; null for one that does not exist. They are read 100 at a
   * time, and large outputs one by one when they are asked for.
   */
  readResults(params: { organizationId: string; ids: string[] }): AsyncGenerator<ExecutionResult | null>
  /** The same with the whole execution. */
  readMany(params: { organizationId: string; ids: string[] }): AsyncGenerator<Execution | null>
  /** The same without payloads. */
  readSummaries(params: { organizationId: string; ids: string[] }): AsyncGenerator<ExecutionSummary | null>
  /** Their last feedback that counts; null for one without any. */
  readFeedback(params: {
    organizationId: string
    ids: string[]
    teachers: Teachers
  }): AsyncGenerator<Feedback | null>
  /** The status alone: one small read, however large the payloads are. */
  getStatus(params: { organizationId: string; id: string }): Promise<ExecutionStatus | null>
  /** The same, and since when it is suspended, in milliseconds since the epoch: null if it is not. */
  getState(params: {
    organizationId: string
    id: string
  }): Promise<{ status: ExecutionStatus; suspendedAt: number | null } | null>
  /** Open executions of the organization; an estimate while the number is far below `max`. */
  countOpen(params: { organizationId: string; max: number }): Promise<number>
  /** The execution whatever its organization: its secret says who may use it. */
  getForCallback(params: { id: string }): Promise<ExecutionSummary | null>
  /** Executions of the organization, or of one of its agents. */
  list(params: ExecutionListParams): Promise<SearchedPage<Execution>>
  /** The same without payloads, which are not read. */
  listSummaries(params: ExecutionListParams): Promise<SearchedPage<ExecutionSummary>>
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
  /** The execution if it is suspended; null otherwise. */
  getSuspended(params: { id: string }): Promise<SuspendedExecution | null>
  /** Takes the lease of a suspended execution; null if that suspension is over. */
  wake(params: {
    execution: SuspendedExecution
    lease: Lease
    openUntil: number
    now: number
  }): Promise<LeasedExecution | null>
  /** Suspended executions of the organization; an estimate while the number is far below `max`. */
  countSuspended(params: { organizationId: string; max: number }): Promise<number>
  /** Extends the lease; false if the owner has lost it. */
  renew(params: { id: string } & Renewal): Promise<boolean>
  /** Whether the owner has the lease of the open execution: one small read. */
  isLeasedBy(params: { id: string; owner: string }): Promise<boolean>
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
      /** Of one that is suspended. Only if it still is. */
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
  /** The ids of open executions that tool calls of an execution have started. */
  listOpenChildren(params: { organizationId: string; id: string }): Promise<string[]>
  /**
   * Deletes a final execution and everything that belongs to it. An interrupted deletion, and what late writers add, is
   * left to `cleanUp`. Its events are delivered all the same. `awaited`: it has a parent and has not been settled.
   */
  delete(params: {
    organizationId: string
    id: string
    now: number
  }): Promise<'deleted' | 'missing' | 'open' | 'awaited'>
  /**
   * No execution is created with this id any more by a process that is about to; false if one was, or if the id was
   * refused before. `idempotencyId`: what is bound to the id gets another one.
   */
  refuse(params: {
    organizationId: string
    id: string
    now: number
    idempotencyId?: string | null
  }): Promise<boolean>
  /** Those of these ids that have an execution. `orRefused`: or had one, or were refused. */
  findExisting(params: { ids: string[]; orRefused: boolean }): Promise<Set<string>>
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
   */
  postpone(params: {
    stale: StaleExecution
    until: number
    now: number | null
  }): Promise<
    (Pick<Execution, 'attempts' | 'attemptsSinceProgress' | 'sharesWorker'> & { isLine?: true }) | null
  >
}

/** An entry of the sweeper's index. */
export type StaleExecution = Pick<
  Execution,
  'id' | 'organizationId' | 'tenantId' | 'createdAt' | 'deadlineAt'
> & { openUntil: number }

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

/** Where a page of open executions ended: in which shard of the index, and at which of its entries. */
export type OpenPosition = { shard: number; entry: Record<string, unknown> | null }

export type OpenPage = { items: ExecutionSummary[]; next: OpenPosition | null }

/** A check of one item of an execution: a payload whose record may not exist, or a deletion that may be incomplete. */
export type Cleanup = { executionId: string; item: string; dueAt: number }

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

/**
 * Batches: the record, the blocks of lines and the lanes. Their items are in many partitions, so that no line of a
 * batch waits for another one's write.
 */
export interface BatchStore {
  /**
   * Writes the lines, then the batch; returns it with its blocks. Null if the id exists, or if a later call writes it.
   * What a process leaves that dies in between is completed by such a call, or deleted by the timer.
   */
  create(params: { batch: Omit<Batch, 'blocks'>; lines: LineInput[] }): Promise<Batch | null>
  get(params: { organizationId: string; id: string }): Promise<Batch | null>
  /** Batches, or trials, newest first. `agentIds`, `tenantId`, `versionId`: only of these; pages can be short then. */
  list(
    params: {
      organizationId: string
      agentIds: string[] | null
      tenantId: string | null
      versionId?: string | null
      isTrial?: boolean
    } & PageRequest,
  ): Promise<Page<Batch>>
  /** The lines of a block, in order. */
  readBlock(params: { batch: Batch; block: number }): Promise<LineInput[]>
  /** All lanes, in order, also those without an item; then those of lines that have one of their own. */
  listLanes(params: { batch: Batch }): Promise<Lane[]>
  getLane(params: { batch: Batch; number: number }): Promise<Lane>
  /** False if the lane executes another line than `replaces` by now. */
  putLane(params: { batch: Batch; lane: Lane; replaces: number }): Promise<boolean>
  /** No further line starts. False if it was stopped before, or has ended. */
  stop(params: {
    batch: Batch
    error: ExecutionError
    status: 'IN_PROGRESS' | 'CANCELLING'
  }): Promise<boolean>
  /** False if it has ended before, or does not exist. `sums`: of a trial. */
  end(
    params: { batch: Batch; totals: LaneTotals; sums?: TrialSums | null; endedAt: string } & Marking,
  ): Promise<boolean>
  /** Moves the timer of an open batch, or of one that is being deleted. */
  postpone(params: { id: string; openUntil: number }): Promise<void>
  /** Hides an ended batch, whose timer is due at once: its executions and items have to be deleted. */
  hide(params: { batch: Batch; now: number }): Promise<boolean>
  /** A hidden batch, or one whose lines were never complete; null if there is none. */
  getHidden(params: { organizationId: string; id: string }): Promise<Batch | null>
  /** Deletes the items of a hidden batch, and its record at last. */
  remove(params: { batch: Batch }): Promise<void>
}

export type ScheduleId = Pick<Schedule, 'organizationId' | 'agentId' | 'name'>

export interface ScheduleStore {
  /**
   * Writes all of a schedule, and enters it into the timers if it has a time. `replaces`: the one that was read; null:
   * there is none. Returns it with its revision. `changed`: the stored one is another one by now; `full`: it is new,
   * and the agent has `MAX_SCHEDULES`.
   */
  put(params: {
    schedule: Omit<Schedule, 'revision'>
    replaces: Pick<Schedule, 'revision'> | null
  }): Promise<Schedule | 'changed' | 'full'>
  get(params: ScheduleId): Promise<Schedule | null>
  /** Those of an agent, by name. A page can be short: inputs may be large. */
  list(params: { organizationId: string; agentId: string } & PageRequest): Promise<Page<Schedule>>
  /** False if it does not exist. `onlyDeclared`: not one that a client has taken over. */
  delete(params: ScheduleId & { onlyDeclared?: true }): Promise<boolean>
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

/** `output` is null while the execution is still running. */
export type CacheEntry = { executionId: string; output: JsonObject | null }

export interface CacheStore {
  /** Null also for an entry that has expired at `now`. */
  get(params: { key: string; now: number }): Promise<CacheEntry | null>
  /**
   * Reserves the key for an execution that is about to compute the result, if the key is free or reserved by
   * `replaces`. Returns the entry that is stored afterwards: this execution's own or another's.
   */
  reserve(params: {
    key: string
    executionId: string
    replaces: string | null
    now: number
  }): Promise<CacheEntry>
  /** Stores the output of the execution that holds the reservation; for any other execution, does nothing. */
  store(params: {
    key: string
    executionId: string
    output: JsonObject
    expiresAt: number | null
  }): Promise<void>
  /** Removes the entry if it belongs to this execution. */
  drop(params: { key: string; executionId: string }): Promise<void>
}

/** What an idempotency key is bound to: the execution of its first request, and the hash of that request. */
export type Reservation = { id: string; executionId: string; requestHash: string; isDeleted?: true }

/** Declarations of MCP tools, by a hash of them. They are part of the requests of runs. */
export interface DeclarationStore {
  /** Keeps them as long as the executions that begin within a day of `now`. */
  put(params: DeclarationsKey & { declarations: ServedDeclarations; now: number }): Promise<void>
  get(params: DeclarationsKey): Promise<ServedDeclarations | null>
}

export type DeclarationsKey = { organizationId: string; hash: string }

export interface IdempotencyStore {
  /** Binds the key to this execution unless it is bound already. Returns what it is bound to. */
  reserve(params: {
    agentId: string
    key: string
    executionId: string
    requestHash: string
    now: number
    expiresAt: number
  }): Promise<Reservation>
}

/** The webhooks of organizations. Their secrets are apart: few functions can read those. */
export interface WebhookStore {
  /** All webhooks of the organization, oldest first; there are at most `MAX_WEBHOOKS`. */
  list(params: { organizationId: string }): Promise<Webhook[]>
  get(params: { organizationId: string; id: string }): Promise<Webhook | null>
  /** False if the organization has `MAX_WEBHOOKS`. */
  create(params: { webhook: Webhook }): Promise<boolean>
  /** Changes these fields; null if there is no such webhook. */
  update(params: {
    organizationId: string
    id: string
    changes: Partial<Omit<Webhook, 'id' | 'organizationId' | 'createdAt'>>
  }): Promise<Webhook | null>
  /** With its secrets; false if there is no such webhook. */
  delete(params: { organizationId: string; id: string }): Promise<boolean>
  /** Newest first. Without any: it has none. `id`: also `DEFAULT_WEBHOOK`. */
  getSecrets(params: { organizationId: string; id: string }): Promise<WebhookSecret[]>
  /** False if the newest one is no longer `replaces`; null: there is none. */
  putSecrets(params: {
    organizationId: string
    id: string
    secrets: WebhookSecret[]
    replaces: WebhookSecret | null
  }): Promise<boolean>
  /** Whether there is a secret of `DEFAULT_WEBHOOK`, which the caller need not be able to read. */
  hasDefaultSecret(params: { organizationId: string }): Promise<boolean>
}

export type DeliveryId = { subject: Subject; revision: number; destinationId: string }

/** Events on their way to destinations. They belong to their subjects, and are deleted with them. */
export interface DeliveryStore {
  get(params: DeliveryId): Promise<Delivery | null>
  /** Deliveries of all events of a subject. */
  listOf(subject: Subject): Promise<Delivery[]>
  /**
   * Stores the result of an attempt. The timers list a pending delivery from `dueAt` on (milliseconds since the epoch).
   * `attempts`: those of the stored one, 0 for a new one. False if the delivery has changed or was deleted.
   */
  put(params: { delivery: Delivery; attempts: number; dueAt: number | null }): Promise<boolean>
  /** Removes a delivery whose subject was deleted before it was stored. */
  delete(params: DeliveryId): Promise<void>
  /** Removes all deliveries of a subject that was deleted. */
  deleteOf(subject: Subject): Promise<void>
  /** Deliveries to a webhook, newest first. */
  list(params: { organizationId: string; destinationId: string } & PageRequest): Promise<Page<Delivery>>
  /** All events of this subject, which has ended, have deliveries. */
  setHandled(subject: Subject): Promise<void>
  /** The ids of those subjects that are handled. */
  findHandled(params: { subjects: Subject[] }): Promise<Set<string>>
  /**
   * Subjects that have ended and were entered into the outbox from `from` on and before `before` (milliseconds since
   * the epoch), page by page, handled or not. Those before `until` have been read then.
   */
  readOutbox(params: {
    from: number
    before: number
  }): AsyncGenerator<{ entries: OutboxEntry[]; until: number }>
  /** Everything entered before is handled. 0 at the beginning. */
  getPosition(): Promise<number>
  /** Moves it forward. */
  setPosition(params: { position: number }): Promise<void>
}

/** `at`: when the subject was entered, in milliseconds since the epoch. */
export type OutboxEntry = { subject: Subject; organizationId: string; at: number }

/** `destinationId` and `revision`: another attempt of one delivery; absent: all events that are not handled. */
export type DeliveryMessage = {
  subject: Subject
  organizationId: string
  destinationId?: string
  revision?: number
}

/** Totals of what executions have used, by minute, hour and day. They are replaced, never incremented. */
export interface UsageStore {
  /**
   * The entries of executions that became final from `from` on and before `before` (milliseconds since the epoch), page
   * by page; those before `until` have been read then, and all after the last page. Entries of deleted executions stay
   * until the position has passed them.
   */
  readEntries(params: {
    from: number
    before: number
  }): AsyncGenerator<{ entries: UsageEntry[]; until: number }>
  /**
   * Replaces the totals of an organization in an interval, unless they are final: entries of deleted executions may be
   * gone since. Others than final ones also do not replace what was read later. `readAt`: when reading began. `start`,
   * `readAt`: milliseconds since the epoch.
   */
  put(
    params: { organizationId: string; rows: UsageRow[]; readAt: number; isFinal: boolean } & UsageSlot,
  ): Promise<void>
  /** The totals of an organization in all intervals that begin from `from` on and before `to`, in order. */
  read(params: {
    organizationId: string
    interval: UsageInterval
    from: number
    to: number
  }): AsyncGenerator<{ start: number; rows: UsageRow[] }>
  /**
   * The totals of all minutes of the hour, or of all hours of the day, that begins at `start`: those of one
   * organization after the other.
   */
  readParts(params: {
    start: number
    interval: 'hour' | 'day'
  }): AsyncGenerator<{ organizationId: string; rows: UsageRow[] }>
  /** Up to where totals are complete, in milliseconds since the epoch; null at the beginning. */
  getPosition(): Promise<UsagePosition | null>
  /** Moves it forward: what would move back a part of it is ignored. */
  setPosition(params: { position: UsagePosition }): Promise<void>
}

export type UsageSlot = { interval: UsageInterval; start: number }

/** The end of the last minute, hour and day whose totals are final, in milliseconds since the epoch. */
export type UsagePosition = Record<UsageInterval, number>

/** Limits of tenants and agents, and what has been used of them. */
export interface LimitStore {
  /** Whether the organization has limits: one small read. */
  hasAny(params: { organizationId: string }): Promise<boolean>
  get(params: SubjectKey): Promise<StoredLimits | null>
  /** Those of agents, then those of tenants, each by id. `kind` null: both. */
  list(
    params: { organizationId: string; kind: LimitSubject['kind'] | null } & PageRequest,
  ): Promise<Page<StoredLimits & { subject: LimitSubject }>>
  put(params: SubjectKey & { limits: StoredLimits }): Promise<void>
  /** False if there are none. */
  delete(params: SubjectKey): Promise<boolean>
  /**
   * Counts a run of the subject in a minute (since the epoch), of which `max` are permitted. False if it is one more.
   * A request whose response was lost may count twice.
   */
  countRun(params: SubjectKey & { minute: number; max: number }): Promise<boolean>
  /** Takes one back: never two, also if a response was lost. */
  uncountRun(params: SubjectKey & { minute: number }): Promise<void>
  /**
   * Takes one of `max` slots for an execution, unless it has one. False if all are taken. A slot whose execution has
   * ended, or was not recorded within 10 minutes, is free: no crash can occupy one for good, and never are there more
   * than `max`. Above a `max` that was lowered, they are as many as before until enough of them are released.
   */
  takeSlot(params: SubjectKey & { max: number; executionId: string; now: number }): Promise<boolean>
  /** Whether an execution has a slot: the takers find out whether it has ended. */
  hasSlot(params: SubjectKey & { executionId: string }): Promise<boolean>
  /** Does nothing if the execution has none. @param takenAt only one that was taken at this `now` */
  releaseSlot(params: SubjectKey & { executionId: string; takenAt?: number }): Promise<void>
  /** Slots that are taken, also by executions that have ended and could not release them. */
  countSlots(params: SubjectKey): Promise<number>
  /**
   * Adds to what the subject has spent in the day and the month of this time (milliseconds since the epoch). A request
   * whose response was lost may count twice.
   */
  addSpent(params: SpendingKey & { at: number; costUsd: number }): Promise<void>
  getSpent(params: SpendingKey & { at: number }): Promise<Spent>
  /** Keeps a warning and enters it into the outbox. False if one with its id is kept. */
  putWarning(params: { warning: LimitWarning }): Promise<boolean>
  getWarning(params: { organizationId: string; id: string }): Promise<LimitWarning | null>
}

/** A tenant or an agent of an organization. */
export type SubjectKey = { organizationId: string; subject: LimitSubject }
export type SpendingKey = { organizationId: string; subject: SpendingSubject }

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
