import type { Execution } from './execution.ts'
import type { JsonObject } from './json.ts'

/** What people said of an execution that has ended. */
export type Feedback = {
  rating: 1 | -1
  /** The output that it should have had. */
  correctedOutput: JsonObject | null
  note: string | null
  /** ISO 8601 */
  updatedAt: string
}

/** A past execution as a run can learn from it. */
export type Example = Pick<
  Execution,
  'id' | 'organizationId' | 'agentId' | 'tenantId' | 'input' | 'cached'
> & {
  /** The corrected one where there is one. */
  output: JsonObject
  isCorrected: boolean
  rating: Feedback['rating'] | null
}

/** Whose experience it is: no run learns from another agent, organization or tenant. */
export type Learner = Pick<Execution, 'organizationId' | 'agentId' | 'tenantId'>

/** Past executions looked at for one run. */
export const MAX_CANDIDATES = 200

/** Examples that one run may have. */
export const MAX_EXAMPLES = 3

/** Of all examples of a run together, with the words around them. */
export const EXAMPLES_TOKENS = 2_000

/** UTF-8 rather than characters: where a character takes more bytes it takes more tokens too. */
export const BYTES_A_TOKEN = 4

export interface LearningStore {
  /** Puts feedback in the place of any before; the chunks of a large one go under `writer`, a name used once. */
  giveFeedback(params: {
    organizationId: string
    id: string
    feedback: Feedback
    writer: string
  }): Promise<Execution | 'missing' | 'open'>
  /** Those of the newest `limit` ended executions that have an output, or a correction, small enough for an example. */
  listExamples(params: Learner & { limit: number }): Promise<Example[]>
  /** Those of the executions named that are there, in the order of `ids`. */
  getExamples(params: Learner & { ids: string[] }): Promise<Example[]>
}
