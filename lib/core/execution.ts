import type { Violation } from './errors.ts'
import type { JsonObject } from './json/json.ts'
import { leaseTimes } from './lease-times.ts'
import type { SelectedBy } from './rollout.ts'
import type { RunScore, ScoredRun } from './score.ts'
import type { SearchKey } from './search-keys.ts'
import type { Judgement, Replay } from './trial.ts'
import type { LimitSubject } from './usage-limits.ts'
import type { Suspension, Wait } from './wait.ts'

export type ExecutionStatus = 'IN_PROGRESS' | 'SUCCESS' | 'ERROR'

/** Why an execution ended in ERROR: a code for programs, a message for people, and optional details. */
export type ExecutionError = { code: string; message: string; [detail: string]: unknown }

/**
 * Violations of the input schema by the input that a code agent failed on, which the error has as `errors`, or as
 * `inputErrors` beside those of the output. Empty if the input was valid, and for errors of another origin.
 */
export function inputErrorsOf({ code, errors, inputErrors }: ExecutionError): Violation[] {
  const violations = code === 'AgentFailed' ? errors : inputErrors
  return Array.isArray(violations) ? violations : []
}

/** One change that made an input fit its schema. Contains names and types, never a value. */
export type InputAdaptation = {
  /** JSON Pointer (RFC 6901) into the adapted input. */
  path: string
  kind: 'renamed' | 'unwrapped' | 'converted' | 'removed' | 'defaulted'
  /** JSON Pointer into the input as sent; for `converted`, the type that was sent. */
  from?: string
  message: string
}

/** What model responses used. The optional counts are absent if the provider does not report them. */
export type Usage = {
  /** Includes the tokens read from and written to the provider's prompt cache. */
  inputTokens: number
  /** Includes the tokens of the reasoning. */
  outputTokens: number
  cachedInputTokens?: number
  cacheWriteTokens?: number
  reasoningTokens?: number
  /** Searches of the web that the provider executed. */
  webSearches?: number
  /** The price in US dollars when the responses were received; absent if the model has no price. */
  costUsd?: number
  /** A part of it is estimated: the provider did not report it. Absent if nothing is. */
  estimated?: true
}

/** A worker's exclusive right to write an execution. Times are milliseconds since the epoch. */
export type Lease = { owner: string; expiresAt: number }

/** Options of the call, stored so that a resumed run uses the same ones. */
export type RunOptions = {
  maxAgentSteps: number
  model: string | null
  useDynamicLearning: boolean
  /** The budget of the run. Absent without a limit. */
  maxTokens?: number
  maxCostUsd?: number
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

/** `at`: when it was due, in ISO 8601. */
export type ScheduledRun = { name: string; at: string }

/** It began to wait; `at` in milliseconds since the epoch. `revision`: of the event. */
export type PendingEvent = { revision: number; at: number; waits: Wait[] }

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

/** Stored with every run, so it has no member that is not required. */
export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0 }

/** Of steps that are known to cost nothing. */
export const NO_COST: Usage = { ...NO_USAGE, costUsd: 0 }

export const CANCELLED: ExecutionError = {
  code: 'Cancelled',
  message: 'The execution was cancelled on request.',
}

/** An ERROR outcome that keeps the recorded progress. */
export const failure = (error: ExecutionError): Outcome => ({ status: 'ERROR', error })

export type NewExecution = Pick<
  Execution,
  'id' | 'organizationId' | 'agentId' | 'versionId' | 'tenantId' | 'input' | 'options'
> &
  Partial<
    Pick<
      Execution,
      | 'idempotencyId'
      | 'cache'
      | 'inputAdaptations'
      | 'sharesWorker'
      | 'tokenId'
      | 'isDraft'
      | 'webhookUrl'
      | 'batch'
      | 'schedule'
      | 'limits'
      | 'replay'
      | 'selectedBy'
      | 'learnedFrom'
      | 'traceparent'
      | 'watchedUntil'
      | 'keys'
      | 'scored'
      | 'scores'
    >
  > & {
    now: number
    deadlineMs: number
    lease: Lease | null
    /** When the sweeper first checks it: how long it may wait for its first claim, and longer than a lease. */
    graceMs?: number
    /** Present for a tool call of another execution. */
    parent?: { executionId: string; callers: string[] }
  }

/** An accepted execution: leased by the caller (synchronous) or waiting for a worker (asynchronous). */
export function newExecution(params: NewExecution & { lease: Lease }): LeasedExecution
export function newExecution(params: NewExecution): Execution
export function newExecution(params: NewExecution): Execution {
  const { now, deadlineMs, lease, graceMs = leaseTimes().graceMs, parent, ...given } = params
  const createdAt = new Date(now).toISOString()
  return {
    idempotencyId: null,
    cache: null,
    inputAdaptations: [],
    sharesWorker: false,
    tokenId: null,
    isDraft: false,
    webhookUrl: null,
    batch: null,
    schedule: null,
    limits: [],
    replay: null,
    selectedBy: 'CURRENT',
    learnedFrom: null,
    traceparent: null,
    watchedUntil: null,
    keys: [],
    scored: null,
    scores: [],
    ...given,
    ...(given.replay?.isTrial && { cache: null }),
    source: sourceOf(params),
    parentExecutionId: parent?.executionId ?? null,
    callers: parent?.callers ?? [],
    status: 'IN_PROGRESS',
    output: null,
    error: null,
    cached: false,
    cachedExecutionId: null,
    createdAt,
    startedAt: lease ? createdAt : null,
    finishedAt: null,
    steps: 0,
    usage: NO_USAGE,
    model: null,
    warnings: [],
    feedback: null,
    attempts: lease ? 1 : 0,
    attemptsSinceProgress: lease ? 1 : 0,
    outages: 0,
    lostSteps: [],
    lostUsage: null,
    childUsage: null,
    judgement: null,
    replayedUsage: null,
    lastError: null,
    lease,
    suspension: null,
    waitedMs: 0,
    workedMs: 0,
    pendingEvents: [],
    callbackSecret: null,
    openUntil: now + graceMs,
    deadlineAt: now + deadlineMs,
    logs: null,
  }
}

function sourceOf({ scored, parent, replay, batch, schedule }: NewExecution): Execution['source'] {
  if (scored && !scored.isCallee) return 'SCORE'
  if (parent) return 'AGENT'
  return replay?.isTrial ? 'TRIAL' : batch ? 'BATCH' : schedule ? 'SCHEDULE' : 'API'
}

/** An execution that is final at creation because it reuses the result of another one. */
export function cachedExecution(
  params: Omit<NewExecution, 'lease'>,
  cachedExecutionId: string,
  output: JsonObject,
): Execution {
  const execution = newExecution({ ...params, lease: null })
  const times = { startedAt: execution.createdAt, finishedAt: execution.createdAt, openUntil: null }
  // The run that computed the result may have been scored.
  return { ...execution, ...times, status: 'SUCCESS', output, cached: true, cachedExecutionId, scores: [] }
}

/**
 * An accepted execution that waits for its turn, because one of its limits permits no more. It is not in progress, and
 * its deadline does not begin before.
 */
export function queuedExecution(params: Omit<NewExecution, 'lease'>, maxWaitMs: number): Execution {
  const execution = newExecution({ ...params, lease: null })
  const { createdAt: since } = execution
  const until = params.now + maxWaitMs
  const waits: Wait[] = [{ kind: 'limit', name: 'maxOpenExecutions', since, until: null }]
  return {
    ...execution,
    suspension: { at: params.now, until, waits },
    deadlineAt: until + params.deadlineMs,
  }
}

/** An execution that is final at creation because it cannot be run. */
export function failedExecution(params: Omit<NewExecution, 'lease'>, error: ExecutionError): Execution {
  const execution = newExecution({ ...params, lease: null })
  return { ...execution, finishedAt: execution.createdAt, openUntil: null, status: 'ERROR', error }
}

const OPTIONAL_COUNTS = ['cachedInputTokens', 'cacheWriteTokens', 'reasoningTokens', 'webSearches'] as const

/** The sum. A count that only some responses report is the sum of these; a cost is known only if all costs are. */
export function addUsage(a: Usage, b: Usage): Usage {
  const sum: Usage = {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
  }
  for (const name of OPTIONAL_COUNTS) {
    const [first, second] = [a[name], b[name]]
    if (first !== undefined || second !== undefined) sum[name] = (first ?? 0) + (second ?? 0)
  }
  const [first, second] = [a.costUsd, b.costUsd]
  if (first !== undefined && second !== undefined) sum.costUsd = roundDollars(first + second)
  if (a.estimated || b.estimated) sum.estimated = true
  return sum
}

type Used = Pick<Execution, 'steps' | 'usage' | 'lostSteps' | 'lostUsage'>

/** What a run has used: its stored steps, those that could not be stored, and responses that could not be used. */
export function totalUsage({ steps, usage, lostSteps, lostUsage }: Used): Usage {
  const used = [steps > 0 && usage, ...lostSteps.map((step) => step.usage), lostUsage].filter(
    (each) => !!each,
  )
  return used.length > 0 ? used.reduce(addUsage) : usage
}

/** What a run has used, with the agents that it called as tools; null if nothing. */
export function usageOfTree({ usage, childUsage }: Pick<Execution, 'usage' | 'childUsage'>): Usage | null {
  const used = [isUnused(usage) ? null : usage, childUsage].filter((each) => each !== null)
  return used.length > 0 ? used.reduce(addUsage) : null
}

export const isUnused = ({ inputTokens, outputTokens }: Usage): boolean => inputTokens + outputTokens === 0

/** To a billionth of a dollar, so that sums show no binary fractions. */
export const roundDollars = (amount: number): number => Math.round(amount * 1e9) / 1e9

/**
 * Whether the step limit forced the last response of the run: with a higher limit, which has the same cache key, the
 * result might be another one. Steps of code agents have a limit of their own, which ends the run.
 */
export const hasUsedAllSteps = (
  { steps, model }: Pick<Execution, 'steps' | 'model'>,
  { maxAgentSteps }: RunOptions,
) => model !== null && steps >= maxAgentSteps

/** Whether the feedback says that the output is wrong. */
export const isRejection = ({ rating, correctedOutput }: Feedback): boolean =>
  rating === -1 || correctedOutput !== null

export const isFinal = ({ status }: Pick<Execution, 'status'>): boolean => status !== 'IN_PROGRESS'
