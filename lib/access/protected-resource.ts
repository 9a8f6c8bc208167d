import { DEFAULT_SCOPES, SCOPES, type Scope } from '../core/access.ts'
import { type Environment, readSetting } from '../environment.ts'

/** Where clients find out which identity provider issues tokens for the service (RFC 9728). */
export const METADATA_PATH = '/.well-known/oauth-protected-resource'

/** The resource with metadata of its own: clients of the Model Context Protocol compare it with the URL they call. */
export const MCP_PATH = '/v1/mcp'

/** The identity provider whose tokens the service accepts, as clients need to know it. */
export type Provider = {
  issuer: string
  /** The scopes that clients ask the provider for to get these of the service; fewer if it has none for some. */
  toProviderScopes: (scopes: Scope[]) => string[]
  /** Whether a client gets the scope by asking for more scopes of the provider. */
  grants: (scope: Scope) => boolean
}

/** A part of the service that needs a token, and what a client needs to get one. */
export type ProtectedResource = {
  provider: Provider
  /** URL of its metadata. Undefined if the URL of the service is not known. */
  metadataUrl: string | undefined
  /** What a token needs for the request. */
  scopes: Scope[]
}

type NeededScope = Scope | Scope[] | 'any'
type Restricted = { path: string; scope?: NeededScope }

/** What a client asks for first: of several scopes of which one is enough, the first one grants least. */
export const toAskedScopes = (scope: NeededScope): Scope[] =>
  scope === 'any' ? DEFAULT_SCOPES : [scope].flat().slice(0, 1)

/** @param baseUrl of the service, without a slash at its end; undefined if it is not known */
export function toProtectedResource(
  provider: Provider,
  baseUrl: string | undefined,
  { path, scope = [] }: Restricted,
): ProtectedResource {
  const url = baseUrl && `${baseUrl}${METADATA_PATH}${path === MCP_PATH ? MCP_PATH : ''}`
  // Quotes would end the parameter of the header, or its value in API Gateway.
  const metadataUrl = url?.replace(/['"\\]/g, (quote) => `%${quote.charCodeAt(0).toString(16)}`)
  return { provider, metadataUrl, scopes: toAskedScopes(scope) }
}

/** RFC 9728, section 2. @param path of the resource on the service: empty for all of it */
export function toResourceMetadata({ issuer, toProviderScopes }: Provider, baseUrl: string, path: string) {
  const scopes = toProviderScopes(path === MCP_PATH ? DEFAULT_SCOPES : [...SCOPES])
  return {
    resource: `${baseUrl}${path}`,
    resource_name: 'Agent Execution Service',
    authorization_servers: [issuer],
    bearer_methods_supported: ['header'],
    ...(scopes.length > 0 && { scopes_supported: scopes }),
  }
}

/** The provider of the environment, if there is one. */
export function readProvider(environment: Environment = process.env): Provider | undefined {
  const issuer = readSetting('oidcIssuer', environment)
  return issuer ? toProvider(issuer, readSetting('oidcMapping', environment)) : undefined
}

/** Of OIDC_MAPPING, which is valid: the scopes of every token, or a claim that has them. */
type ScopeMapping = Scope[] | { claim: string | string[]; values?: Record<string, Scope[]> }

/** Claims with the scopes that the client asked for: RFC 9068, section 2.2.3, and those of Microsoft Entra and Okta. */
const SCOPE_CLAIMS = ['scope', 'scp']

/**
 * Whether the words of a claim are scopes that the client asked the provider for, also if it is within others.
 * @param path the names that lead to it
 */
export const isScopeClaim = (path: string[]): boolean => SCOPE_CLAIMS.includes(path.at(-1) ?? '')

/** RFC 6749, section 3.3, without the quote that API Gateway puts around the value of a header. */
const SCOPE_TOKEN = /^[\x21\x23-\x26\x28-\x5b\x5d-\x7e]+$/

/** @param mapping JSON, which is valid; undefined in functions that do not need it */
export function toProvider(issuer: string, mapping: string | undefined): Provider {
  const { scopes: rule } = (mapping ? JSON.parse(mapping) : { scopes: [] }) as { scopes: ScopeMapping }
  const isAsked = !Array.isArray(rule) && isScopeClaim([rule.claim].flat())
  if (!isAsked)
    // Its scopes do not matter. OpenID Connect has one that every provider knows; some refuse a request without any.
    return { issuer, toProviderScopes: () => (mapping ? ['openid'] : []), grants: () => false }
  const { values } = rule
  if (!values) return { issuer, toProviderScopes: (scopes) => scopes, grants: () => true }
  // Of several, the one that grants least.
  const byGrant = Object.entries(values)
    .filter(([name]) => SCOPE_TOKEN.test(name))
    .sort(([, one], [, other]) => one.length - other.length)
  const find = (scope: Scope) => byGrant.find(([, granted]) => granted.includes(scope))?.[0]
  return {
    issuer,
    toProviderScopes: (scopes) => [...new Set(scopes.flatMap((scope) => find(scope) ?? []))],
    grants: (scope) => find(scope) !== undefined,
  }
}

/** `openid` makes every provider accept the request; the others let tokens name the person. */
const SIGN_IN_SCOPE = 'openid profile email'

/**
 * The scopes that the console asks for by default, separated by spaces. Tokens name none of the service in `scope` or
 * `scp` unless the client has asked for it.
 */
export const toSignInScope = (issuer: string, mapping: string | undefined): string =>
  [
    ...new Set([...SIGN_IN_SCOPE.split(' '), ...toProvider(issuer, mapping).toProviderScopes([...SCOPES])]),
  ].join(' ')
