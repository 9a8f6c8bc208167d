import type { Execution, ExecutionStatus } from './execution.ts'
import type { RecordedStep } from './step.ts'

/** What happens in an execution, as its readers see it. */
export type ExecutionEvent =
  | { kind: 'status'; id: string; status: ExecutionStatus }
  /** With the results that were recorded when it was read. */
  | { kind: 'step'; recorded: RecordedStep }
  /** The result of a call of the step. */
  | { kind: 'tool'; recorded: RecordedStep; callId: string }
  | { kind: 'done'; execution: Execution }
  /** Nothing has happened for a while. */
  | { kind: 'idle' }
