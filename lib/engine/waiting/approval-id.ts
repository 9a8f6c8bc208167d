import { createHash } from 'node:crypto'
import type { Step } from '../../core/step.ts'

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32)

/** The id of the approval of a tool call: the same whichever worker asks for it. */
export const approvalIdOf = (step: Pick<Step, 'number'>, callId: string): string =>
  digest(`${step.number}-${callId}`)

/** The same of an approval that a code agent waits for, whose name is unique in its run. */
export const approvalIdOfWait = (name: string): string => digest(name)
