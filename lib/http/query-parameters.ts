import type { MiddlewareObj } from '@middy/core'
import { closest } from 'fastest-levenshtein'
import { type Parameters, readParameters } from '../api/parameter.ts'
import { InvalidQueryParameter, type Violation } from '../core/errors.ts'
import type { ServiceEvent } from './event.ts'

/** Checks the query string against the operation's parameters: repeated and unknown ones are refused too. */
export function queryParameters(parameters: Parameters): MiddlewareObj<ServiceEvent> {
  const known = Object.keys(parameters)
  return {
    before: ({ event }) => {
      const given = Object.entries(event.multiValueQueryStringParameters ?? {})
      const repeated = given.filter(([, values]) => (values?.length ?? 0) > 1)
      if (repeated.length > 0) {
        throw new InvalidQueryParameter(repeated.map(([name]) => violation(name, 'must be given once')))
      }
      const texts = Object.fromEntries(given.map(([name, values]) => [name, values?.[0]]))
      const { values, refused } = readParameters(parameters, texts)
      const unknown = given.map(([name]) => name).filter((name) => !known.includes(name))
      const violations = [
        ...refused.map(({ name, error }) => violation(name, error)),
        ...unknown.map((name) => violation(name, `is not a parameter of this route${hint(name, known)}`)),
      ]
      if (violations.length > 0) throw new InvalidQueryParameter(violations)
      event.query = values
    },
  }
}

const hint = (name: string, known: string[]): string =>
  known.length > 0 ? `; did you mean ${closest(name, known)}?` : '; this route takes none'

/** A name comes from the client: it is cut, so that a problem document stays small. */
function violation(name: string, message: string): Violation {
  const path = name.length > 64 ? `${name.slice(0, 64)}…` : name
  return { path, message: `${path} ${message}${/[.?]$/.test(message) ? '' : '.'}` }
}
