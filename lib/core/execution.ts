import type { ExecutionError } from './execution-errors.ts'
import type { JsonObject } from './json/json.ts'
import type { Lease } from './lease-times.ts'
import type { Usage } from './model-usage.ts'
import type { SelectedBy } from './rollout.ts'
import type { RunOptions } from './run-options.ts'
import type { ScheduledRun } from './schedule.ts'
import type { RunScore, ScoredRun } from './score.ts'
import type { SearchKey } from './search-keys.ts'
import type { Judgement, Replay } from './trial.ts'
import type { LimitSubject } from './usage-limits.ts'
import type { PendingEvent, Suspension } from './wait.ts'

export type ExecutionStatus = 'IN_PROGRESS' | 'SUCCESS' | 'ERROR'

/** One change that made an input fit its schema. Contains names and types, never a value. */
export type InputAdaptation = {
  /** JSON Pointer (RFC 6901) into the adapted input. */
  path: string
  kind: 'renamed' | 'unwrapped' | 'converted' | 'removed' | 'defaulted'
  /** JSON Pointer into the input as sent; for `converted`, the type that was sent. */
  from?: string
  message: string
}

/** A client's rating of a final execution. */
export type Feedback = {
  rating: 1 | -1
  /** The output it should have had. */
  correctedOutput: JsonObject | null
  note: string | null
  /** ISO 8601 */
  updatedAt: string
}

export const SOURCES = ['API', 'AGENT', 'BATCH', 'SCHEDULE', 'TRIAL', 'SCORE'] as const

/** One run of one version of an agent. Timestamps are ISO 8601 unless noted otherwise. */
export type Execution = {
  id: string
  organizationId: string
  agentId: string
  versionId: string
  tenantId: string | null
  /**
   * What started the execution: an API request, an agent that calls this one as a tool, a batch, a schedule, a trial or
   * rerun that takes something from a recording, or the end of another one that it scores.
   */
  source: (typeof SOURCES)[number]
  /** The execution that it repeats, and how; null for one that repeats none. */
  replay: Replay | null
  /** The execution that it scores, or that the agent scores that called it; null for any other. */
  scored: ScoredRun | null
  /** The scorers of a production run, and what they say. */
  scores: RunScore[]
  /** Of a trial: what a worker found at its end. */
  judgement: Judgement | null
  /** What the responses and calls used in the original that this one took from there; null without any. */
  replayedUsage: Usage | null
  /** Why it has its version. */
  selectedBy: SelectedBy
  /** The line of a batch that it executes. */
  batch: BatchLine | null
  /** The firing of a schedule that started it. */
  schedule: ScheduledRun | null
  /** The token that started it, or that started the execution that called it. Null if no token did. */
  tokenId: string | null
  /** The execution whose tool call started this one; null for an API request. */
  parentExecutionId: string | null
  /** Whose limit of open executions it counts towards: it may hold a slot of each. */
  limits: LimitSubject[]
  /** Whether its version was a draft when it was accepted. */
  isDraft: boolean
  /** Where its events go, beside the webhooks of the organization; null without one. */
  webhookUrl: string | null
  /** By what people search for it: the keys of its version that its input has, and once it succeeds its output. */
  keys: SearchKey[]
  /** The trace that it belongs to, as `toTraceparent` returns it; null if its trace begins with it. */
  traceparent: string | null
  /** The chain of agents that led to this call, outermost first. */
  callers: string[]
  /** Whether its worker may run others at the same time. */
  sharesWorker: boolean
  status: ExecutionStatus
  /** As sent. */
  input: JsonObject
  /** The changes that turn `input` into what the agent receives. */
  inputAdaptations: InputAdaptation[]
  output: JsonObject | null
  error: ExecutionError | null
  cached: boolean
  cachedExecutionId: string | null
  createdAt: string
  startedAt: string | null
  finishedAt: string | null
  /** Of its journal: model responses, or steps and waits of a code agent. */
  steps: number
  /** What its steps have used, with those that could not be stored, and with responses that could not be used. */
  usage: Usage
  model: string | null
  options: RunOptions
  /** Executions shown to the model as examples; null until they are chosen, and without dynamic learning. */
  learnedFrom: string[] | null
  /** Codes of what a client should know about the result. */
  warnings: string[]
  feedback: Feedback | null
  /** Number of claims so far. */
  attempts: number
  /** Claims since the last checkpoint, without those that an outage of the database ended. */
  attemptsSinceProgress: number
  /** Claims since the last checkpoint that an outage of the database ended, and that lost no step. */
  outages: number
  lostSteps: LostStep[]
  /** What responses have used that ended early or were invalid, so that they are in no step; null without any. */
  lostUsage: Usage | null
  /** What the agents have used that it called as tools, with those that they called; null without any. */
  childUsage: Usage | null
  /** The retryable error that made the last worker release it. */
  lastError: ExecutionError | null
  lease: Lease | null
  /** Null unless it waits without a worker. */
  suspension: Suspension | null
  /** For how long it was suspended so far, in milliseconds, without a suspension that lasts. */
  waitedMs: number
  /** For how long workers have run it, in milliseconds, as of the last write of the one that has the lease. */
  workedMs: number
  /** Until when readers in other processes follow its responses, in milliseconds since the epoch; null: none has. */
  watchedUntil: number | null
  /** Waits of which destinations may not have been told yet. */
  pendingEvents: PendingEvent[]
  /** By which its callback URLs are made; null until the first one is. No answer contains it. */
  callbackSecret: string | null
  /**
   * When the sweeper checks it unless a worker renews it first. Null when it is final and nothing follows from its end
   * any more. Milliseconds since the epoch.
   */
  openUntil: number | null
  deadlineAt: number
  /** The idempotency record bound to it; null if the client sent no key. */
  idempotencyId: string | null
  /** What a code agent printed in its last attempt (the end of it); null if nothing. */
  logs: string | null
  /** The cache entry to read and write; null if caching is off. */
  cache: { key: string; ttlSeconds: number | null } | null
}

/** `line`: its number, from 0. `lane`: the one whose next line its end starts. */
export type BatchLine = { id: string; customId: string; line: number; lane: number }

/** A computed step that the database did not store, and which attempt computed it. `usage`: of a model response. */
export type LostStep = { number: number; attempt: number; usage?: Usage }

/** The stored steps of a run: how many, and what they have used. */
export type Progress = Pick<Execution, 'steps' | 'usage' | 'model'> & {
  childUsage?: Usage
  replayedUsage?: Usage
}

/** An execution without its payloads. */
export type ExecutionSummary = Omit<Execution, 'input' | 'inputAdaptations' | 'output' | 'feedback' | 'logs'>

/** What became of an execution. */
export type ExecutionResult = Pick<Execution, 'id' | 'status' | 'output' | 'error'>

/** An execution whose worker holds the lease: only its owner may write it. */
export type LeasedExecution = Execution & { lease: Lease }

/** An execution that waits, without its payloads. */
export type SuspendedExecution = ExecutionSummary & { suspension: Suspension }

/**
 * How a run ended. `cached`, `cachedExecutionId`: present when the output was reused from another execution. An error
 * without `steps`, `usage` and `model` keeps those recorded so far.
 */
export type Outcome = {
  logs?: string | null
  lostSteps?: LostStep[]
  lostUsage?: Usage
  warnings?: string[]
  judgement?: Judgement
  /** All keys of the execution, those that it has first. Absent if there are no others. */
  keys?: SearchKey[]
} & (
  | ({ status: 'SUCCESS'; output: JsonObject; cached?: true; cachedExecutionId?: string } & Progress)
  | ({ status: 'ERROR'; error: ExecutionError } & Partial<Progress>)
)

/** An ERROR outcome that keeps the recorded progress. */
export const failure = (error: ExecutionError): Outcome => ({ status: 'ERROR', error })

export const isFinal = ({ status }: Pick<Execution, 'status'>): boolean => status !== 'IN_PROGRESS'
