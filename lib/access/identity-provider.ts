import {
  createLocalJWKSet,
  errors,
  type JSONWebKeySet,
  type JWTHeaderParameters,
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  jwtVerify,
} from 'jose'
import { abortable } from '../core/abortable.ts'
import {
  type Access,
  MAX_EXPIRES_AT,
  MAX_JWT_CHARACTERS,
  type RefusedAccess,
  UNLIMITED,
} from '../core/access.ts'
import { Unavailable } from '../core/errors.ts'
import { namePattern, subjectIdOf } from '../core/ids.ts'
import { isJsonObject, type JsonObject, tryParseJson } from '../core/json/json.ts'
import { Forbidden } from '../core/request-errors.ts'
import { type Environment, requireEnv } from '../environment.ts'
import { describeCause, logger } from '../logger.ts'
import { isSecureUrl } from '../public-url.ts'
import { type ClaimMapping, mapClaims, parseMapping, ScopeMissing } from './claims.ts'
import { parseAudiences, parseIssuer } from './identity-settings.ts'
import { ID_TOKEN_CLAIMS, JWT_HEADER_PATTERN } from './tokens.ts'

/** Neither `none` nor HMAC, for which the key that verifies is a secret that also signs. */
const ALGORITHMS = [
  ...['RS', 'PS', 'ES'].flatMap((family) => [`${family}256`, `${family}384`, `${family}512`]),
  ...['EdDSA', 'Ed25519'],
]

/** Types of tokens that are for something else, such as `logout+jwt`: RFC 8725, section 3.11. */
const ACCESS_TOKEN = /^(application\/)?(at\+)?jwt$/i

/** Of the clock of the provider. The endpoints allow none for `exp`. */
const CLOCK_TOLERANCE_SECONDS = 5

/** OpenID Connect Core, section 2: at most 255 ASCII characters. */
const SUBJECT = /^[\x20-\x7e]{1,255}$/
const NAME_CLAIMS = ['name', 'email', 'preferred_username']
const MAX_NAME_CHARACTERS = 100
const NAME = namePattern(MAX_NAME_CHARACTERS)

/** API Gateway waits for the authorizer for 10 s, in which it makes two requests. */
const TIMEOUT_MS = 3_000
const MAX_RESPONSE_BYTES = 512 * 1024
/** After a failure, for how long the provider gets no further request. */
const HOLD_OFF_MS = 1_000
/**
 * For how long keys are not asked for again because of an unknown one. A new key is found within a minute, also if the
 * provider takes as long as it may.
 */
const COOLDOWN_MS = 50_000
/** How long keys are used without asking for them again. */
const KEYS_TTL_MS = 600_000

/** Of errors that are the fault of a token, and not of the provider. */
const TOKEN_FAULTS: string[] = [
  errors.JOSEAlgNotAllowed,
  errors.JOSENotSupported,
  errors.JWKSMultipleMatchingKeys,
  errors.JWKSNoMatchingKey,
  errors.JWSInvalid,
  errors.JWSSignatureVerificationFailed,
  errors.JWTClaimValidationFailed,
  errors.JWTExpired,
  errors.JWTInvalid,
].map(({ code }) => code)

/**
 * The provider of `OIDC_ISSUER`. Nothing is requested before the first token.
 * @throws an Error for an invalid setting
 */
export function openIdentityProvider(environment: Environment = process.env) {
  const issuer = parseIssuer(requireEnv('OIDC_ISSUER', environment))
  const audience = parseAudiences(requireEnv('OIDC_AUDIENCE', environment))
  const mapping = parseMapping(requireEnv('OIDC_MAPPING', environment))
  const options: JWTVerifyOptions = {
    issuer,
    audience,
    algorithms: ALGORITHMS,
    clockTolerance: CLOCK_TOLERANCE_SECONDS,
    requiredClaims: ['exp', 'sub'],
  }
  const findKey = openKeys(issuer)
  const header = new RegExp(JWT_HEADER_PATTERN)
  return {
    /** Whether an `Authorization` header has the form of a JSON Web Token. */
    isJwt: (text: string): boolean => header.test(text.trim()),
    /**
     * Who sends a request with such a header, and what they may do; null if the token is not valid.
     * @throws Unavailable if the provider does not give its keys
     */
    async identify(text: string): Promise<Access | RefusedAccess | null> {
      const [, token = ''] = text.trim().split(/ +/)
      const claims = await verify(token, findKey, options)
      return claims && toAccess(issuer, mapping, claims)
    },
  }
}

/** The claims of a token; null if it is not valid. No log has more of it than the name of a standard claim. */
async function verify(
  token: string,
  findKey: JWTVerifyGetKey,
  options: JWTVerifyOptions,
): Promise<VerifiedClaims | null> {
  if (token.length > MAX_JWT_CHARACTERS) {
    logger.info('JSON Web Token rejected', { code: 'TOO_LARGE' })
    return null
  }
  try {
    const { payload, protectedHeader } = await jwtVerify(token, findKey, options)
    const claim = findUnfit(protectedHeader, payload)
    if (claim === undefined) return payload as VerifiedClaims
    logger.info('JSON Web Token rejected', { code: 'NOT_A_BEARER_TOKEN', claim })
  } catch (error) {
    if (error instanceof Unavailable) throw error
    const { code = '', claim } = error as { code?: string; claim?: string }
    if (!TOKEN_FAULTS.includes(code)) {
      logger.error('A key of the identity provider is not usable', { cause: describeCause(error) })
      throw new Unavailable(error)
    }
    logger.info('JSON Web Token rejected', { code, claim })
  }
  return null
}

type VerifiedClaims = JWTPayload & { sub: string; exp: number }

/**
 * The claim, or the parameter of the header, by which a valid token is not a bearer token of a subject. Those that are
 * bound to a key of their client have `cnf`: RFC 7800, RFC 9449.
 */
function findUnfit({ typ }: JWTHeaderParameters, claims: JWTPayload): string | undefined {
  const { sub, exp = 0 } = claims
  if (typ !== undefined && !ACCESS_TOKEN.test(typ)) return 'typ'
  if (typeof sub !== 'string' || !SUBJECT.test(sub)) return 'sub'
  if (Math.floor(exp) > MAX_EXPIRES_AT) return 'exp'
  return ['cnf', ...ID_TOKEN_CLAIMS].find((claim) => Object.hasOwn(claims, claim))
}

function toAccess(issuer: string, mapping: ClaimMapping, claims: VerifiedClaims): Access | RefusedAccess {
  const { sub: subject, exp } = claims
  const tokenId = subjectIdOf(issuer, subject)
  const expiresAt = Math.floor(exp)
  const name = NAME_CLAIMS.map((claim) => claims[claim]).find(
    (value): value is string => typeof value === 'string' && NAME.test(value),
  )
  try {
    return {
      ...UNLIMITED,
      ...mapClaims(mapping, claims),
      tokenId,
      tokenName: name ?? subject.slice(0, MAX_NAME_CHARACTERS),
      subject,
      expiresAt,
    }
  } catch (error) {
    if (!(error instanceof Forbidden)) throw error
    const lacksScope = error instanceof ScopeMissing && ({ lacksScope: true } as const)
    return { tokenId, expiresAt, forbidden: error.message, ...lacksScope }
  }
}

type KeySet = ReturnType<typeof createLocalJWKSet>

/**
 * Finds the key that signed a token. The provider is asked at the first one, for unknown keys at most once in
 * `COOLDOWN_MS`, and after `KEYS_TTL_MS`. Concurrent tokens wait for the same requests.
 */
function openKeys(issuer: string): JWTVerifyGetKey {
  const load = openLoader()
  let current: { find: KeySet; loadedAt: number } | undefined
  let pending: Promise<KeySet> | undefined
  const reload = () => {
    pending ??= loadKeys(issuer, load)
      .then((find) => {
        current = { find, loadedAt: Date.now() }
        return find
      })
      .finally(() => {
        pending = undefined
      })
    return pending
  }
  const keysWithin = (ms: number) =>
    current && Date.now() - current.loadedAt < ms ? current.find : undefined
  return async (header, token) => {
    const known = keysWithin(KEYS_TTL_MS) ?? (await reload())
    try {
      return await known(header, token)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
      const latest = keysWithin(COOLDOWN_MS) ?? (await reload())
      return latest(header, token)
    }
  }
}

/** OpenID Connect Discovery, section 4: each time, because the keys may have moved while the old ones are served. */
async function loadKeys(issuer: string, load: Load): Promise<KeySet> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const isConfiguration = ({ issuer: named, jwks_uri: keys }: JsonObject) =>
    named === issuer && typeof keys === 'string' && isSecureUrl(keys)
  const { jwks_uri } = await load(url, isConfiguration)
  const isKeySet = ({ keys }: JsonObject) => Array.isArray(keys) && keys.every(isJsonObject)
  const keySet: unknown = await load(String(jwks_uri), isKeySet)
  return createLocalJWKSet(keySet as JSONWebKeySet)
}

/** Loads a JSON object from the provider. @throws Unavailable, also at once for a while after a failure */
type Load = (url: string, isExpected: (document: JsonObject) => boolean) => Promise<JsonObject>

function openLoader(): Load {
  let last: { failure: Unavailable; failedAt: number } | undefined
  return async (url, isExpected) => {
    if (last && performance.now() - last.failedAt < HOLD_OFF_MS) throw last.failure
    try {
      const document = tryParseJson(await fetchText(url))
      if (isJsonObject(document) && isExpected(document)) return document
      throw new Error('not the expected document')
    } catch (error) {
      const { name, message, cause } = error as Error & { cause?: { code?: string } }
      logger.warn('The identity provider does not answer as expected', {
        url,
        reason: cause?.code ?? (name === 'TimeoutError' ? name : message),
      })
      last = { failure: new Unavailable(error), failedAt: performance.now() }
      throw last.failure
    }
  }
}

/** A redirect is not followed. */
async function fetchText(url: string): Promise<string> {
  // Lambda freezes processes between requests: an idle connection would be a dead one.
  const headers = { Accept: 'application/json', Connection: 'close' }
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  return abortable(signal, fetch(url, { headers, signal, redirect: 'manual' }).then(readText))
}

async function readText({ status, body }: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of status === 200 && body ? body : []) {
    chunks.push(chunk)
    length += chunk.length
    if (length > MAX_RESPONSE_BYTES) throw new Error(`more than ${MAX_RESPONSE_BYTES} bytes`)
  }
  if (status === 200) return Buffer.concat(chunks).toString()
  await body?.cancel()
  throw new Error(`status ${status}`)
}
