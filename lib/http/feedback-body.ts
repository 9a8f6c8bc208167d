import type * as z from 'zod'
import { feedbackBody } from '../api/schemas/feedback.ts'
import { FeedbackMismatch, type Violation } from '../core/errors.ts'
import type { Feedback } from '../core/execution.ts'
import type { JsonObject } from '../core/json.ts'
import { toJsonPointer } from '../schema/json-pointer.ts'

/** @throws FeedbackMismatch with one violation for each invalid field */
export function parseFeedback(body: JsonObject): Omit<Feedback, 'updatedAt'> {
  const result = feedbackBody.safeParse(body)
  if (!result.success) throw new FeedbackMismatch(result.error.issues.flatMap(toViolations))
  const { rating, note = null } = result.data
  // From the body itself, because zod drops a `__proto__` key from its copy.
  return { rating, note, correctedOutput: (body.correctedOutput ?? null) as JsonObject | null }
}

const FIELDS = Object.keys(feedbackBody.shape).join(', ')

function toViolations(issue: z.core.$ZodIssue): Violation[] {
  if (issue.code !== 'unrecognized_keys') return [toViolation(issue.path.map(String), issue.message)]
  return issue.keys.map((name) => toViolation([name], `is not a feedback field. Allowed fields: ${FIELDS}`))
}

/** Truncates names, because clients choose them and error responses must stay small. */
function toViolation(names: string[], message: string): Violation {
  const path = toJsonPointer(names.map((name) => name.slice(0, 64)))
  return { path, message: `${path} ${message}.` }
}
