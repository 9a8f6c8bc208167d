import type { MiddlewareObj } from '@middy/core'
import { assertAllTenants, assertScope, mayUseAgent, resolveTenant, type Scope } from '../core/access.ts'
import { AgentNotFound, Unauthorized } from '../core/errors.ts'
import type { ServiceEvent } from './event.ts'

/** Rejects tokens without a scope of the operation. */
export function requireScope(...scopes: Scope[]): MiddlewareObj<ServiceEvent> {
  return { before: ({ event }) => assertScope(accessOf(event), ...scopes) }
}

/** Rejects tokens that are bound to a tenant. */
export function requireAllTenants(): MiddlewareObj<ServiceEvent> {
  return { before: ({ event }) => assertAllTenants(accessOf(event)) }
}

/** Limits the agent in the path and the tenant in the query to those of the token. To be used after `queryParameters`. */
export function restrictParameters(hasTenant: boolean): MiddlewareObj<ServiceEvent> {
  return {
    before: ({ event }) => {
      const access = accessOf(event)
      const agent = event.pathParameters?.agentId
      if (agent !== undefined && !mayUseAgent(access, agent)) throw new AgentNotFound()
      if (!hasTenant) return
      const query = event.query as { tenantId?: string | undefined }
      event.query = { ...query, tenantId: resolveTenant(access, query.tenantId) }
    },
  }
}

/** @throws Unauthorized */
export function accessOf({ access }: ServiceEvent) {
  if (!access) throw new Unauthorized()
  return access
}
