import type { MiddlewareObj } from '@middy/core'
import { InvalidQueryParameter, ServiceError } from '../core/errors.ts'
import { truncate } from '../schema/message-text.ts'
import type { ServiceEvent } from './event.ts'

/** The replacement for bytes that are not UTF-8. */
const REPLACEMENT_CHARACTER = '\ufffd'

/**
 * Rejects a path or a query that API Gateway decoded from bytes that are not UTF-8: different values, for example of
 * `tenantId`, would become equal.
 */
export function encoding(): MiddlewareObj<ServiceEvent> {
  return {
    before: ({ event }) => {
      const path = [event.path, ...Object.values(event.pathParameters ?? {})]
      if (path.some((text) => text?.includes(REPLACEMENT_CHARACTER))) throw invalidPathEncoding()
      const query = Object.entries(event.multiValueQueryStringParameters ?? {})
      const invalid = query.filter(([name, values]) => [name, ...(values ?? [])].some(isReplaced))
      if (invalid.length > 0) throw invalidQueryEncoding(invalid.map(([name]) => name))
    },
  }
}

const isReplaced = (text: string) => text.includes(REPLACEMENT_CHARACTER)

export const invalidPathEncoding = (): ServiceError =>
  new ServiceError('BadRequest', 'The path must be percent-encoded UTF-8.')

export function invalidQueryEncoding(names: string[]): InvalidQueryParameter {
  return new InvalidQueryParameter(
    names.map((name) => {
      const path = truncate(name, 64)
      return { path, message: `${path} must be percent-encoded UTF-8.` }
    }),
  )
}
