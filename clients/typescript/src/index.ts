export { Client } from './client.ts'
export { AgentError } from './errors.ts'
export { toFile } from './files.ts'
export type {
  AgentFilters,
  CallOptions,
  ClientOptions,
  ExecutionFilters,
  GetOptions,
  ListOptions,
  RunOptions,
  WaitOptions,
} from './options.ts'
export type {
  Agent,
  AgentTypes,
  AnyAgents,
  ChangedExecution,
  ErrorCode,
  Execution,
  ExecutionError,
  ExecutionSummary,
  FeedbackBody,
  FileInput,
  Me,
  PublishBody,
  SlugOf,
  Step,
  SucceededExecution,
  ToolCall,
  Version,
  VersionDetails,
  Violation,
} from './records.ts'
export type { ExecutionEvent } from './runs/events.ts'
