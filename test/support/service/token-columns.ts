import { SCOPES, type TokenLimits } from '../../../lib/core/access.ts'
import type { TestOrganization } from '../engine/organization.ts'
import type { ScriptedProvider } from '../identity/start-scripted-provider.ts'
import { type ApiClient, createClient } from './client.ts'

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

const LIMITS: Record<Exclude<Column, 'other org'>, Partial<TokenLimits>> = {
  run: { scopes: ['run'] },
  read: { scopes: ['read'] },
  manage: { scopes: ['manage'] },
  review: { scopes: ['review'] },
  approve: { scopes: ['approve'] },
  'same limits': {
    scopes: ['manage', 'run', 'read', 'approve'],
    agents: ['counted', 'echo', 'waits', 'asks'],
    tenantId: 'acme',
    rate: 1_000,
  },
  'other tenant': { tenantId: 'globex' },
  'other agent': { agents: ['counted'] },
}

const limitsOf = (column: Column) => (column === 'other org' ? {} : LIMITS[column])

const forEachColumn = async (open: (column: Column) => Promise<ApiClient> | ApiClient) =>
  Object.fromEntries(
    await Promise.all(COLUMNS.map(async (column) => [column, await open(column)] as const)),
  ) as Record<Column, ApiClient>

/** A client with the token of each column. @param org has the agents `echo` and `counted` */
export const openColumns = (
  org: TestOrganization,
  other: TestOrganization,
): Promise<Record<Column, ApiClient>> =>
  forEachColumn((column) => (column === 'other org' ? other.call : org.withLimits(limitsOf(column))))

/** Clients with the same limits, which they have from the claims of an identity provider. */
export async function openJwtColumns(
  org: TestOrganization,
  other: TestOrganization,
  provider: ScriptedProvider,
  /** Starts a service on the shared table. @returns its URL */
  start: (environment: Record<string, string>) => Promise<string>,
): Promise<Record<Column, ApiClient>> {
  const mapping = {
    organization: { claim: 'org', values: { ours: org.id, theirs: other.id } },
    tenant: { claim: ['limits', 'tenant'], optional: true },
    scopes: { claim: 'scope' },
  }
  const startWith = (given: object) =>
    start({
      OIDC_ISSUER: provider.issuer,
      OIDC_AUDIENCE: 'agents',
      OIDC_MAPPING: JSON.stringify({ ...mapping, ...given }),
    })
  const [all, some] = await Promise.all([startWith({}), startWith({ agents: { claim: 'agents' } })])
  return forEachColumn(async (column) => {
    const { scopes, agents, tenantId: tenant } = limitsOf(column)
    const claims = {
      org: column === 'other org' ? 'theirs' : 'ours',
      scope: (scopes ?? SCOPES).join(' '),
      limits: { tenant: tenant ?? undefined },
      agents,
    }
    return createClient(agents ? some : all, await provider.sign(claims))
  })
}
