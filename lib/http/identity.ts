import type { MiddlewareObj } from '@middy/core'
import { Unauthorized } from '../core/errors.ts'
import { isUuid } from '../core/ids.ts'
import type { ServiceEvent } from './event.ts'

/**
 * Takes the organization from what the authorizer has said of the token. Without that the request is refused, so that
 * a route that lost its authorizer fails closed.
 */
export function identity(): MiddlewareObj<ServiceEvent> {
  return {
    before: ({ event }) => {
      const organizationId: unknown = event.requestContext.authorizer?.organizationId
      if (typeof organizationId !== 'string' || !isUuid(organizationId)) throw new Unauthorized()
      event.organizationId = organizationId
    },
  }
}
