import type { MiddlewareObj } from '@middy/core'
import { closest } from 'fastest-levenshtein'
import type * as z from 'zod/mini'
import { InvalidHeader, InvalidQueryParameter, type Violation } from '../core/errors.ts'
import { getHeader, type ServiceEvent } from './event.ts'

/** Validates the query string. Unknown and repeated parameters are rejected; without a schema, all of them. */
export function queryParameters(schema?: z.ZodMiniObject): MiddlewareObj<ServiceEvent> {
  const known = Object.keys(schema?.shape ?? {})
  return {
    before: ({ event }) => {
      const given = Object.entries(event.multiValueQueryStringParameters ?? {})
      const repeated = given.filter(([, values]) => (values?.length ?? 0) > 1)
      if (repeated.length > 0) {
        throw new InvalidQueryParameter(
          repeated.map(([name]) => toViolation(name, 'must be given only once')),
        )
      }
      const query = Object.fromEntries(given.map(([name, values]) => [name, values?.[0]]))
      const result = schema?.safeParse(query)
      const unknown = Object.keys(query).filter((name) => !known.includes(name))
      const violations = [
        ...(result?.error ? toViolations(result.error) : []),
        ...unknown.map((name) => toViolation(name, `is not a parameter of this route${toHint(name, known)}`)),
      ]
      if (violations.length > 0) throw new InvalidQueryParameter(violations)
      event.query = result?.data ?? {}
    },
  }
}

const toHint = (name: string, known: string[]): string =>
  known.length > 0 ? `; did you mean ${closest(name, known)}?` : '; it takes no query parameters'

/** Validates the headers in the schema and ignores all others. */
export function requestHeaders(schema: z.ZodMiniObject): MiddlewareObj<ServiceEvent> {
  const names = Object.keys(schema.shape)
  return {
    before: ({ event }) => {
      const result = schema.safeParse(Object.fromEntries(names.map((name) => [name, getHeader(event, name)])))
      if (result.error) throw new InvalidHeader(toViolations(result.error))
      event.validHeaders = result.data
    },
  }
}

function toViolations({ issues }: z.core.$ZodError): Violation[] {
  return issues.map(({ path, message }) => toViolation(String(path[0]), message))
}

/** Names come from the client, so they are truncated to keep the response small. */
function toViolation(name: string, message: string): Violation {
  const path = name.length > 64 ? `${name.slice(0, 64)}…` : name
  return { path, message: `${path} ${message}${message.endsWith('?') ? '' : '.'}` }
}
