import type { Visibility } from '../access.ts'
import type {
  Execution,
  ExecutionResult,
  ExecutionStatus,
  ExecutionSummary,
  Feedback,
  SuspendedExecution,
} from '../execution.ts'
import type { Teachers } from '../learning.ts'
import type { KeyFilter } from '../search-keys.ts'
import type { OwnedId, PageRequest, SearchedPage } from './system.ts'

/** `from` is included, `to` is not; both are milliseconds since the epoch, compared with the time in the id. */
export type ExecutionFilter = {
  status: ExecutionStatus | null
  /** Suspended executions: all of them, or those that wait for an approval. `none`: those that are not suspended. */
  waiting?: 'any' | 'approval' | 'none' | undefined
  tenantId: string | null
  key?: KeyFilter | undefined
  /** `low`: a score is below the minimum of its scorer, and nobody has reviewed it. `reviewed`: scored and reviewed. */
  scores?: 'low' | 'reviewed' | undefined
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
  /** When it became final, in milliseconds since the epoch: the first is included, the second is not. */
  finishedFrom?: number | undefined
  finishedTo?: number | undefined
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

/** How executions are read. */
export interface ExecutionReader {
  get(params: OwnedId): Promise<Execution | null>
  /** The same, without its payloads if their JSON has more bytes: large ones are not read then. */
  getLimited(params: OwnedId & { maxBytes: number }): Promise<Execution | ExecutionSummary | null>
  /** The execution without its payloads, which are not read. */
  getSummary(params: OwnedId): Promise<ExecutionSummary | null>
  /** A deleted execution whose events are not delivered: no content, of an error only its code. */
  getDeleted(params: OwnedId): Promise<ExecutionSummary | null>
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
  getStatus(params: OwnedId): Promise<ExecutionStatus | null>
  /** The same, and since when it is suspended, in milliseconds since the epoch: null if it is not. */
  getState(params: OwnedId): Promise<{ status: ExecutionStatus; suspendedAt: number | null } | null>
  /** Open executions of the organization; an estimate while the number is far below `max`. */
  countOpen(params: { organizationId: string; max: number }): Promise<number>
  /** The execution whatever its organization: its secret says who may use it. */
  getForCallback(params: { id: string }): Promise<ExecutionSummary | null>
  /** Executions of the organization, or of one of its agents. */
  list(params: ExecutionListParams): Promise<SearchedPage<Execution>>
  /** The same without payloads, which are not read. */
  listSummaries(params: ExecutionListParams): Promise<SearchedPage<ExecutionSummary>>
  /** The execution if it is suspended; null otherwise. */
  getSuspended(params: { id: string }): Promise<SuspendedExecution | null>
  /** Suspended executions of the organization; an estimate while the number is far below `max`. */
  countSuspended(params: { organizationId: string; max: number }): Promise<number>
  /** Whether the owner has the lease of the open execution: one small read. */
  isLeasedBy(params: { id: string; owner: string }): Promise<boolean>
  /** The ids of open executions that tool calls of an execution have started. */
  listOpenChildren(params: OwnedId): Promise<string[]>
  /** The ids that have an execution. `orRefused`: also ids that had one, or were refused. */
  findExisting(params: { ids: string[]; orRefused: boolean }): Promise<Set<string>>
}
