import type { MiddlewareObj } from '@middy/core'
import { closest } from 'fastest-levenshtein'
import type * as z from 'zod/mini'
import { ServiceError, type Violation } from '../core/errors.ts'
import { InvalidHeader, InvalidQueryParameter } from '../core/request-errors.ts'
import { truncate } from '../schema/message-text.ts'
import { getHeader, type ServiceEvent } from './event.ts'

/** Validates the query string. Unknown and repeated parameters are rejected; without a schema, all of them. */
export function queryParameters(schema?: z.ZodMiniObject): MiddlewareObj<ServiceEvent> {
  const known = Object.keys(schema?.shape ?? {})
  return {
    before: ({ event }) => {
      const given = Object.entries(event.multiValueQueryStringParameters ?? {})
      const repeated = given.flatMap(([name, values]) => ((values?.length ?? 0) > 1 ? [name] : []))
      if (repeated.length > 0) throw invalidQuery(repeated, 'must be given only once')
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

/** The items of a list have the message of their parameter. */
function toViolations({ issues }: z.core.$ZodError): Violation[] {
  const violations = issues.map(({ path, message }) => toViolation(String(path[0]), message))
  return [...new Map(violations.map((violation) => [violation.message, violation])).values()]
}

/** Names come from the client, so they are truncated to keep the response small. */
function toViolation(name: string, message: string): Violation {
  const path = truncate(name, 64)
  return { path, message: `${path} ${message}${message.endsWith('?') ? '' : '.'}` }
}

/**
 * Decodes the path parameters, before anything compares them. API Gateway passes them as they are in the URL, and
 * decodes the query alone: `V1_SpecialCharactersInPathRest` of aws/aws-lambda-dotnet was captured on AWS.
 */
export function pathParameters(): MiddlewareObj<ServiceEvent> {
  return {
    before: ({ event }) => {
      const given = Object.entries(event.pathParameters ?? {})
      event.pathParameters = Object.fromEntries(
        given.map(([name, segment]) => [name, decodeSegment(name, segment ?? '')]),
      )
    },
  }
}

function decodeSegment(name: string, segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    const message = `${name} must be percent-encoded UTF-8.`
    throw new ServiceError('BadRequest', `The path is not valid: ${message}`, {
      errors: [{ path: name, message }],
    })
  }
}

/** The replacement for bytes that are not UTF-8. */
const REPLACEMENT_CHARACTER = '\ufffd'

/**
 * Rejects a query that API Gateway decoded from bytes that are not UTF-8: different values, for example of `tenantId`,
 * would become equal.
 */
export function encoding(): MiddlewareObj<ServiceEvent> {
  return {
    before: ({ event }) => {
      const query = Object.entries(event.multiValueQueryStringParameters ?? {})
      const invalid = query.filter(([name, values]) => [name, ...(values ?? [])].some(isReplaced))
      if (invalid.length > 0) throw invalidQueryEncoding(invalid.map(([name]) => name))
    },
  }
}

const isReplaced = (text: string) => text.includes(REPLACEMENT_CHARACTER)

export const invalidQueryEncoding = (names: string[]): InvalidQueryParameter =>
  invalidQuery(names, 'must be percent-encoded UTF-8')

const invalidQuery = (names: string[], problem: string) =>
  new InvalidQueryParameter(names.map((name) => toViolation(name, problem)))
