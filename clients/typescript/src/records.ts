/** The records of the service, as `GET /v1/openapi.json` describes them. */

type JsonObject = Record<string, unknown>

export type Agent = {
  id: string
  /** The organization that owns the agent. */
  orgId: string
  slug: string
  title: string
  description: string | null
  createdBy: string
  createdAt: string
  updatedAt: string
  /** Null while only a draft exists. */
  currentVersionId: string | null
  draftVersionId: string | null
  draftVersionStatus: 'DRAFT' | null
  inputSchema: JsonObject
  outputSchema: JsonObject
}

export type Version = {
  id: string
  /** The agent of this version. */
  documentId: string
  status: 'PUBLISHED' | 'DRAFT'
  title: string
  description: string | null
  createdBy: string
  createdAt: string
  inputSchema: JsonObject
  outputSchema: JsonObject
  model: string | null
  execution: {
    useCache: boolean
    cacheTtlSeconds: number | null
    maxAgentSteps: number
    timeoutSeconds: number | null
    maxTokens: number | null
    maxCostUsd: number | null
  }
}

/** Counts that the provider does not report are null. */
export type Usage = {
  /** Includes the cached and the cache write tokens. */
  inputTokens: number
  /** Includes the reasoning tokens. */
  outputTokens: number
  cachedInputTokens: number | null
  cacheWriteTokens: number | null
  reasoningTokens: number | null
}

/** Why an execution failed. */
export type ExecutionError = { code: string; message: string; [member: string]: unknown }

export type Feedback = {
  rating: 1 | -1
  correctedOutput: JsonObject | null
  note: string | null
  updatedAt: string
}

export type FeedbackBody = {
  /** 1 for a good result, -1 for a bad one. */
  rating: 1 | -1
  /** The correct output. It must match the output schema of the version that ran. */
  correctedOutput?: JsonObject | null | undefined
  /** A comment for people. It is never shown to a model. */
  note?: string | null | undefined
}

export type ExecutionSummary = {
  id: string
  /** The agent that ran. */
  documentId: string
  versionId: string
  tenantId: string | null
  status: 'IN_PROGRESS' | 'SUCCESS' | 'ERROR'
  /** API: a client started the execution. AGENT: another agent called this one as a tool. */
  source: 'API' | 'AGENT'
  /** The execution that called this one. Present only if source is AGENT. */
  parentExecutionId?: string | undefined
  /** Why the execution failed. Null unless status is ERROR. */
  error: ExecutionError | null
  /** Whether the result of an earlier execution was reused. */
  cached: boolean
  /** The execution whose result was reused. Present only if cached is true. */
  cachedDocumentExecutionId?: string | undefined
  createdAt: string
  startedAt: string | null
  finishedAt: string | null
  /** The number of model responses. 0 for a code agent. */
  steps: number
  usage: Usage
  /** The price of the model responses in US dollars. Null if the model has no price. */
  costUsd: number | null
  model: string | null
  /** The past executions that the model was shown as examples. */
  learnedFrom: string[]
}

export type Execution<Output = JsonObject> = ExecutionSummary & {
  /** The input that was sent. */
  input: JsonObject
  /** The changes that made the input match the input schema. */
  inputAdaptations: {
    /** JSON Pointer into the adapted input that the agent received. */
    path: string
    kind: 'renamed' | 'unwrapped' | 'converted' | 'removed' | 'defaulted'
    /** JSON Pointer into the input that was sent, or the type of the original value. */
    from?: string | undefined
    message: string
  }[]
  /** The result. Null until status is SUCCESS. */
  output: Output | null
  feedback: Feedback | null
  /** What a code agent printed: the last 16,000 characters. Null if nothing. */
  logs: string | null
}

export type SucceededExecution<Output = JsonObject> = Execution<Output> & {
  status: 'SUCCESS'
  output: Output
}

export type ToolCall = {
  id: string
  name: string
  input: unknown
  /** Absent while the call is in progress or if it failed. */
  result?: unknown
  /** The error message that the model received. */
  error?: string | undefined
  /** Absent while the call is in progress. */
  durationMs?: number | undefined
}

/** One model response, or one `context.step` of a code agent. */
export type Step = {
  /** The position of the step, from 1. */
  number: number
  /** The name of a code agent step. */
  name?: string | undefined
  /** The result of a code agent step. */
  result?: unknown
  /** The text of the model response. */
  text?: string | undefined
  toolCalls?: ToolCall[] | undefined
  stopReason?: string | undefined
  usage?: Usage | undefined
  costUsd?: number | null | undefined
  startedAt: string
  finishedAt: string
  durationMs: number
}

/** The organization and the limits of the token. */
export type Me = {
  organizationId: string
  tokenId: string
  scopes: ('run' | 'read' | 'manage')[]
  /** IDs or slugs of the agents that the token may use. Null for all of them. */
  agents: string[] | null
  /** The tenant to which the token is bound. Null if it is not. */
  tenantId: string | null
  /** The requests per second that the token may send. Null for no limit. */
  rate: number | null
}

export type Violation = { path: string; message: string }

/** The codes of the service's errors. */
export type ErrorCode =
  | 'BadRequest'
  | 'InvalidJson'
  | 'InvalidQueryParameter'
  | 'InvalidHeader'
  | 'InvalidModelOverride'
  | 'Unauthorized'
  | 'Forbidden'
  | 'AgentNotFound'
  | 'VersionNotFound'
  | 'ExecutionNotFound'
  | 'RouteNotFound'
  | 'MethodNotAllowed'
  | 'ExecutionInProgress'
  | 'PayloadTooLarge'
  | 'UnsupportedMediaType'
  | 'InputSchemaMismatch'
  | 'FeedbackMismatch'
  | 'IdempotencyKeyReused'
  | 'TooManyRequests'
  | 'ExecutionFailed'
  | 'InternalError'
  | 'Unavailable'
  | 'ExecutionStillRunning'
