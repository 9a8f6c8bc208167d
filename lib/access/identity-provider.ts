import {
  errors,
  type JWTHeaderParameters,
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  jwtVerify,
} from 'jose'
import {
  type Access,
  MAX_EXPIRES_AT,
  MAX_JWT_CHARACTERS,
  type RefusedAccess,
  UNLIMITED,
} from '../core/access.ts'
import { Unavailable } from '../core/errors.ts'
import { namePattern, subjectIdOf } from '../core/ids.ts'
import { Forbidden } from '../core/request-errors.ts'
import { type Environment, requireEnv } from '../environment.ts'
import { describeCause, logger } from '../logger.ts'
import { type ClaimMapping, parseMapping } from './claim-mapping.ts'
import { mapClaims, ScopeMissing } from './claims.ts'
import { parseAudiences, parseIssuer } from './identity-settings.ts'
import { openKeys } from './provider-keys.ts'
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
