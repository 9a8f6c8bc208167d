import type { TestOrganization } from '../engine/organization.ts'
import type { ApiClient } from './client.ts'

/**
 * Columns of the isolation matrices of HTTP and MCP: the token that asks for an execution of the tenant `acme` by the
 * agent `echo`, or for its agent. `run`, `read`, `manage`, `review` and `approve`: a token with this scope alone,
 * otherwise unlimited. The others have all scopes that their requests need.
 */
export const COLUMNS = [
  'run',
  'read',
  'manage',
  'review',
  'approve',
  'same limits',
  'other tenant',
  'other agent',
  'other org',
] as const
export type Column = (typeof COLUMNS)[number]

/** A client with the token of each column. @param org has the agents `echo` and `counted` */
export async function openColumns(
  org: TestOrganization,
  other: TestOrganization,
): Promise<Record<Column, ApiClient>> {
  return {
    run: await org.withLimits({ scopes: ['run'] }),
    read: await org.withLimits({ scopes: ['read'] }),
    manage: await org.withLimits({ scopes: ['manage'] }),
    review: await org.withLimits({ scopes: ['review'] }),
    approve: await org.withLimits({ scopes: ['approve'] }),
    'same limits': await org.withLimits({
      scopes: ['manage', 'run', 'read', 'approve'],
      agents: ['counted', 'echo', 'waits', 'asks'],
      tenantId: 'acme',
      rate: 1_000,
    }),
    'other tenant': await org.withLimits({ tenantId: 'globex' }),
    'other agent': await org.withLimits({ agents: ['counted'] }),
    'other org': other.call,
  }
}
