import type { Execution } from '../../core/execution.ts'
import type { ToolCall } from '../../core/model.ts'
import type { Step } from '../../core/step.ts'

/** The idempotency key of a tool call: the same whichever worker makes it. */
export const callKeyOf = ({ id }: Pick<Execution, 'id'>, step: Step, call: ToolCall): string =>
  `${id}-${step.number}-${call.id}`

const UUID_CHARACTERS = 36

/** The step and call of such a key, without the execution: the same in each run that makes the same calls. */
export const placeOfCall = (key: string): string => key.slice(UUID_CHARACTERS + 1)
