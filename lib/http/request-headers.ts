import type { MiddlewareObj } from '@middy/core'
import type * as z from 'zod'
import { InvalidHeader } from '../core/errors.ts'
import { headerOf, type ServiceEvent } from './event.ts'

/** Checks the headers that the operation's schema names; all others are left alone. */
export function requestHeaders(schema: z.ZodObject): MiddlewareObj<ServiceEvent> {
  const names = Object.keys(schema.shape)
  return {
    before: ({ event }) => {
      const given = Object.fromEntries(names.map((name) => [name, headerOf(event, name)]))
      const result = schema.safeParse(given)
      if (!result.success) {
        throw new InvalidHeader(
          result.error.issues.map(({ path, message }) => {
            const name = path.join('.')
            return { path: name, message: `${name} ${message}.` }
          }),
        )
      }
      event.checkedHeaders = result.data
    },
  }
}
