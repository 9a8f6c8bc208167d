import type { Execution } from './execution.ts'
import type { ServedDeclarations } from './model.ts'
import type { RecordedStep } from './step.ts'
import type { Replay } from './trial.ts'

/** What a replay takes from: an execution with its output and feedback, and its steps. */
export type Recording = {
  original: Execution
  steps: RecordedStep[]
  /**
   * The run is one of a recorded test case. Agents that it calls run, the case decides on approvals, and responses
   * count as if the model were asked. `served`: the declarations of MCP tools.
   */
  ofCase?: { replay: Replay; served: ServedDeclarations }
}
