import { namePattern } from './ids.ts'

/**
 * `read`: GET routes. `run`: start and cancel executions, send signals, and give feedback. `review`: give feedback that
 * runs learn from. `approve`: decide on approvals. `manage`: everything else.
 */
export const SCOPES = ['run', 'read', 'manage', 'review', 'approve'] as const
export type Scope = (typeof SCOPES)[number]

/** Of new tokens, and what MCP clients ask for first: neither deletes nor publishes. A call that needs more says so. */
export const DEFAULT_SCOPES: Scope[] = ['run', 'read']

/** What a token is restricted to. Null: no restriction. */
export type TokenLimits = {
  scopes: Scope[] | null
  /** IDs or slugs. */
  agents: string[] | null
  tenantId: string | null
  /** Requests per second. */
  rate: number | null
}

export const MAX_TENANT_ID = 128
export const TENANT_ID = /* @__PURE__ */ namePattern(MAX_TENANT_ID)

/** Half a character has no encoding: not as a key of the table, nor on its way from the authorizer. */
export const isTenantId = (text: string): boolean => TENANT_ID.test(text) && text.isWellFormed()

export const UNLIMITED: TokenLimits = { scopes: null, agents: null, tenantId: null, rate: null }

/** More would not fit the 8 kB that API Gateway documents for the result of an authorizer. */
export const MAX_TOKEN_AGENTS = 50

/** The highest rate that one item can count: DynamoDB writes 1,000 units per second to a partition key. */
export const MAX_TOKEN_RATE = 1_000

/** `maxOfPerson`: of tokens that someone creates who signed in at the identity provider. */
export const TOKEN_LIFETIME_DAYS = { min: 1, max: 3_650, default: 90, maxOfPerson: 366 } as const

/** How long a token that is replaced by another one stays valid at most: 30 days. */
export const MAX_OVERLAP_SECONDS = 2_592_000

export const MAX_TOKEN_NAME = 100

/** Of tokens of an identity provider, in characters: with the other headers, API Gateway takes no more than 10,240. */
export const MAX_JWT_CHARACTERS = 8_192

/** Who sends a request: the organization and the limits of the token. */
export type Access = TokenLimits & {
  organizationId: string
  tokenId: string
  /** Absent if the authorizer is of an earlier release. */
  tokenName?: string
  /** Who the identity provider says it is. `tokenId` is then a UUIDv5 of issuer and subject. Absent: an API token. */
  subject?: string
  /** Seconds since the epoch. Absent: the token does not expire, or the authorizer is of an earlier release. */
  expiresAt?: number
}

/** Of tokens of an identity provider. Later ends are numbers of milliseconds. */
export const MAX_EXPIRES_AT = 999_999_999_999

/** Someone whom the identity provider has identified, and whose claims give access to nothing. */
export type RefusedAccess = Pick<Access, 'tokenId' | 'expiresAt'> & {
  /** Why. */
  forbidden: string
  /** Set if it is for want of a scope, which clients may get by asking the provider for more. */
  lacksScope?: true
}

/** Sends requests to public operations. */
export const ANONYMOUS: Access = { ...UNLIMITED, organizationId: '', tokenId: '' }

/** The agents and the tenant of an organization that a request may use. Null: all of them. */
export type Visibility = { organizationId: string; agentIds: string[] | null; tenantId: string | null }

export const isScope = (text: string): text is Scope => SCOPES.some((scope) => scope === text)
