export { Client } from './client.ts'
export { AgentError } from './errors.ts'
export { toFile } from './files.ts'
export type {
  AgentFilters,
  ApprovalFilters,
  CallOptions,
  ClientOptions,
  ExecutionFilters,
  GetOptions,
  ListOptions,
  RunOptions,
  SignalOptions,
  WaitOptions,
} from './options.ts'
export type {
  Agent,
  AgentTypes,
  AnyAgents,
  Approval,
  ChangedExecution,
  Decision,
  DecisionBody,
  ErrorCode,
  Execution,
  ExecutionError,
  ExecutionSummary,
  FeedbackBody,
  FileInput,
  Me,
  PublishBody,
  SentSignal,
  Signal,
  SlugOf,
  Step,
  SucceededExecution,
  ToolCall,
  Version,
  VersionDetails,
  Violation,
  Wait,
} from './records.ts'
export type { ExecutionEvent } from './runs/events.ts'
