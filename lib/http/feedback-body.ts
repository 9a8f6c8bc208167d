import { feedbackBody } from '../api/schemas/bodies.ts'
import { FeedbackMismatch } from '../core/errors.ts'
import type { Feedback } from '../core/execution.ts'
import type { JsonObject } from '../core/json.ts'
import { toBodyViolations } from './body-violations.ts'

const FIELDS = Object.keys(feedbackBody.shape)

/** @throws FeedbackMismatch with one violation for each invalid field */
export function parseFeedback(body: JsonObject): Omit<Feedback, 'updatedAt'> {
  const result = feedbackBody.safeParse(body)
  if (!result.success) throw new FeedbackMismatch(toBodyViolations(result.error, 'feedback field', FIELDS))
  const { rating, note = null } = result.data
  // From the body itself, because zod drops a `__proto__` key from its copy.
  return { rating, note, correctedOutput: (body.correctedOutput ?? null) as JsonObject | null }
}
