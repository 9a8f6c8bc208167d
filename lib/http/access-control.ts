import type { MiddlewareObj } from '@middy/core'
import type { APIGatewayProxyResult } from 'aws-lambda'
import { assertAllTenants, assertScope, mayUseAgent, resolveTenant } from '../access/permissions.ts'
import { readProvider, toAskedScopes } from '../access/protected-resource.ts'
import type { Operation } from '../contract/operations/operation.ts'
import type { Access, RefusedAccess, Scope } from '../core/access.ts'
import type { ServiceError } from '../core/errors.ts'
import type { RateStore } from '../core/ports/access.ts'
import { Forbidden, InsufficientScope, Unauthorized } from '../core/request-errors.ts'
import { AgentNotFound } from '../core/resource-errors.ts'
import { readSetting } from '../environment.ts'
import { countRequest, largeBodyCounter } from '../limits/rates.ts'
import { fromAuthorizerContext } from './authorizer-context.ts'
import type { ServiceEvent } from './event.ts'

type Restricted = Pick<Operation, 'allTenants' | 'body'> & { scope: Scope | Scope[] | 'any' }

/**
 * Identifies the token by the context that the authorizer returned, and checks what it may do. A request without one is
 * rejected, so that a route whose authorizer is missing fails closed. Requests that are rejected later count as well.
 * It is not the authorizer that counts: API Gateway caches its results.
 */
export function accessControl(
  { scope, allTenants, body }: Restricted,
  rates: RateStore,
): MiddlewareObj<ServiceEvent> {
  const countBody = body ? largeBodyCounter(rates) : undefined
  return {
    before: async ({ event }) => {
      const access = fromAuthorizerContext(event.requestContext.authorizer ?? {})
      // API Gateway caches what the authorizer returned, also beyond the end of the token.
      if (access.expiresAt !== undefined && access.expiresAt * 1_000 <= Date.now())
        throw new Unauthorized({ issuer: readSetting('oidcIssuer') })
      if ('forbidden' in access) throw toRefusal(access, toAskedScopes(scope))
      event.access = access
      await countRequest(rates, access)
      if (scope !== 'any') assertScope(access, ...[scope].flat())
      if (allTenants) assertAllTenants(access)
      const encoding = event.isBase64Encoded ? 'base64' : 'utf8'
      await countBody?.(access, Buffer.byteLength(event.body ?? '', encoding))
    },
  }
}

/** A client that is signed in at the identity provider without a scope of the service can ask it for those it needs. */
function toRefusal({ forbidden, lacksScope }: RefusedAccess, needed: Scope[]): ServiceError {
  const provider = lacksScope && readProvider()
  return provider && needed.some(provider.grants)
    ? new InsufficientScope(forbidden, needed)
    : new Forbidden(forbidden)
}

/** Limits the agent in the path and the tenant in the query to those of the token. Used after `queryParameters`. */
export function restrictParameters(hasTenant: boolean): MiddlewareObj<ServiceEvent> {
  return {
    before: ({ event }) => {
      const { access } = event
      if (!access) throw new Unauthorized()
      const agent = event.pathParameters?.agentId
      if (agent !== undefined && !mayUseAgent(access, agent)) throw new AgentNotFound()
      if (!hasTenant) return
      const query = event.query as { tenantId?: string | undefined }
      event.query = { ...query, tenantId: resolveTenant(access, query.tenantId) }
    },
  }
}

/** Adds what helps to the error for an agent that was not found. */
export type SuggestSlug = (error: unknown, access: Access, idOrSlug: string) => Promise<Error>

/** For the agent in the path. A request that succeeds reads nothing for it. */
export function suggestion(suggest: SuggestSlug): MiddlewareObj<ServiceEvent, APIGatewayProxyResult> {
  return {
    onError: async (request) => {
      const { access, pathParameters } = request.event
      const slug = pathParameters?.agentId
      if (access && slug !== undefined) request.error = await suggest(request.error, access, slug)
    },
  }
}
