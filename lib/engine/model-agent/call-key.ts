import type { Execution } from '../../core/execution.ts'
import type { ToolCall } from '../../core/model.ts'
import type { Step } from '../../core/step.ts'

/** The idempotency key of a tool call: the same whichever worker makes it. */
export const callKeyOf = ({ id }: Pick<Execution, 'id'>, step: Step, call: ToolCall): string =>
  `${id}-${step.number}-${call.id}`
