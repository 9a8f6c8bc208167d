import { hash, randomBytes } from 'node:crypto'
import { type Access, type TokenLimits, UNLIMITED } from '../core/access.ts'
import type { Token } from '../core/agent.ts'
import { isJsonObject, tryParseJson } from '../core/json/json.ts'
import type { TokenStore } from '../core/ports/access.ts'
import type { System } from '../core/ports/system.ts'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const RANDOM_BYTES = 32
/** 62^43 is the first power of 62 above 2^256. */
const RANDOM_CHARACTERS = 43

/** RFC 6750, section 2.1: the scheme, in any case, and a b64token. */
const BEARER = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i

/** `Authorization` headers with a token that `newToken` generated, as a regular expression without flags. */
export const TOKEN_HEADER_PATTERN = `^[Bb][Ee][Aa][Rr][Ee][Rr] +aes_[0-9A-Za-z]{${RANDOM_CHARACTERS}}$`

/**
 * `Authorization` headers with a signed JSON Web Token: three parts in base64url, of which the first one begins with
 * `{"` or `{ `.
 */
export const JWT_HEADER_PATTERN =
  '^[Bb][Ee][Aa][Rr][Ee][Rr] +ey[0-9A-Za-z_-]+[.][0-9A-Za-z_-]+[.][0-9A-Za-z_-]+$'

/**
 * Claims of ID tokens alone: OpenID Connect Core, sections 3.1.3.6 and 3.3.2.11. Not `nonce`, which access tokens of
 * Keycloak before version 25 have too.
 */
export const ID_TOKEN_CLAIMS = ['at_hash', 'c_hash']

/** `aes_` and 4 of the 43 characters: what is left is as hard to guess as a key of 232 bits. */
const PREFIX_CHARACTERS = 8

const MAX_HEADER_CHARACTERS = 1_000
const MAX_TOKEN_CHARACTERS = 200

type NewToken = {
  system: System
  organizationId: string
  name: string
  createdBy: string
  isOfPerson?: true
  /** null: the token does not expire. */
  lifetimeMs: number | null
  /** Default: random. */
  text?: string | undefined
} & Partial<TokenLimits>

/** Creates a token. `text` is shown once; `token` is stored and contains only its hash. */
export function newToken({ system, lifetimeMs, text = generateText(), ...given }: NewToken) {
  const now = system.now()
  const token: Token = {
    ...UNLIMITED,
    ...given,
    id: system.newId(),
    hash: hashToken(text),
    // A development token can be short.
    prefix: text.slice(0, Math.min(PREFIX_CHARACTERS, text.length / 4)),
    createdAt: new Date(now).toISOString(),
    expiresAt: lifetimeMs === null ? null : new Date(now + lifetimeMs).toISOString(),
    revokedAt: null,
    lastUsedAt: null,
  }
  return { text, token }
}

/**
 * Returns the valid token of an `Authorization` header, or null. The lookup uses the hash, so response times reveal
 * nothing about stored tokens.
 */
export async function verifyToken(tokens: TokenStore, header: string, now: number): Promise<Token | null> {
  const text = header.length <= MAX_HEADER_CHARACTERS ? BEARER.exec(header.trim())?.[1] : undefined
  const token = text ? await tokens.getByHash({ hash: hashToken(text) }) : null
  if (!token || token.revokedAt || (token.expiresAt && Date.parse(token.expiresAt) <= now)) return null
  return token
}

/** What a valid token may do. */
export function toAccess({
  id,
  organizationId,
  name,
  expiresAt,
  scopes,
  agents,
  tenantId,
  rate,
}: Token): Access {
  const limits: TokenLimits = { scopes, agents, tenantId, rate }
  const end = expiresAt === null ? {} : { expiresAt: Math.floor(Date.parse(expiresAt) / 1_000) }
  return { organizationId, tokenId: id, tokenName: name, ...end, ...limits }
}

/** Stores the hour of the use, once per hour. Best effort: it decides nothing. */
export async function recordUse(tokens: TokenStore, { hash, lastUsedAt }: Token, now: number): Promise<void> {
  const hour = new Date(now).toISOString().replace(/:.*/, ':00:00.000Z')
  if (lastUsedAt === null || lastUsedAt < hour)
    await tokens.recordUse({ hash, lastUsedAt: hour }).catch(() => undefined)
}

/**
 * What is wrong with a rejected `Authorization` header. The same sentence whether its token exists or not, and for
 * everything that can be wrong with a JSON Web Token, except that it is an ID token.
 * @param issuer of the identity provider whose tokens are accepted too
 */
export function describeMistake(header: string | undefined, issuer?: string): string {
  if (!header?.trim()) return 'The request has no header Authorization.'
  if (/^bearer$/i.test(header.trim())) return 'The header has no token after "Bearer".'
  if (!/^bearer\s/i.test(header.trim())) return 'The header does not begin with "Bearer".'
  if (issuer && new RegExp(JWT_HEADER_PATTERN).test(header.trim()))
    return isIdToken(header)
      ? 'The token is an ID token. Send the access token, which the provider issues with it.'
      : 'The access token is invalid or has expired, or it is not for this service.'
  if (!new RegExp(TOKEN_HEADER_PATTERN).test(header.trim())) {
    const orJwt = issuer ? ', or a JSON Web Token' : ''
    return `What the header contains does not look like a token: "aes_" and ${RANDOM_CHARACTERS} letters and digits${orJwt}.`
  }
  return 'The token does not exist, has expired or was revoked.'
}

function isIdToken(header: string): boolean {
  const [, payload = ''] = header.split('.')
  const claims = tryParseJson(Buffer.from(payload, 'base64url').toString())
  return isJsonObject(claims) && ID_TOKEN_CLAIMS.some((claim) => Object.hasOwn(claims, claim))
}

export const TOKEN_RULE = `letters, digits and \`._~+/=-\`, at most ${MAX_TOKEN_CHARACTERS} characters`

/** @throws an Error without the text */
export function parseToken(text: string): void {
  if (!BEARER.test(`Bearer ${text}`) || text.length > MAX_TOKEN_CHARACTERS)
    throw new Error(`may contain only ${TOKEN_RULE.replaceAll('`', '')}.`)
}

export const hashToken = (text: string): string => hash('sha256', text)

function generateText(): string {
  let value = BigInt(`0x${randomBytes(RANDOM_BYTES).toString('hex')}`)
  let text = ''
  for (let i = 0; i < RANDOM_CHARACTERS; i++) {
    text = ALPHABET[Number(value % 62n)] + text
    value /= 62n
  }
  return `aes_${text}`
}
