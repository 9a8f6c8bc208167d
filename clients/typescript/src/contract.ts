// Written by `npm run openapi`.

export type Agent = {
  id: string
  /** The organization that owns the agent. */
  orgId: string
  /** Human-readable identifier. Paths accept it instead of the ID. */
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
  inputSchema: { [key: string]: unknown }
  outputSchema: { [key: string]: unknown }
  /** An archived agent accepts no runs and no versions. */
  archivedAt: string | null
  /** The version that gets a part of the runs beside the current one. Null without any. */
  rollout: {
    /** The version that runs beside the current one. */
    versionId: string
    /** The share of the runs that get it. */
    percent: number
    /** What decides. `tenant`: all runs of a tenant get the same version. */
    key: 'tenant' | 'execution'
    /** A new percentage does not change it. */
    startedAt: string
    updatedAt: string
  } | null
  /** The last rollout that the service has ended; its version says why. Absent without any. */
  abortedRollout?: {
    versionId: string
    at: string
  }
}

export type AgentFilters = {
  /** Also return archived agents. */
  archived?: boolean
}

export type Approval = {
  id: string
  executionId: string
  /** The agent that asks. */
  documentId: string
  versionId: string
  tenantId: string | null
  /** The name of the tool, or of the wait in a code agent. */
  name: string
  title: string
  /** The arguments of the call with their defaults, or the data of the wait. Absent in a summary. */
  input?: unknown
  /** The JSON Schema that an edited input must match. Null for the wait of a code agent, whose data can be any object. Absent in a summary. */
  inputSchema?: { [key: string]: unknown } | null
  /** Whether this token may decide. False without the scope `approve`. If the tool says `notByCaller`, also false for the token that started the execution, and for every token that it or the same person has created. */
  mayDecide: boolean
  since: string
  until: string
  /** The number of the step. */
  step: number
}

export type AuditEntry = {
  id: string
  /** When the change started. */
  at: string
  actor: {
    /** token: an API token. subject: a person or a program that the identity provider knows. cli: a command that works on the table. */
    kind: 'token' | 'subject' | 'cli'
    /** Of the token; of a subject, a UUIDv5 of issuer and subject; of a command, the ARN of the AWS caller, or the user and the host. */
    id: string
    name?: string
    /** As the identity provider calls it. */
    subject?: string
  }
  source: {
    interface: 'HTTP' | 'MCP' | 'CLI'
    /** The address that the request came from, without regard to headers. */
    ip?: string
    /** At most 200 characters, as the client claims. */
    userAgent?: string
    /** The machine that the command ran on. */
    host?: string
  }
  action:
    | 'agent.publish'
    | 'agent.archive'
    | 'agent.restore'
    | 'version.promote'
    | 'version.retire'
    | 'version.unretire'
    | 'version.delete'
    | 'rollout.put'
    | 'rollout.end'
    | 'execution.cancel'
    | 'execution.delete'
    | 'execution.review'
    | 'batch.cancel'
    | 'batch.delete'
    | 'trial.start'
    | 'trial.cancel'
    | 'trial.delete'
    | 'approval.decide'
    | 'limits.put'
    | 'limits.delete'
    | 'schedule.put'
    | 'schedule.delete'
    | 'schedule.run'
    | 'webhook.create'
    | 'webhook.update'
    | 'webhook.delete'
    | 'webhook.rotate'
    | 'webhook.test'
    | 'webhook.redeliver'
    | 'token.create'
    | 'token.revoke'
    | 'organization.create'
  target: {
    kind:
      | 'agent'
      | 'version'
      | 'execution'
      | 'batch'
      | 'trial'
      | 'approval'
      | 'tenant'
      | 'schedule'
      | 'webhook'
      | 'token'
      | 'organization'
    /** Null if nothing was created. */
    id: string | null
    /** The agent of a version, of a schedule, or of a trial that was started. */
    agentId?: string
    /** Of an approval. */
    executionId?: string
  }
  /** What was requested, without secrets, inputs and notes: texts, numbers, booleans, null, and lists of these; objects with `from` and `to` where the change knows both. Of URLs, only the origin. */
  changes: { [key: string]: unknown }
  /** STARTED: the change is in progress, or its result could not be stored: it may have been made. FAILED with `InternalError` or `Unavailable`: a part of it may have been made. */
  result: 'STARTED' | 'SUCCEEDED' | 'FAILED'
  /** The code of the error. Present if the result is FAILED. */
  error?: string
}

export type AuditFilters = {
  /** Return only changes that started at this time or later (RFC 3339). */
  from?: string
  /** Return only changes that started before this time (RFC 3339). */
  to?: string
  /** Return only changes of this kind. */
  action?:
    | 'agent.publish'
    | 'agent.archive'
    | 'agent.restore'
    | 'version.promote'
    | 'version.retire'
    | 'version.unretire'
    | 'version.delete'
    | 'rollout.put'
    | 'rollout.end'
    | 'execution.cancel'
    | 'execution.delete'
    | 'execution.review'
    | 'batch.cancel'
    | 'batch.delete'
    | 'trial.start'
    | 'trial.cancel'
    | 'trial.delete'
    | 'approval.decide'
    | 'limits.put'
    | 'limits.delete'
    | 'schedule.put'
    | 'schedule.delete'
    | 'schedule.run'
    | 'webhook.create'
    | 'webhook.update'
    | 'webhook.delete'
    | 'webhook.rotate'
    | 'webhook.test'
    | 'webhook.redeliver'
    | 'token.create'
    | 'token.revoke'
    | 'organization.create'
  /** Return only changes by this actor: its ID, such as that of a token, or its subject. */
  actor?: string
  /** Return only changes of what has this ID: of an agent, also those of its versions and schedules; of an execution, also those of its approvals. Pages of filtered lists can be short, also empty, before the last one. */
  target?: string
}

export type Batch = {
  id: string
  /** The agent that runs. */
  documentId: string
  /** The version that all lines run, fixed when the batch was accepted. */
  versionId: string
  tenantId: string | null
  /** The token that started the batch. */
  tokenId: string | null
  /** CANCELLING: the batch was cancelled, and the executions that were open are being ended. */
  status: 'IN_PROGRESS' | 'CANCELLING' | 'ENDED'
  /** The number of inputs. */
  lines: number
  /** Lines by the status of their result. They add up to `lines`. */
  counts: {
    IN_PROGRESS: number
    SUCCESS: number
    ERROR: number
  }
  /** Those of the lines in ERROR that were cancelled. */
  cancelled: number
  /** How many of the lines in IN_PROGRESS are suspended, and have no worker. */
  waiting: number
  /** What they wait for, as `waitingFor` of their executions says, and how many of them. At most 20. */
  waitingFor: {
    kind: 'approval' | 'signal' | 'sleep' | 'limit'
    name: string
    lines: number
  }[]
  /** The price in US dollars of the lines that have ended or wait, with the agents that they called as tools. Models without a price count as 0. */
  costUsd: number
  maxBatchCostUsd: number | null
  /** How many lines are in progress at the same time: at most `lines`. */
  maxConcurrency: number
  enforceInputSchema: boolean | null
  useCache: boolean | null
  useDynamicLearning: boolean | null
  model: string | null
  maxAgentSteps: number | null
  maxTokens: number | null
  /** Of each line. */
  maxCostUsd: number | null
  /** The batch whose failed lines it repeats. */
  retryOf: string | null
  /** Why lines that had not started were not started any more: Cancelled, BudgetExceeded or DeadlineExceeded. Null otherwise. */
  error: {
    code: string
    message: string
    [key: string]: unknown
  } | null
  createdAt: string
  endedAt: string | null
}

export type BatchCheck = {
  /** The number of inputs. */
  lines: number
  valid: true
}

export type BatchFilters = {
  /** Return only batches of this agent (ID or slug). */
  agent?: string
  /** Return only batches of this tenant. */
  tenantId?: string
}

export type BatchParameters = {
  /** Reject input that does not exactly match the input schema. */
  enforceInputSchema?: boolean
  /** Reuse the result of an earlier execution with the same version, tenant and input. Overrides the setting of the version. */
  useCache?: boolean
  /** The maximum number of steps of the execution. A version that sets it sets the default and the highest value; otherwise, the default is 100. */
  maxAgentSteps?: number
  /** The maximum number of input and output tokens of the execution and of the agents that it calls as tools. The smaller one of this and the setting of the version counts. */
  maxTokens?: number
  /** The maximum price in US dollars of the model responses of the execution and of the agents that it calls as tools. The smaller one of this and the setting of the version counts. */
  maxCostUsd?: number
  /** The ID of the version to run. Default: the current version of the agent. */
  version?: string
  /** The tenant of the execution. */
  tenantId?: string
  /** Show the model similar past executions as examples. Default: the setting of the version. */
  useDynamicLearning?: boolean
  /** Overrides the model of the version. Format: `{model}[:{reasoning}]`. Allowed are the models that the version lists; by default, those of the provider of its own model. */
  model?: string
  /** Where the event `batch.ended` is sent, beside the webhooks of the organization; signed with its default secret. Only where operators have turned on the setting `webhookUrls`. */
  webhookUrl?: string
  /** The maximum price in US dollars of all lines together. No line is started once those that have ended reach it; those in progress then are completed. */
  maxBatchCostUsd?: number
  /**
   * How many lines are in progress at the same time.
   * @default 50
   */
  maxConcurrency?: number
  /** Check the request and all lines, and start nothing. */
  validateOnly?: boolean
}

export type BatchResult = {
  customId: string
  /** Null if the line has no execution: it has not started, was not started or was deleted. */
  executionId: string | null
  status: 'IN_PROGRESS' | 'SUCCESS' | 'ERROR'
  output: { [key: string]: unknown } | null
  /** Null unless status is ERROR. */
  error: {
    code: string
    message: string
    [key: string]: unknown
  } | null
}

export type BatchState = {
  id: string
  /** CANCELLING: the batch was cancelled, and the executions that were open are being ended. */
  status: 'IN_PROGRESS' | 'CANCELLING' | 'ENDED'
}

export type CreatedToken = {
  id: string
  name: string
  /** How the token begins. */
  prefix: string
  scopes: ('run' | 'read' | 'manage' | 'review' | 'approve')[]
  /** IDs or slugs of the only agents that it may use. Null: all of them. */
  agents: string[] | null
  /** The only tenant that it may use. Null: any. */
  tenantId: string | null
  /** The requests per second that it may send. Null: no limit. */
  rate: number | null
  createdAt: string
  /** The ID of a token, of a person or of an operator. */
  createdBy: string
  /** Null: it does not expire. */
  expiresAt: string | null
  /** Null: it is not revoked. */
  revokedAt: string | null
  /** The hour of its last use. Null: it was not used. */
  lastUsedAt: string | null
  /** The token itself. It is shown once: store it where it is used. */
  token: string
}

export type CreatedWebhook = {
  id: string
  url: string
  types: (
    | 'execution.succeeded'
    | 'execution.failed'
    | 'execution.cancelled'
    | 'execution.waiting'
    | 'batch.ended'
    | 'limit.warning'
    | 'rollout.aborted'
  )[]
  /** IDs of agents. Null: all of them. */
  agents: string[] | null
  /** Null: with and without a tenant. */
  tenants: string[] | null
  /** Null: all of them. */
  sources: ('API' | 'BATCH' | 'SCHEDULE')[] | null
  allowedHosts: string[]
  enabled: boolean
  /** Why the service has disabled it: the receiver answered 410, or failed for three days. */
  disabledReason: 'gone' | 'failing' | null
  /** Since when all deliveries have failed. */
  failingSince: string | null
  createdAt: string
  /** Signs the deliveries (Standard Webhooks 1.0.0). It is shown once: store it where receivers read it. */
  secret: string
}

export type Decision = {
  /** The ID of the approval. */
  id: string
  executionId: string
  decision: 'approve' | 'reject'
  /** The name and the short ID of the token that decided: `Ann (01a2003a…9251)`. Null after a timeout. */
  by: string | null
  note: string | null
  decidedAt: string
  /** What the approver replaced the input by. Null if it is unchanged. */
  input: { [key: string]: unknown } | null
}

export type DecisionBody = {
  decision: 'approve' | 'reject'
  /** Replaces the arguments of the call, and must match the input schema of the tool; of a code agent, the data. Only with `approve`. */
  input?: { [key: string]: unknown } | null
  /** A comment, which the model or the code agent gets. */
  note?: string | null
}

export type Delivery = {
  /** The ID of the event: the header `webhook-id`. */
  id: string
  /** The ID of the webhook, or `default`. */
  webhookId: string
  /** The execution that the event is about. */
  executionId: string | null
  /** The batch that the event is about. */
  batchId: string | null
  /** The type of the event. */
  type: string
  /** The `timestamp` of the event. */
  occurredAt: string
  /** `PENDING`: it is tried again. `FAILED`: it is not, unless it is redelivered. */
  status: 'PENDING' | 'DELIVERED' | 'FAILED'
  attempts: number
  /** The time of the first attempt. */
  createdAt: string
  /** The time of the last attempt. */
  attemptedAt: string
  nextAttemptAt: string | null
  /** The status of the last answer. Null without one. */
  responseStatus: number | null
  /** What was wrong with the last attempt. */
  error: string | null
}

export type Execution = {
  /** The ID of the execution, for polling. */
  id: string
  /** The agent that ran. */
  documentId: string
  versionId: string
  /** Why it has this version. CURRENT: it was the current version of the agent. ROLLOUT: a rollout selected it. REQUEST: the request named it. */
  selectedBy: 'CURRENT' | 'ROLLOUT' | 'REQUEST'
  /** The version was a draft when the execution was accepted. Absent otherwise. */
  draft?: true
  tenantId: string | null
  status: 'IN_PROGRESS' | 'SUCCESS' | 'ERROR'
  /** API: a client started the execution. AGENT: another agent called this one as a tool. BATCH: it is a line of a batch. SCHEDULE: a schedule started it. TRIAL: it belongs to a trial, or is a rerun that takes something from the recording of its original. */
  source: 'API' | 'AGENT' | 'BATCH' | 'SCHEDULE' | 'TRIAL'
  /** The execution that it repeats, in a trial or a rerun. */
  originalExecutionId?: string
  /** The trial that it belongs to. */
  trialId?: string
  /** The batch that it is a line of. Present only if source is BATCH. */
  batchId?: string
  /** The name that the client gave to the line of the batch. */
  customId?: string
  /** The schedule that started it. Present only if source is SCHEDULE. */
  scheduleName?: string
  /** When the schedule was due. */
  scheduledFor?: string
  /** The execution that called this one. Present only if source is AGENT. */
  parentExecutionId?: string
  /** The token that started the execution, or the one that called it. Null if no token did. */
  tokenId: string | null
  /** What a suspended execution waits for: at most 1 kB of it. Null unless it is suspended. */
  waitingFor: Wait[] | null
  /** The input that was sent. */
  input: { [key: string]: unknown }
  /** The result. Null until status is SUCCESS. */
  output: { [key: string]: unknown } | null
  /** Why the execution failed. Null unless status is ERROR. */
  error: {
    code: string
    message: string
    [key: string]: unknown
  } | null
  /** The changes that made the input match the input schema. */
  inputAdaptations: {
    /** JSON Pointer into the adapted input that the agent received. */
    path: string
    kind: 'renamed' | 'unwrapped' | 'converted' | 'removed' | 'defaulted'
    /** JSON Pointer into the input that was sent, or the type of the original value. */
    from?: string
    message: string
  }[]
  /** The input that the agent received. Present only if it was requested with `adaptedInput=true` and differs from the one that was sent. */
  adaptedInput?: { [key: string]: unknown }
  /** What the request chose in place of the settings of its version. Present only if it was requested with `requestedOptions=true`. */
  requestedOptions?: {
    model?: string
    maxAgentSteps?: number
    maxTokens?: number
    maxCostUsd?: number
    /** As it was for the execution, also if the version decided. */
    useDynamicLearning: boolean
    /** As it was for the execution, also if the version decided. */
    useCache: boolean
  }
  /** Whether the result of an earlier execution was reused. */
  cached: boolean
  /** The execution whose result was reused. Present only if cached is true. */
  cachedDocumentExecutionId?: string
  createdAt: string
  startedAt: string | null
  finishedAt: string | null
  /** How often a worker has begun or resumed the run. 0 while it waits for the first one. */
  attempts: number
  /** The number of steps: model responses, or steps and waits of a code agent. */
  steps: number
  usage: Usage
  /** The price of the model responses in US dollars, without those of agents called as tools. Null if the model has no price. */
  costUsd: number | null
  /** With the agents called as tools, as soon as their calls have ended. */
  totalUsage: Usage
  /** The same in US dollars. Null if the model, or that of an agent, has no price. */
  totalCostUsd: number | null
  /** The model that was used, of several the last one. Null for a code agent. */
  model: string | null
  /** The past executions that the model was shown as examples. */
  learnedFrom: string[]
  /** What to know about the run: codes, some followed by a colon and details. ToolsNeverCalled: the agent has tools, and the model answered in text without calling any. TemperatureIgnored: the model does not accept the temperature of the document. ModelWithoutPrice: a limit in US dollars of its tenant or agent did not count the run. McpServerUnavailable: the run had no tools of this MCP server. McpToolsOmitted: it did without the tools that its server declares wrongly. Present only if there are any. */
  warnings?: string[]
  /** The feedback on the execution, if any. */
  feedback: Feedback | null
  /** What a code agent printed: the last 16,000 characters. Null if nothing. */
  logs: string | null
  /** The values that `maxValueBytes` left out: their JSON Pointers, with their size in bytes of JSON. Absent if none were. */
  omitted?: { [key: string]: number }
}

export type ExecutionComparison = {
  left: ExecutionSummary
  right: ExecutionSummary
  /** What differs in the inputs as they were sent (`/input`), and in the options (`/options`). */
  request: {
    /** The first ones. */
    differences: {
      /** JSON Pointer into the record of the execution (`/output`, `/error`), or into that of the step. */
      path: string
      /** Absent if there is no such value. More than 200 characters are cut. */
      left?: unknown
      right?: unknown
    }[]
    /** There are more differences. Absent otherwise. */
    isCut?: true
  }
  /** The first ones. */
  differences: {
    /** JSON Pointer into the record of the execution (`/output`, `/error`), or into that of the step. */
    path: string
    /** Absent if there is no such value. More than 200 characters are cut. */
    left?: unknown
    right?: unknown
  }[]
  /** There are more differences. Absent otherwise. */
  isCut?: true
  /** In the order of the left execution, then those that only the other one has. Texts, stop reasons, tool calls and results are compared. */
  steps: {
    /** Null if only the other execution has the step. */
    number: number | null
    /** In the other execution; null if it has no such step. Steps of code agents are compared by name. */
    otherNumber: number | null
    /** The name of a code agent step: the first 200 characters. */
    name?: string
    isSame: boolean
    /** The first ones. */
    differences: {
      /** JSON Pointer into the record of the execution (`/output`, `/error`), or into that of the step. */
      path: string
      /** Absent if there is no such value. More than 200 characters are cut. */
      left?: unknown
      right?: unknown
    }[]
    /** There are more differences. Absent otherwise. */
    isCut?: true
  }[]
  /** Whether there are more steps than these, which were not compared. */
  hasMoreSteps: boolean
}

export type ExecutionFilters = {
  /** Return only executions with this status. */
  status?: 'IN_PROGRESS' | 'SUCCESS' | 'ERROR'
  /** With true, return only suspended executions, which wait for an approval, a signal or a time. With false, return only the others. */
  waiting?: boolean
  /** Return only executions of this tenant. */
  tenantId?: string
  /** Return only executions created at this time or later (RFC 3339). */
  from?: string
  /** Return only executions created before this time (RFC 3339). */
  to?: string
  /** Return only executions that failed with this code. A page looks at 2,000 executions at most: see `X-Searched-Until` (in MCP, `searchedUntil`). */
  errorCode?: string
  /** Return only executions that failed with an error whose code or message contains this text; upper and lower case are the same. A page looks at 2,000 executions at most: see `X-Searched-Until` (in MCP, `searchedUntil`). */
  errorText?: string
  /** Return only executions of this version (ID). A page looks at 2,000 executions at most: see `X-Searched-Until` (in MCP, `searchedUntil`). */
  version?: string
  /** Return only executions with this source. Executions of a trial are in no list but that of the trial: with TRIAL, reruns are listed that take something from a recording. A page looks at 2,000 executions at most: see `X-Searched-Until` (in MCP, `searchedUntil`). */
  source?: 'API' | 'AGENT' | 'BATCH' | 'SCHEDULE' | 'TRIAL'
  /** Return only executions whose record has this model. A page looks at 2,000 executions at most: see `X-Searched-Until` (in MCP, `searchedUntil`). */
  model?: string
}

export type ExecutionParameters = {
  /** Add the input that the agent received as `adaptedInput`, if it differs from the one that was sent. */
  adaptedInput?: boolean
  /** Leave out each input, output, result and text that has more bytes of JSON. `omitted` of the record has their sizes. */
  maxValueBytes?: number
  /** Add what the request chose in place of the settings of the version as `requestedOptions`. */
  requestedOptions?: boolean
}

export type ExecutionState = {
  /** The ID of the execution, for polling. */
  id: string
  status: 'IN_PROGRESS' | 'SUCCESS' | 'ERROR'
}

export type ExecutionSummary = {
  /** The ID of the execution, for polling. */
  id: string
  /** The agent that ran. */
  documentId: string
  versionId: string
  /** Why it has this version. CURRENT: it was the current version of the agent. ROLLOUT: a rollout selected it. REQUEST: the request named it. */
  selectedBy: 'CURRENT' | 'ROLLOUT' | 'REQUEST'
  /** The version was a draft when the execution was accepted. Absent otherwise. */
  draft?: true
  tenantId: string | null
  status: 'IN_PROGRESS' | 'SUCCESS' | 'ERROR'
  /** API: a client started the execution. AGENT: another agent called this one as a tool. BATCH: it is a line of a batch. SCHEDULE: a schedule started it. TRIAL: it belongs to a trial, or is a rerun that takes something from the recording of its original. */
  source: 'API' | 'AGENT' | 'BATCH' | 'SCHEDULE' | 'TRIAL'
  /** The execution that it repeats, in a trial or a rerun. */
  originalExecutionId?: string
  /** The trial that it belongs to. */
  trialId?: string
  /** The batch that it is a line of. Present only if source is BATCH. */
  batchId?: string
  /** The name that the client gave to the line of the batch. */
  customId?: string
  /** The schedule that started it. Present only if source is SCHEDULE. */
  scheduleName?: string
  /** When the schedule was due. */
  scheduledFor?: string
  /** The execution that called this one. Present only if source is AGENT. */
  parentExecutionId?: string
  /** The token that started the execution, or the one that called it. Null if no token did. */
  tokenId: string | null
  /** What a suspended execution waits for: at most 1 kB of it. Null unless it is suspended. */
  waitingFor: Wait[] | null
  /** Why the execution failed. Null unless status is ERROR. */
  error: {
    code: string
    message: string
    [key: string]: unknown
  } | null
  /** Whether the result of an earlier execution was reused. */
  cached: boolean
  /** The execution whose result was reused. Present only if cached is true. */
  cachedDocumentExecutionId?: string
  createdAt: string
  startedAt: string | null
  finishedAt: string | null
  /** How often a worker has begun or resumed the run. 0 while it waits for the first one. */
  attempts: number
  /** The number of steps: model responses, or steps and waits of a code agent. */
  steps: number
  usage: Usage
  /** The price of the model responses in US dollars, without those of agents called as tools. Null if the model has no price. */
  costUsd: number | null
  /** With the agents called as tools, as soon as their calls have ended. */
  totalUsage: Usage
  /** The same in US dollars. Null if the model, or that of an agent, has no price. */
  totalCostUsd: number | null
  /** The model that was used, of several the last one. Null for a code agent. */
  model: string | null
  /** The past executions that the model was shown as examples. */
  learnedFrom: string[]
  /** What to know about the run: codes, some followed by a colon and details. ToolsNeverCalled: the agent has tools, and the model answered in text without calling any. TemperatureIgnored: the model does not accept the temperature of the document. ModelWithoutPrice: a limit in US dollars of its tenant or agent did not count the run. McpServerUnavailable: the run had no tools of this MCP server. McpToolsOmitted: it did without the tools that its server declares wrongly. Present only if there are any. */
  warnings?: string[]
}

export type Feedback = {
  rating: 1 | -1
  correctedOutput: { [key: string]: unknown } | null
  note: string | null
  updatedAt: string
}

export type FeedbackBody = {
  /** 1 for a good result, -1 for a bad one. */
  rating: 1 | -1
  /** The correct output. It must match the output schema of the version that ran. */
  correctedOutput?: { [key: string]: unknown } | null
  /** A comment for people. It is never shown to a model. */
  note?: string | null
}

/** An image or a PDF: the value of an input field with `type: file`. */
export type FileInput = {
  mediaType: 'application/pdf' | 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'
  /** At most 4,500,000 bytes, and 3,750,000 of an image. */
  data: string
}

export type Limits = {
  /** Present if the limits are those of a tenant. */
  tenantId?: string
  /** Present if the limits are those of an agent. */
  agentId?: string
  maxOpenExecutions: number | null
  maxRunsPerMinute: number | null
  maxCostUsd: {
    day: number | null
    month: number | null
  }
  warnAt: number | null
  queueWhenFull: boolean
  updatedAt: string
  /** Models without a price, which limits in US dollars do not count. Absent without any. */
  warnings?: string[]
}

export type LimitsBody = {
  /** How many executions may be in progress at the same time, from their acceptance to their end; also while they are suspended. */
  maxOpenExecutions?: number | null
  /** How many runs are accepted in a minute of the clock. */
  maxRunsPerMinute?: number | null
  /** The price of model responses in US dollars. */
  maxCostUsd?: {
    /** Per calendar day in UTC. */
    day?: number | null
    /** Per calendar month in UTC. */
    month?: number | null
  } | null
  /** The share of each cost limit at which `limit.warning` is sent. */
  warnAt?: number | null
  /** Whether asynchronous runs above `maxOpenExecutions` wait for their turn instead of being refused. Default: false. */
  queueWhenFull?: boolean
}

export type LimitsDetails = {
  /** Present if the limits are those of a tenant. */
  tenantId?: string
  /** Present if the limits are those of an agent. */
  agentId?: string
  maxOpenExecutions: number | null
  maxRunsPerMinute: number | null
  maxCostUsd: {
    day: number | null
    month: number | null
  }
  warnAt: number | null
  queueWhenFull: boolean
  updatedAt: string
  /** What was spent in the current day and month (UTC) while there was a cost limit. */
  spentUsd: {
    day: number
    month: number
  }
  /** Executions in progress that were accepted with `maxOpenExecutions`. */
  openExecutions: number
}

export type Me = {
  organizationId: string
  tokenId: string
  /** Who sends the request, as the identity provider knows it. Null for an API token; otherwise tokenId is derived from it. */
  subject: string | null
  /** read: GET routes. run: start and cancel executions, and give feedback. approve: decide on approvals. review: give feedback that runs learn from. manage: everything else. */
  scopes: ('run' | 'read' | 'manage' | 'review' | 'approve')[]
  /** IDs or slugs of the agents that the token may use. Null for all of them. */
  agents: string[] | null
  /** The tenant to which the token is bound. Null if it is not. */
  tenantId: string | null
  /** The requests per second that the token may send. Null for no limit. */
  rate: number | null
  /** The limits of the tenant to which the token is bound. Null without any. */
  limits: {
    maxOpenExecutions: number | null
    maxRunsPerMinute: number | null
    maxCostUsd: {
      day: number | null
      month: number | null
    }
    warnAt: number | null
    queueWhenFull: boolean
    updatedAt: string
    /** What is left of them now. Null: no limit. */
    left: {
      openExecutions: number | null
      costUsd: {
        day: number | null
        month: number | null
      }
    }
  } | null
}

export type Problem = {
  /** A URI that identifies the error code. */
  type: string
  title: string
  status: number
  /** What is wrong with this request, and how to correct it. */
  detail: string
  /** The request ID. Quote it when you ask for support. */
  instance: string
  code: string
  /** The individual violations. */
  errors?: {
    path: string
    message: string
    /** In a text that the body contains, from 1. */
    line?: number
    /** In a document, as a dotted path. */
    field?: string
  }[]
  [key: string]: unknown
}

export type PublishBody = {
  /** The text of an `agent.md`. */
  document: string
  /** The slug if the document has none, like the name of the folder. */
  slug?: string
  /** The code of a code agent, bundled into one ES module. `agents publish` does that. */
  code?: string | null
  /** Publish a draft, which runs only when a request names it. */
  draft?: boolean
  /** What the author says about the version. */
  message?: string | null
}

export type RerunBody = {
  /** The version that runs. Default: the one that a new run would get. */
  versionId?: string
  /** By the name of a tool, or `default` for all others. `recorded`: calls get the results that the original got. `live`: they are made. Default: `live`. */
  tools?: { [key: string]: 'recorded' | 'live' }
  /** `recorded`: responses of the original, up to the first request that differs. `live`: models are called. Default: `live`. */
  models?: 'recorded' | 'live'
  /** Of code agents. `recorded`: steps and waits have the values of the original. `live`: they are executed, with all that they do. Default: `live`. */
  steps?: 'recorded' | 'live'
  /** JSON Pointers into arguments of tools and into outputs: what is not compared. */
  ignore?: string[]
  /** Steps before this one are taken from the original as they are. */
  fromStep?: number
}

export type ResourceMetadata = {
  resource: string
  resource_name: string
  authorization_servers: string[]
  bearer_methods_supported: string[]
  scopes_supported?: string[]
}

export type Rollout = {
  /** The agent. */
  documentId: string
  currentVersionId: string
  /** The version that runs beside the current one. */
  versionId: string
  /** The share of the runs that get it. */
  percent: number
  /** What decides. `tenant`: all runs of a tenant get the same version. */
  key: 'tenant' | 'execution'
  /** A new percentage does not change it. */
  startedAt: string
  updatedAt: string
  /** When the service ends it by itself. Null: never. */
  abort: {
    maxErrorRate: number | null
    maxCostIncrease: number | null
    minRuns: number
  } | null
}

export type RolloutBody = {
  /** The version, which is not the current one. */
  versionId: string
  /** The share of the runs that get the version, with at most two decimals. */
  percent: number
  /** Default: as it is, for a new rollout `tenant`: all runs of a tenant get the same version. `execution`: each run is on its own, as are runs without a tenant. */
  key?: 'tenant' | 'execution'
  /** When the service ends the rollout by itself. Null: never. Default: as it is, or null. */
  abort?: {
    /** The share of the runs that may fail. */
    maxErrorRate?: number | null
    /** How much more a run may cost than one of the current version in the same time: 0.5 for half as much again. */
    maxCostIncrease?: number | null
    /** How many runs of the version there have to be before. Default: 20. */
    minRuns?: number
  } | null
  /** The trial of the version, where the current version requires one of a draft. */
  trial?: string | null
}

export type RotatedSecret = {
  /** The ID of the webhook, or `default`. */
  id: string
  /** Signs the deliveries (Standard Webhooks 1.0.0). It is shown once: store it where receivers read it. */
  secret: string
  /** Until then, deliveries are also signed with the previous secret. Null: there was none. */
  previousSecretExpiresAt: string | null
}

export type RunParameters = {
  /** Reject input that does not exactly match the input schema. */
  enforceInputSchema?: boolean
  /** Reuse the result of an earlier execution with the same version, tenant and input. Overrides the setting of the version. */
  useCache?: boolean
  /** The maximum number of steps of the execution. A version that sets it sets the default and the highest value; otherwise, the default is 100. */
  maxAgentSteps?: number
  /** The maximum number of input and output tokens of the execution and of the agents that it calls as tools. The smaller one of this and the setting of the version counts. */
  maxTokens?: number
  /** The maximum price in US dollars of the model responses of the execution and of the agents that it calls as tools. The smaller one of this and the setting of the version counts. */
  maxCostUsd?: number
  /** The ID of the version to run. Default: the current version of the agent. */
  version?: string
  /** The tenant of the execution. */
  tenantId?: string
  /** Show the model similar past executions as examples. Default: the setting of the version. */
  useDynamicLearning?: boolean
  /** Overrides the model of the version. Format: `{model}[:{reasoning}]`. Allowed are the models that the version lists; by default, those of the provider of its own model. */
  model?: string
  /** Where the events of the execution are sent, beside the webhooks of the organization; signed with its default secret. Only where operators have turned on the setting `webhookUrls`. */
  webhookUrl?: string
}

export type Schedule = {
  name: string
  /** The ID of the agent. */
  documentId: string
  cron: string
  timezone: string
  input: { [key: string]: unknown }
  tenantId: string | null
  options: { [key: string]: unknown }
  /** The version that runs. Null: the current one of the time. */
  version: string | null
  enabled: boolean
  overlap: 'skip' | 'allow'
  catchUpSeconds: number
  /** Whether the document of the agent declares it: promotions change and delete it. */
  declared: boolean
  /** The token that set it. Null if the document declares it. */
  tokenId: string | null
  createdAt: string
  /** When it was set; firings do not change it. */
  updatedAt: string
  /** Null if it is not enabled, or never fires again. */
  nextRunAt: string | null
  /** The next times, beginning with `nextRunAt`. */
  nextRuns: string[]
  /** The last 10, newest first. */
  firings: {
    scheduledFor: string
    /** `SKIPPED`: the execution of an earlier firing was in progress. `MISSED`: the service did not run, and a later time was due. `FAILED`: no execution could start. */
    status: 'STARTED' | 'SKIPPED' | 'MISSED' | 'FAILED'
    executionId: string | null
    /** Why it failed: an error code. Null otherwise. */
    code: string | null
  }[]
}

export type ScheduleBody = {
  /** Minute, hour, day of the month, month, day of the week; or `@daily` and others. */
  cron: string
  /** The IANA time zone of `cron`. Default: `UTC`. */
  timezone?: string
  /** The input of each execution. Default: `{}`. */
  input?: { [key: string]: unknown }
  /** The tenant of the executions. */
  tenantId?: string | null
  /** Query parameters of the runs. */
  options?: {
    /** Reject input that does not exactly match the input schema. */
    enforceInputSchema?: boolean
    /** The maximum number of steps of the execution. */
    maxAgentSteps?: number
    /** The maximum number of input and output tokens. */
    maxTokens?: number
    /** The maximum price of the model responses in US dollars. */
    maxCostUsd?: number
    /** Overrides the model of the version. */
    model?: string
    /** Overrides the setting of the version. */
    useCache?: boolean
    /** Overrides the setting of the version. */
    useDynamicLearning?: boolean
  }
  /** The version that runs. Default: null, the current version of the time. */
  version?: string | null
  /** Whether it fires. Default: true. */
  enabled?: boolean
  /** What happens when it is due and its last execution is in progress. Default: `skip`, no execution starts. */
  overlap?: 'skip' | 'allow'
  /** After an outage, the latest time that was missed starts an execution if it is at most so long ago. Default: 3600. */
  catchUpSeconds?: number
}

export type SentSignal = {
  executionId: string
  id: string
}

export type Signal = {
  id: string
  name: string
  data: unknown
  receivedAt: string
}

export type Step = {
  /** The position of the step, from 1. */
  number: number
  /** The name of a code agent step. */
  name?: string
  /** The result of a code agent step, or of a wait that has ended. */
  result?: unknown
  /** What a code agent waits for. */
  wait?: {
    kind: string
    [key: string]: unknown
  }
  /** The signals that do not match the schema of the wait. Absent for none. */
  skipped?: {
    id: string
    reason: string
  }[]
  /** The text of the model response. */
  text?: string
  /** The model that responded. */
  model?: string
  toolCalls?: {
    id: string
    name: string
    input: unknown
    /** The result of the tool. Absent while the call is in progress or if it failed. */
    result?: unknown
    /** The error message that the model received. */
    error?: string
    /** The approval that the call needs, with the decision once there is one. Absent if it needs none. */
    approval?: {
      id: string
      until: string
      decision?: 'approve' | 'reject' | 'timeout'
      /** The name and the short ID of the token that decided: `Ann (01a2003a…9251)`. Null after a timeout. */
      by?: string | null
      note?: string | null
      decidedAt?: string
      /** What the approver replaced the input by. Null if it is unchanged. */
      input?: { [key: string]: unknown } | null
    }
    /** The execution of the agent that was called. Absent for other tools. */
    executionId?: string
    /** The call was not made: the result is that of the original execution. Absent otherwise. */
    replayed?: true
    /** Absent while the call is in progress. */
    startedAt?: string
    /** Absent while the call is in progress. */
    durationMs?: number
    /** The attempt at the execution that made the call, from 1. Absent while it is in progress. */
    attempt?: number
  }[]
  /** Why the model stopped. The calls of a response that reached the output limit (length), filled the context window or was refused are not executed. */
  stopReason?: 'stop' | 'tool-calls' | 'length' | 'context-window' | 'refusal' | 'content-filter' | 'other'
  /** How many of the oldest tool results of the run its request had cleared, with the arguments of their calls, because the context window filled. Absent for none. */
  clearedResults?: number
  /** The model was not asked: the response is that of the original execution, and has used nothing here. Absent otherwise. */
  replayed?: true
  usage?: Usage
  /** The price of the model response in US dollars. Null if the model has no price. */
  costUsd?: number | null
  /** The attempt at the execution that made the step, from 1. Later attempts resume the run where a worker stopped. */
  attempt: number
  startedAt: string
  finishedAt: string
  durationMs: number
  /** The values that `maxValueBytes` left out: their JSON Pointers, with their size in bytes of JSON. Absent if none were. */
  omitted?: { [key: string]: number }
}

export type TestResult = {
  delivered: boolean
  /** The status of the answer. Null without one. */
  responseStatus: number | null
  error: string | null
}

export type Token = {
  id: string
  name: string
  /** How the token begins. */
  prefix: string
  scopes: ('run' | 'read' | 'manage' | 'review' | 'approve')[]
  /** IDs or slugs of the only agents that it may use. Null: all of them. */
  agents: string[] | null
  /** The only tenant that it may use. Null: any. */
  tenantId: string | null
  /** The requests per second that it may send. Null: no limit. */
  rate: number | null
  createdAt: string
  /** The ID of a token, of a person or of an operator. */
  createdBy: string
  /** Null: it does not expire. */
  expiresAt: string | null
  /** Null: it is not revoked. */
  revokedAt: string | null
  /** The hour of its last use. Null: it was not used. */
  lastUsedAt: string | null
}

export type TokenBody = {
  /** What lists show it by. */
  name: string
  /** What it may do. Default: `run` and `read`. */
  scopes?: ('run' | 'read' | 'manage' | 'review' | 'approve')[]
  /** Slugs or IDs of the only agents that it may use; they need not exist yet. Null: all. Default: those of your token. */
  agents?: string[] | null
  /** The only tenant that it may use. Null: any. Default: that of your token. */
  tenantId?: string | null
  /** Its maximum requests per second. Null: no limit. Default: that of your token. */
  rate?: number | null
  /** When it expires (RFC 3339): at most 3650 days from now. Null: never. Default: in 90 days. If your token expires: at most its own lifetime from now, for people 366 days, also by default; not null. */
  expiresAt?: string | null
}

export type Trial = {
  id: string
  /** The agent that runs. */
  documentId: string
  /** The version that all lines run, fixed when the batch was accepted. */
  versionId: string
  /** The token that started the batch. */
  tokenId: string | null
  /** CANCELLING: the batch was cancelled, and the executions that were open are being ended. */
  status: 'IN_PROGRESS' | 'CANCELLING' | 'ENDED'
  /** Lines by the status of their result. They add up to `lines`. */
  counts: {
    IN_PROGRESS: number
    SUCCESS: number
    ERROR: number
  }
  /** Those of the lines in ERROR that were cancelled. */
  cancelled: number
  /** How many lines are in progress at the same time: at most `lines`. */
  maxConcurrency: number
  /** Why lines that had not started were not started any more: Cancelled, BudgetExceeded or DeadlineExceeded. Null otherwise. */
  error: {
    code: string
    message: string
    [key: string]: unknown
  } | null
  createdAt: string
  endedAt: string | null
  /** The number of originals. */
  lines: number
  /** The price in US dollars of the executions that have ended. */
  costUsd: number
  maxTrialCostUsd: number | null
  from: string | null
  to: string | null
  /** Only originals of this tenant. Null: of all. */
  tenantId: string | null
  feedback: 'corrected' | 'rated' | null
  /** Fewer executions than asked for: it looked at the newest 5,000 only, and there are older ones. */
  selectionCut: boolean
  /** By the name of the tool; `default` for all others. */
  tools: { [key: string]: 'recorded' | 'live' }
  models: 'recorded' | 'live'
  steps: 'recorded' | 'live'
  ignore: string[]
  /** Executions that have ended, by verdict. SAME: like the original. CHANGED: another output, or another end. CORRECTED: now equals the output that a person has corrected. REGRESSED: equalled it before. DIVERGED: it would need what the original did not record. ERROR: it failed. */
  verdicts: {
    SAME: number
    CHANGED: number
    CORRECTED: number
    REGRESSED: number
    DIVERGED: number
    ERROR: number
  }
  /** Null until the trial has ended. */
  sums: {
    /** Lines that have an execution. */
    runs: number
    /** Of these, executions that can be compared with their originals. */
    compared: number
    /** Executions that have ended, by verdict. SAME: like the original. CHANGED: another output, or another end. CORRECTED: now equals the output that a person has corrected. REGRESSED: equalled it before. DIVERGED: it would need what the original did not record. ERROR: it failed. */
    verdicts: {
      SAME: number
      CHANGED: number
      CORRECTED: number
      REGRESSED: number
      DIVERGED: number
      ERROR: number
    }
    /** Executions whose output or input did not match the schema of the version. */
    schemaViolations: number
    /** In US dollars, with what responses from recordings had cost. */
    costUsd: {
      original: {
        median: number
        p95: number
      }
      trial: {
        median: number
        p95: number
      }
      originalTotal: number
      trialTotal: number
    }
    runTimeMs: {
      original: {
        median: number
        p95: number
      }
      trial: {
        median: number
        p95: number
      }
    }
    steps: {
      original: {
        median: number
        p95: number
      }
      trial: {
        median: number
        p95: number
      }
    }
  } | null
}

export type TrialBody = {
  /** Only executions that were created at this time or later (RFC 3339). */
  from?: string | null
  /** Only executions that were created before this time (RFC 3339). */
  to?: string | null
  /** How many executions it repeats at most: the newest ones. Default: 100. */
  limit?: number
  /** Only executions of this tenant. */
  tenantId?: string | null
  /** Only executions that a reviewer has corrected, or rated. */
  feedback?: 'corrected' | 'rated' | null
  /** These executions, instead of those that the other fields select. */
  executions?: string[]
  /** By the name of a tool, or `default` for all others. `recorded`: calls get the results that the original got. `live`: they are made, only of tools that the document marks with `readOnly: true`. Default: `recorded`. */
  tools?: { [key: string]: 'recorded' | 'live' }
  /** `recorded`: responses of the original, up to the first request that differs. `live`: models are called. Default: `live`. */
  models?: 'recorded' | 'live'
  /** Of code agents. `recorded`: steps and waits have the values of the original. `live`: they are executed, with all that they do. Default: `recorded`. */
  steps?: 'recorded' | 'live'
  /** JSON Pointers into arguments of tools and into outputs: what is not compared. */
  ignore?: string[]
  /** The maximum price in US dollars of all model responses together. Required if models are live. If they are recorded and it is missing, no model is called: runs end where they would. */
  maxTrialCostUsd?: number
  /** How many executions are in progress at the same time. */
  maxConcurrency?: number
}

export type TrialFilters = {
  /** Return only trials of this agent (ID or slug). */
  agent?: string
  /** Return only trials of this version. */
  version?: string
}

export type TrialItem = {
  originalExecutionId: string
  /** Null if it has not begun, was not started any more or was deleted. */
  executionId: string | null
  status: 'IN_PROGRESS' | 'SUCCESS' | 'ERROR'
  /** Null unless its execution has ended. */
  verdict: 'SAME' | 'CHANGED' | 'CORRECTED' | 'REGRESSED' | 'DIVERGED' | 'ERROR' | null
  /** At most 20. Long values are cut. */
  differences: {
    /** JSON Pointer (RFC 6901) into the output. */
    path: string
    /** Absent if the original has no such value. */
    original?: unknown
    /** Absent if the trial has no such value. */
    trial?: unknown
  }[]
  /** There are more than these. */
  moreDifferences: boolean
  /** Why it failed, or why it was not started. */
  error: {
    code: string
    message: string
    [key: string]: unknown
  } | null
  /** Null without a model response that has a price. */
  costUsd: number | null
  /** What responses that it took from the recording had cost. Null without any. */
  replayedCostUsd: number | null
  /** Null unless its execution has ended. */
  runTimeMs: number | null
  steps: number | null
}

export type TrialItemFilters = {
  /** Return only executions with this verdict. */
  verdict?: 'SAME' | 'CHANGED' | 'CORRECTED' | 'REGRESSED' | 'DIVERGED' | 'ERROR'
}

export type TrialState = {
  id: string
  /** CANCELLING: the batch was cancelled, and the executions that were open are being ended. */
  status: 'IN_PROGRESS' | 'CANCELLING' | 'ENDED'
}

export type Usage = {
  /** Includes the cached and the cache write tokens. */
  inputTokens: number
  /** Includes the reasoning tokens. */
  outputTokens: number
  /** Read from the provider's prompt cache. Null if the provider does not report them. */
  cachedInputTokens: number | null
  /** Written to the provider's prompt cache. Null if the provider does not report them. */
  cacheWriteTokens: number | null
  /** Null if the provider does not report them. */
  reasoningTokens: number | null
  /** A part is estimated because a provider did not report it. Absent if nothing is. */
  estimated?: true
}

export type UsageParameters = {
  /**
   * The maximum number of rows to return.
   * @default 1000
   */
  limit?: number
  /** What the rows of an interval are grouped by, separated by commas. By default, an interval has one row. */
  groupBy?: ('tenant' | 'agent' | 'version' | 'model' | 'token')[]
  /** How long the intervals are: `hour` by default. A request can read 3 hours of the last 2 days by minute, 31 days of the last 100 days by hour, and 800 days by day. */
  interval?: 'minute' | 'hour' | 'day'
  /** Return only intervals that end after this time (RFC 3339). By default, 24 hours before `to`; by minute, 1 hour. */
  from?: string
  /** Return only intervals that begin before this time (RFC 3339). Default: now. */
  to?: string
  /** Return only the usage of this tenant. */
  tenantId?: string
  /** Return only the usage of this agent (ID or slug). */
  agent?: string
}

export type UsageRow = {
  /** When the interval begins, in UTC. */
  start: string
  /** Present if grouped by tenant. Null: runs without a tenant. */
  tenantId?: string | null
  /** Present if grouped by agent. */
  agentId?: string
  /** Present if grouped by version. */
  versionId?: string
  /** Present if grouped by model. Null: code agents, cache hits, and runs that ended before a response. */
  model?: string | null
  /** Present if grouped by token. Null: runs that no token started, as of schedules in a document. */
  tokenId?: string | null
  /** Executions that ended, with those that agents started as tools. */
  runs: number
  /** Those that reused the result of an earlier one. */
  cacheHits: number
  /** Those that ended in ERROR, by error code. */
  errors: { [key: string]: number }
  /** Includes the cached and the cache write tokens. */
  inputTokens: number
  /** Includes the reasoning tokens. */
  outputTokens: number
  cachedInputTokens: number
  cacheWriteTokens: number
  reasoningTokens: number
  webSearches: number
  /** The price of their model responses in US dollars, without those of agents called as tools. */
  costUsd: number
  /** The price of the agents that they called as tools, which is also the `costUsd` of those. */
  childCostUsd: number
  /** Runs whose model has no price: `costUsd` lacks them. */
  unpricedRuns: number
  /** From the first start to the end, without the time that runs were suspended. */
  runTimeMs: number
}

export type Version = {
  id: string
  /** The agent of this version. */
  documentId: string
  status: 'PUBLISHED' | 'DRAFT'
  title: string
  description: string | null
  /** What the author says about the version. */
  message: string | null
  /** The author: the ID of a token or of an operator. */
  createdBy: string
  createdAt: string
  /** A retired version accepts no new runs and cannot become current. */
  retiredAt: string | null
  /** Present while a part of the runs gets the version. */
  rollout?: {
    percent: number
  }
  /** Why the service has ended its last rollout. Absent if it did not. */
  abortedRollout?: {
    at: string
    /** Absent for tokens that are bound to a tenant. */
    reason?: string
  }
  inputSchema: { [key: string]: unknown }
  outputSchema: { [key: string]: unknown }
  model: string | null
  /** The models that continue a run when the model is not available. Absent if there are none. */
  fallbacks?: string[]
  /** Whether runs show the model similar past executions if the call does not say. */
  useDynamicLearning: boolean
  learning: {
    /** Whose feedback runs with dynamic learning learn from: that of tokens with the scope `review` or `manage`, or that of all tokens. */
    feedback: 'reviewed' | 'all'
    /** Whether they also learn from results that nobody rated. */
    unrated: boolean
  }
  /** The names of the tools that the document declares. */
  toolNames: string[]
  execution: {
    useCache: boolean
    cacheTtlSeconds: number | null
    /** The default of a run. */
    maxAgentSteps: number
    /** The highest `maxAgentSteps` that a run may ask for. */
    maxAgentStepsAllowed: number
    /** The models that a run may choose. Null: those of the provider of the model of the version, or of the default model. */
    models: string[] | null
    timeoutSeconds: number | null
    maxTokens: number | null
    maxCostUsd: number | null
    /** Tool calls of one response that are in progress at the same time. */
    maxParallelToolCalls: number
    /** Executions of other agents that the tool calls of a run start. */
    maxChildren: number
    /** What a trial has to meet before another version replaces this one. Absent if the document does not say. */
    promotion?: {
      require?: 'trial'
      maxRegressed?: number
      maxChanged?: number
      maxError?: number
      maxCostIncrease?: number
      minRuns?: number
    }
  }
  /** SHA-256 of document and code. Versions of an agent with equal hashes behave the same. */
  contentHash: string
  /** SHA-256 of the document alone. */
  documentHash: string
  /** SHA-256 of the code alone; null for model agents. */
  codeHash: string | null
  /** In the answer to publishing: models without a price, which limits in US dollars do not count, and what the schemas say without effect. Absent without any. */
  warnings?: string[]
}

export type VersionDetails = {
  id: string
  /** The agent of this version. */
  documentId: string
  status: 'PUBLISHED' | 'DRAFT'
  title: string
  description: string | null
  /** What the author says about the version. */
  message: string | null
  /** The author: the ID of a token or of an operator. */
  createdBy: string
  createdAt: string
  /** A retired version accepts no new runs and cannot become current. */
  retiredAt: string | null
  /** Present while a part of the runs gets the version. */
  rollout?: {
    percent: number
  }
  /** Why the service has ended its last rollout. Absent if it did not. */
  abortedRollout?: {
    at: string
    /** Absent for tokens that are bound to a tenant. */
    reason?: string
  }
  inputSchema: { [key: string]: unknown }
  outputSchema: { [key: string]: unknown }
  model: string | null
  /** The models that continue a run when the model is not available. Absent if there are none. */
  fallbacks?: string[]
  /** Whether runs show the model similar past executions if the call does not say. */
  useDynamicLearning: boolean
  learning: {
    /** Whose feedback runs with dynamic learning learn from: that of tokens with the scope `review` or `manage`, or that of all tokens. */
    feedback: 'reviewed' | 'all'
    /** Whether they also learn from results that nobody rated. */
    unrated: boolean
  }
  /** The names of the tools that the document declares. */
  toolNames: string[]
  execution: {
    useCache: boolean
    cacheTtlSeconds: number | null
    /** The default of a run. */
    maxAgentSteps: number
    /** The highest `maxAgentSteps` that a run may ask for. */
    maxAgentStepsAllowed: number
    /** The models that a run may choose. Null: those of the provider of the model of the version, or of the default model. */
    models: string[] | null
    timeoutSeconds: number | null
    maxTokens: number | null
    maxCostUsd: number | null
    /** Tool calls of one response that are in progress at the same time. */
    maxParallelToolCalls: number
    /** Executions of other agents that the tool calls of a run start. */
    maxChildren: number
    /** What a trial has to meet before another version replaces this one. Absent if the document does not say. */
    promotion?: {
      require?: 'trial'
      maxRegressed?: number
      maxChanged?: number
      maxError?: number
      maxCostIncrease?: number
      minRuns?: number
    }
  }
  /** SHA-256 of document and code. Versions of an agent with equal hashes behave the same. */
  contentHash: string
  /** SHA-256 of the document alone. */
  documentHash: string
  /** SHA-256 of the code alone; null for model agents. */
  codeHash: string | null
  /** Whether this is a version of a code agent. */
  code: boolean
  instructions: string
  modelSettings: {
    maxOutputTokens?: number
    temperature?: number
  } | null
  /** As the document declares them. */
  tools: { [key: string]: unknown }[]
  /** Whether a run that calls none of the tools ends in ERROR. Absent if not. */
  requireTools?: boolean
  /** As the document declares it. */
  context?: {
    /** Tokens of the context window of the model. */
    window?: number
    /** Of the latest tool results, how many are never cleared. */
    keep?: number
  }
  /** The schedules that the agent has while this version is current. Absent without any. */
  schedules?: { [key: string]: unknown }[]
  /** The environment variables that a code agent may read. */
  env: string[]
  /** The bundled ES module of a code agent. Present if the request asks for it. */
  sourceCode?: string
}

export type Wait = {
  kind: 'approval' | 'signal' | 'sleep' | 'execution' | 'limit'
  /** The name of the wait in a code agent, or of the tool. */
  name: string
  since: string
  /** When the wait ends if nothing else ends it. Null: when the run may wait no longer. */
  until: string | null
  /** The ID of the approval, or of the execution that it waits for. */
  id?: string
  /** The number of the step. */
  step?: number
  /** The names of the signals that end the wait. */
  signals?: string[]
}

export type Webhook = {
  id: string
  url: string
  types: (
    | 'execution.succeeded'
    | 'execution.failed'
    | 'execution.cancelled'
    | 'execution.waiting'
    | 'batch.ended'
    | 'limit.warning'
    | 'rollout.aborted'
  )[]
  /** IDs of agents. Null: all of them. */
  agents: string[] | null
  /** Null: with and without a tenant. */
  tenants: string[] | null
  /** Null: all of them. */
  sources: ('API' | 'BATCH' | 'SCHEDULE')[] | null
  allowedHosts: string[]
  enabled: boolean
  /** Why the service has disabled it: the receiver answered 410, or failed for three days. */
  disabledReason: 'gone' | 'failing' | null
  /** Since when all deliveries have failed. */
  failingSince: string | null
  createdAt: string
}

export type WebhookBody = {
  /** Where events are sent. It must begin with `https://` and must not have a private address. */
  url: string
  /** The types of the events. By default those of executions. */
  types?: (
    | 'execution.succeeded'
    | 'execution.failed'
    | 'execution.cancelled'
    | 'execution.waiting'
    | 'batch.ended'
    | 'limit.warning'
    | 'rollout.aborted'
  )[]
  /** Only events of these agents (slugs or IDs). Null: of all agents. */
  agents?: string[] | null
  /** Only events of these tenants. Null: of all, with or without a tenant. */
  tenants?: string[] | null
  /** Only events of executions from these sources, and of batches with `BATCH`. Null: from all. */
  sources?: ('API' | 'BATCH' | 'SCHEDULE')[] | null
  /** Hosts that may have a private address or use plain HTTP, with the port unless it is the default. */
  allowedHosts?: string[]
  /** Whether it receives events. Enabling one that the service has disabled resets it. */
  enabled?: boolean
}

export type WebhookChanges = {
  /** Where events are sent. It must begin with `https://` and must not have a private address. */
  url?: string
  /** The types of the events. By default those of executions. */
  types?: (
    | 'execution.succeeded'
    | 'execution.failed'
    | 'execution.cancelled'
    | 'execution.waiting'
    | 'batch.ended'
    | 'limit.warning'
    | 'rollout.aborted'
  )[]
  /** Only events of these agents (slugs or IDs). Null: of all agents. */
  agents?: string[] | null
  /** Only events of these tenants. Null: of all, with or without a tenant. */
  tenants?: string[] | null
  /** Only events of executions from these sources, and of batches with `BATCH`. Null: from all. */
  sources?: ('API' | 'BATCH' | 'SCHEDULE')[] | null
  /** Hosts that may have a private address or use plain HTTP, with the port unless it is the default. */
  allowedHosts?: string[]
  /** Whether it receives events. Enabling one that the service has disabled resets it. */
  enabled?: boolean
}

/** The `code` of an error of the service. */
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
  | 'ApprovalNotFound'
  | 'WebhookNotFound'
  | 'DeliveryNotFound'
  | 'BatchNotFound'
  | 'TrialNotFound'
  | 'RolloutNotFound'
  | 'ScheduleNotFound'
  | 'TokenNotFound'
  | 'LimitsNotFound'
  | 'RouteNotFound'
  | 'MethodNotAllowed'
  | 'ExecutionInProgress'
  | 'ExecutionEnded'
  | 'BatchInProgress'
  | 'TrialRequired'
  | 'TrialFailed'
  | 'ApprovalDecided'
  | 'VersionPublished'
  | 'TooManyWebhooks'
  | 'TooManySchedules'
  | 'VersionNotRetirable'
  | 'AgentArchived'
  | 'VersionRetired'
  | 'ExecutionDeleted'
  | 'PayloadTooLarge'
  | 'UnsupportedMediaType'
  | 'InputSchemaMismatch'
  | 'FeedbackMismatch'
  | 'InvalidAgent'
  | 'IdempotencyKeyReused'
  | 'TooManyRequests'
  | 'LimitExceeded'
  | 'ExecutionFailed'
  | 'InternalError'
  | 'Unavailable'
  | 'ExecutionStillRunning'
