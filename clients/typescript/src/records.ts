import type * as contract from './contract.ts'

/** The records of the API with the type of an agent's output, and parts of them that have no name there. */

export type {
  Agent,
  Agreement,
  Approval,
  AuditEntry,
  Batch,
  CreatedToken,
  CreatedWebhook,
  Decision,
  Delivery,
  ErrorCode,
  ExecutionComparison,
  ExecutionSummary,
  FileInput,
  Limits,
  LimitsDetails,
  Me,
  RerunBody,
  Rollout,
  RotatedSecret,
  Schedule,
  Score,
  ScoreRow,
  SentSignal,
  Signal,
  Step,
  TestResult,
  Token,
  Trial,
  TrialBody,
  TrialItem,
  Usage,
  UsageRow,
  Version,
  VersionDetails,
  Wait,
  Webhook,
} from './contract.ts'

/** The schema of the agent describes its output; `Client` has the types of several agents. */
export type Execution<Output = Record<string, unknown>> = Omit<contract.Execution, 'output'> & {
  /** The result. Null until status is SUCCESS. */
  output: Output | null
}

/** What a change returns. A token without the scope `read` gets only the ID and the status. */
export type ChangedExecution<Output = Record<string, unknown>> = Partial<Execution<Output>> &
  Pick<Execution<Output>, 'id' | 'status'>

export type SucceededExecution<Output = Record<string, unknown>> = Execution<Output> & {
  status: 'SUCCESS'
  output: Output
}

/** Why an execution failed. */
export type ExecutionError = NonNullable<contract.Execution['error']>

export type ToolCall = NonNullable<contract.Step['toolCalls']>[number]

/** What a change returns. A token without the scope `read` gets only the ID and the status. */
export type ChangedBatch = Partial<contract.Batch> & contract.BatchState

export type ChangedTrial = Partial<contract.Trial> & contract.TrialState

type Line = Pick<contract.BatchResult, 'customId' | 'executionId'>

/** What became of a line of a batch that has ended. */
export type BatchResult<Output = Record<string, unknown>> = Line &
  (
    | { status: 'SUCCESS'; output: Output; error: null }
    | { status: 'ERROR'; output: null; error: ExecutionError }
  )

/** What became of a line of a batch so far. */
export type OpenBatchResult<Output = Record<string, unknown>> =
  | BatchResult<Output>
  | (Line & { status: 'IN_PROGRESS'; output: null; error: null })

export type FeedbackBody = Optional<contract.FeedbackBody>

export type DecisionBody = Optional<contract.DecisionBody>

export type PublishBody = Optional<contract.PublishBody>

export type RolloutBody = Optional<contract.RolloutBody>

export type ScheduleBody = Optional<contract.ScheduleBody>

export type LimitsBody = Optional<contract.LimitsBody>

/** Whose limits they are. `agent`: its slug or ID. */
export type LimitSubject<Slug extends string = string> = { tenantId: string } | { agent: Slug }

export type TokenBody = Optional<contract.TokenBody>

export type WebhookBody = Optional<contract.WebhookBody>

export type WebhookChanges = Optional<contract.WebhookChanges>

/** One violation. `path`: a JSON Pointer into the body, or the name of a parameter or header. */
export type Violation = NonNullable<contract.Problem['errors']>[number]

/** Optional members can also be undefined, whatever the options of the compiler. */
export type Optional<T> = { [Name in keyof T]: undefined extends T[Name] ? T[Name] | undefined : T[Name] }

/** The input and output types of agents by slug, as `agent-execution types` writes them. */
export type AgentTypes<Agents> = { [Slug in keyof Agents]: { input: unknown; output: unknown } }

/** Without a map, every slug and ID is allowed, and outputs have to be checked by their reader. */
export type AnyAgents = Record<string, { input: object; output: Record<string, unknown> }>

export type SlugOf<Agents> = keyof Agents & string
