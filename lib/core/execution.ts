import type { JsonObject } from './json.ts'
import type { Feedback } from './learning.ts'
import { LEASE_MS } from './limits.ts'

export type ExecutionStatus = 'IN_PROGRESS' | 'SUCCESS' | 'ERROR'

/** Who asked for it: a client of the interface, or a model agent that has it as a tool. */
export type ExecutionSource = 'API' | 'AGENT'

/** Why an execution ended in ERROR: a code for programs, a message for people, and what helps. */
export type ExecutionError = { code: string; message: string; [detail: string]: unknown }

/** One change of an input so that it fits its schema. Tells names and types, never a value. */
export type InputAdaptation = {
  /** JSON Pointer (RFC 6901) of the place in the input that the agent gets. */
  path: string
  kind: 'renamed' | 'unwrapped' | 'converted' | 'defaulted'
  /** JSON Pointer of the place in the sent input; for `converted` the type that was sent. */
  from?: string
  message: string
}

export type Usage = { inputTokens: number; outputTokens: number }

/** A worker's right to write an execution. Times are milliseconds since the epoch. */
export type Lease = { owner: string; expiresAt: number }

/** What the caller asked for beyond the input; kept so that a resumed run does the same. */
export type RunOptions = {
  maxAgentSteps: number
  model: string | null
  useDynamicLearning: boolean
}

/** One run of one version of an agent. Timestamps are ISO 8601 unless named otherwise. */
export type Execution = {
  id: string
  organizationId: string
  agentId: string
  versionId: string
  tenantId: string | null
  source: ExecutionSource
  /** The execution whose tool call this is; null for one that a client asked for. */
  parentExecutionId: string | null
  /** Agents that called one another down to this one, the outermost first. */
  callers: string[]
  status: ExecutionStatus
  /** As it was sent. */
  input: JsonObject
  /** What is changed in it for the agent. */
  inputAdaptations: InputAdaptation[]
  output: JsonObject | null
  error: ExecutionError | null
  cached: boolean
  cachedExecutionId: string | null
  createdAt: string
  startedAt: string | null
  finishedAt: string | null
  steps: number
  usage: Usage
  model: string | null
  options: RunOptions
  /** The executions whose results its model was shown; null until they are chosen, and for a run that does not learn. */
  learnedFrom: string[] | null
  feedback: Feedback | null
  /** How many workers have claimed it. */
  attempts: number
  /** How many of them since the last step was stored. */
  idleAttempts: number
  /** The passing fault that made the last worker give it back. */
  lastFault: ExecutionError | null
  lease: Lease | null
  /** When the sweeper looks at it unless somebody has done so before; null when it is final. */
  openUntil: number | null
  deadlineAt: number
  /** The idempotency record that leads to it; null when its client sent no key. */
  idempotencyId: string | null
  /** Where its result is looked for and kept; null when it is not cached. */
  cache: { key: string; ttlSeconds: number | null } | null
}

/** How a run ended. */
export type Outcome =
  | {
      status: 'SUCCESS'
      output: JsonObject
      steps: number
      usage: Usage
      model: string | null
      /** Given when another execution's output was taken over. */
      cached?: true
      cachedExecutionId?: string
    }
  | { status: 'ERROR'; error: ExecutionError; steps: number; usage: Usage; model: string | null }

export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0 }

export const CANCELLED: ExecutionError = {
  code: 'Cancelled',
  message: 'The execution was cancelled on request.',
}

/** An ERROR of a run that has taken no step. */
export function failure(error: ExecutionError): Outcome {
  return { status: 'ERROR', error, steps: 0, usage: NO_USAGE, model: null }
}

export type NewExecution = Pick<
  Execution,
  'id' | 'organizationId' | 'agentId' | 'versionId' | 'tenantId' | 'input' | 'options'
> & {
  now: number
  deadlineMs: number
  lease: Lease | null
  /** How long it may wait for its first claim before the sweeper enqueues it again. */
  graceMs?: number
  idempotencyId?: string | null
  cache?: Execution['cache']
  inputAdaptations?: InputAdaptation[]
  /** Given for a tool call of another execution. */
  parent?: { executionId: string; callers: string[] }
}

/** An execution that has just been accepted: already owned when `lease` is given (sync), else waiting (async). */
export function newExecution(params: NewExecution): Execution {
  const {
    now,
    deadlineMs,
    lease,
    graceMs = LEASE_MS,
    idempotencyId = null,
    cache = null,
    inputAdaptations = [],
    parent,
    ...given
  } = params
  const createdAt = new Date(now).toISOString()
  return {
    ...given,
    source: parent ? 'AGENT' : 'API',
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
    learnedFrom: null,
    feedback: null,
    attempts: lease ? 1 : 0,
    idleAttempts: lease ? 1 : 0,
    lastFault: null,
    lease,
    openUntil: lease?.expiresAt ?? now + graceMs,
    deadlineAt: now + deadlineMs,
    idempotencyId,
    cache,
    inputAdaptations,
  }
}

/** An execution that is over as it begins: the result of another one is taken over. */
export function cachedExecution(
  params: Omit<NewExecution, 'lease'>,
  cachedExecutionId: string,
  output: JsonObject,
): Execution {
  const execution = newExecution({ ...params, lease: null })
  return {
    ...execution,
    status: 'SUCCESS',
    output,
    cached: true,
    cachedExecutionId,
    startedAt: execution.createdAt,
    finishedAt: execution.createdAt,
    openUntil: null,
  }
}

export function addUsage(a: Usage, b: Usage): Usage {
  return { inputTokens: a.inputTokens + b.inputTokens, outputTokens: a.outputTokens + b.outputTokens }
}

export function isFinal(execution: Pick<Execution, 'status'>): boolean {
  return execution.status !== 'IN_PROGRESS'
}
