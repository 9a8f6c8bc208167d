import type { MiddlewareObj } from '@middy/core'
import { Unauthorized } from '../core/errors.ts'
import { isUuid } from '../core/ids.ts'
import type { ServiceEvent } from './event.ts'

/**
 * Reads the organization from the context that the authorizer returned. A request without it is rejected, so that a
 * route whose authorizer is missing fails closed.
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
