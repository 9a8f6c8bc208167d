import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { isJsonObject, tryParseJson } from '../../core/json/json.ts'
import type { OauthDocument } from '../document/tool-fields.ts'
import type { EgressPolicy } from '../egress/egress-policy.ts'
import { readText } from '../egress/read-text.ts'
import { sendRequest, toConnectionError } from '../egress/send-request.ts'
import type { Secrets } from '../secrets.ts'
import { ToolError } from '../tool.ts'

const MAX_RESPONSE_BYTES = 64_000
const TIMEOUT_MS = 30_000
/** Of a token whose response does not say when it expires (RFC 6749, section 5.1, recommends that it does). */
const DEFAULT_SECONDS = 300
const MAX_SECONDS = 24 * 60 * 60
/** A token is not used for this long, at most half of its life, before it expires: requests take time to arrive. */
const MARGIN_SECONDS = 60

type Token = { accessToken: string; ttlMs: number }

/** The tokens of the process. Keys are hashes of the client secret too: a run without it does not get the token. */
const tokens = new LRUCache<string, Promise<Token>>({ max: 500 })

/** The access tokens of one connection. */
export type AccessTokens = {
  /** @throws ToolError */
  get(): Promise<string>
  /**
   * A token in place of one that the server rejected; null if that was itself such a replacement, because another one
   * would not help. @throws ToolError
   */
  replace(rejected: string): Promise<string | null>
  /** Says that the server accepted a token. */
  accept(token: string): void
}

/**
 * Access tokens for an MCP server by the grant for client credentials (RFC 6749, section 4.4). The process keeps a
 * token until it expires; requests at the same time get the same one. Tokens are masked like secrets.
 */
export function clientCredentials(
  oauth: OauthDocument,
  policy: EgressPolicy,
  secrets: Secrets,
): AccessTokens {
  let replacement: string | null = null
  let last = ''

  async function read(rejected?: string): Promise<string> {
    const secret = await secrets.fill(oauth.clientSecret)
    const key = createHash('sha256')
      .update(JSON.stringify([oauth, secret]))
      .digest('base64')
    const known = tokens.get(key)
    const token = await known?.catch(() => null)
    // Another call may have replaced it in the meantime.
    if (token && token.accessToken === rejected && tokens.get(key) === known) tokens.delete(key)
    const { accessToken } = await (tokens.get(key) ?? request(key, secret))
    if (accessToken !== last) secrets.texts.add('access token', accessToken)
    last = accessToken
    return accessToken
  }

  function request(key: string, secret: string): Promise<Token> {
    const requesting = requestToken(oauth, secret, policy, secrets)
    tokens.set(key, requesting)
    requesting.then(
      ({ ttlMs }) => tokens.set(key, requesting, { ttl: ttlMs }),
      () => tokens.delete(key),
    )
    return requesting
  }

  return {
    get: () => read(),
    async replace(rejected) {
      if (rejected === replacement) return null
      replacement = await read(rejected)
      return replacement
    },
    accept(token) {
      if (token === replacement) replacement = null
    },
  }
}

async function requestToken(
  { tokenUrl, clientId, authentication, scope, audience, resource }: OauthDocument,
  secret: string,
  policy: EgressPolicy,
  secrets: Secrets,
): Promise<Token> {
  const url = new URL(tokenUrl)
  // As RFC 6749, section 2.3.1, encodes both for the header.
  const [id, encoded] = [formEncode(clientId), formEncode(secret)]
  secrets.texts.add('client secret', encoded)
  const isBasic = authentication === 'basic'
  const parameters = {
    grant_type: 'client_credentials',
    ...(scope && { scope }),
    ...(audience && { audience }),
    ...(resource && { resource }),
    ...(!isBasic && { client_id: clientId, client_secret: secret }),
  }
  const headers = {
    accept: 'application/json',
    'content-type': 'application/x-www-form-urlencoded',
    'user-agent': 'agent-execution-service',
    ...(isBasic && { authorization: `Basic ${Buffer.from(`${id}:${encoded}`).toString('base64')}` }),
  }
  const body = new URLSearchParams(parameters).toString()
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const response = await sendRequest({ method: 'POST', url, headers, body, signal }, policy)
  const { text } = await readText(response, MAX_RESPONSE_BYTES).catch((error: Error) => {
    throw error instanceof ToolError ? error : toConnectionError(error, url)
  })
  const status = response.statusCode ?? 0
  const value = tryParseJson(text)
  const answer = isJsonObject(value) ? value : {}
  if (status >= 400) {
    const details = [answer.error, answer.error_description].filter((each) => typeof each === 'string')
    return fail(`responded with HTTP ${[status, ...details].join(': ')}`, secrets)
  }
  const { access_token: accessToken, token_type: type, expires_in: expiresIn } = answer
  if (typeof accessToken !== 'string' || !/^[\x21-\x7e]+$/.test(accessToken))
    return fail('returned no access token', secrets)
  if (type !== undefined && String(type).toLowerCase() !== 'bearer')
    return fail('returned a token that is not of type Bearer', secrets)
  return { accessToken, ttlMs: toTtlMs(expiresIn) }
}

function toTtlMs(expiresIn: unknown): number {
  const given = expiresIn === undefined ? Number.NaN : Number(expiresIn)
  const seconds = Number.isNaN(given) ? DEFAULT_SECONDS : Math.min(Math.max(given, 0), MAX_SECONDS)
  return Math.ceil(1_000 * Math.max(seconds - MARGIN_SECONDS, seconds / 2)) || 1
}

const formEncode = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1)

function fail(problem: string, secrets: Secrets): never {
  throw new ToolError(secrets.maskText(`The token endpoint ${problem}.`), { isTransient: true })
}
