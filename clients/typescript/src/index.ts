export type { AgentTypes, AnyAgents, SlugOf } from './agent-types.ts'
export { Client } from './client.ts'
export { AgentError } from './errors.ts'
export type { ExecutionEvent } from './events.ts'
export type {
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
  ErrorCode,
  Execution,
  ExecutionError,
  ExecutionSummary,
  FeedbackBody,
  Me,
  Step,
  SucceededExecution,
  ToolCall,
  Version,
  Violation,
} from './records.ts'
