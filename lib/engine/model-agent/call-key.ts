import { createHash } from 'node:crypto'
import { v7 } from 'uuid'
import type { Execution } from '../../core/execution.ts'
import type { ToolCall } from '../../core/model.ts'
import type { Step } from '../../core/step.ts'

/** The idempotency key of a tool call: the same whichever worker makes it. */
export const callKeyOf = ({ id }: Pick<Execution, 'id'>, step: Step, call: Pick<ToolCall, 'id'>): string =>
  `${id}-${step.number}-${call.id}`

const UUID_CHARACTERS = 36

/** The step and call of such a key, without the execution: the same in each run that makes the same calls. */
export const positionOfCall = (key: string): string => key.slice(UUID_CHARACTERS + 1)

/** The execution of a tool call: a UUIDv7 with its parent's time, whose random part is a hash of the call's key. */
export function childId(parent: Pick<Execution, 'createdAt'>, key: string): string {
  const random = createHash('sha256').update(key).digest().subarray(0, 16)
  return v7({ msecs: Date.parse(parent.createdAt), random, seq: random.readUInt32BE(0) >>> 1 })
}
