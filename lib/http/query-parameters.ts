import type { MiddlewareObj } from '@middy/core'
import { closest } from 'fastest-levenshtein'
import * as z from 'zod'
import { InvalidQueryParameter, type Violation } from '../core/errors.ts'
import type { ServiceEvent } from './event.ts'

/** Checks the query string against the operation's schema: repeated and unknown parameters are refused too. */
export function queryParameters(schema: z.ZodType): MiddlewareObj<ServiceEvent> {
  const known = schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
  return {
    before: ({ event }) => {
      const given = Object.entries(event.multiValueQueryStringParameters ?? {})
      const repeated = given.filter(([, values]) => (values?.length ?? 0) > 1)
      if (repeated.length > 0) {
        throw new InvalidQueryParameter(repeated.map(([name]) => violation(name, 'must be given once')))
      }
      const result = schema.safeParse(Object.fromEntries(given.map(([name, values]) => [name, values?.[0]])))
      if (!result.success)
        throw new InvalidQueryParameter(result.error.issues.flatMap((issue) => explain(issue, known)))
      event.query = result.data
    },
  }
}

function explain(issue: z.core.$ZodIssue, known: string[]): Violation[] {
  if (issue.code !== 'unrecognized_keys') return [violation(issue.path.join('.'), issue.message)]
  return issue.keys.map((name) => {
    const hint = known.length > 0 ? `; did you mean ${closest(name, known)}?` : '; this route takes none'
    return violation(name, `is not a parameter of this route${hint}`)
  })
}

/** A name comes from the client: it is cut, so that a problem document stays small. */
function violation(name: string, message: string): Violation {
  const path = name.length > 64 ? `${name.slice(0, 64)}…` : name
  return { path, message: `${path} ${message}${/[.?]$/.test(message) ? '' : '.'}` }
}
