import type * as z from 'zod'
import type { Violation } from '../core/errors.ts'
import { toJsonPointer } from '../schema/message-text.ts'

/** A violation for each invalid member of a body. @param kind of the members, for example "feedback field" */
export function toBodyViolations(
  { issues }: { issues: z.core.$ZodIssue[] },
  kind: string,
  names: string[],
): Violation[] {
  return issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((name) => toViolation([name], `is not a ${kind}. Allowed fields: ${names.join(', ')}`))
      : toViolation(issue.path.map(String), issue.message),
  )
}

/** Truncates names, because clients choose them and error responses must stay small. */
function toViolation(names: string[], message: string): Violation {
  const path = toJsonPointer(names.map((name) => name.slice(0, 64)))
  return { path, message: `${path} ${message}.` }
}
