import type { MiddlewareObj } from '@middy/core'
import { type Parameters, readParameters } from '../api/parameter.ts'
import { InvalidHeader } from '../core/errors.ts'
import { headerOf, type ServiceEvent } from './event.ts'

/** Checks the headers that the operation heeds; all others are left alone. */
export function requestHeaders(headers: Parameters): MiddlewareObj<ServiceEvent> {
  const names = Object.keys(headers)
  return {
    before: ({ event }) => {
      const given = Object.fromEntries(names.map((name) => [name, headerOf(event, name)]))
      const { values, refused } = readParameters(headers, given)
      if (refused.length > 0) {
        throw new InvalidHeader(
          refused.map(({ name, error }) => ({ path: name, message: `${name} ${error}.` })),
        )
      }
      event.checkedHeaders = values
    },
  }
}
