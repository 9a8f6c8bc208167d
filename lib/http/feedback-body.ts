import type * as z from 'zod'
import { feedbackBody } from '../api/schemas/feedback.ts'
import { FeedbackMismatch, type Violation } from '../core/errors.ts'
import type { JsonObject } from '../core/json.ts'
import type { Feedback } from '../core/learning.ts'
import { toJsonPointer } from '../schema/json-pointer.ts'

/** @throws FeedbackMismatch naming every field that is wrong, and what it may be instead */
export function feedbackFrom(body: JsonObject): Omit<Feedback, 'updatedAt'> {
  const result = feedbackBody.safeParse(body)
  if (!result.success) throw new FeedbackMismatch(result.error.issues.flatMap(explain))
  const { rating, note = null } = result.data
  // As it was sent: a schema's copy of an object lacks what JavaScript gives a meaning to.
  return { rating, note, correctedOutput: (body.correctedOutput ?? null) as JsonObject | null }
}

const KNOWN = Object.keys(feedbackBody.shape).join(', ')

function explain(issue: z.core.$ZodIssue): Violation[] {
  if (issue.code !== 'unrecognized_keys') return [violation(issue.path.map(String), issue.message)]
  return issue.keys.map((name) => violation([name], `is not a field of feedback; these are: ${KNOWN}`))
}

/** Names come from the client: they are cut, so that a problem document stays small. */
function violation(names: string[], message: string): Violation {
  const path = toJsonPointer(names.map((name) => name.slice(0, 64)))
  return { path, message: `${path} ${message}.` }
}
