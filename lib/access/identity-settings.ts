import { isBaseUrl } from '../public-url.ts'

export const ISSUER_RULE =
  'the `iss` of the tokens: an https URL of at most 255 characters, without query; http for this machine'
export const AUDIENCES_RULE =
  '1 to 10 values of `aud` separated by commas, at most 500 printable ASCII characters'
export const CLIENT_ID_RULE = '1 to 255 printable ASCII characters'
export const SCOPE_RULE = 'scopes separated by spaces, at most 500 characters'
export const ORIGIN_RULE = 'an https origin such as `https://login.example.com`; http for this machine'

const ISSUER = /^[\x21-\x7e]{1,255}$/
const AUDIENCE = /^[\x20-\x7e]+$/
const MAX_AUDIENCES = 10
const MAX_AUDIENCES_LENGTH = 500
const MAX_SCOPE_LENGTH = 500
/** RFC 6749, section 3.3. */
const SCOPES = /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/
const CLIENT_ID = /^[\x20-\x7e]{1,255}$/

/** The text itself: `iss` must equal it, with or without a slash at its end. @throws an Error */
export function parseIssuer(text: string): string {
  if (ISSUER.test(text) && isBaseUrl(text)) return text
  throw new Error(`must be ${ISSUER_RULE.replaceAll('`', '')}.`)
}

/** A token needs one of them. The first one is that of the console. @throws an Error */
export function parseAudiences(text: string): string[] {
  const audiences = text.split(',').map((audience) => audience.trim())
  const isValid =
    text.length <= MAX_AUDIENCES_LENGTH &&
    audiences.length <= MAX_AUDIENCES &&
    audiences.every((audience) => AUDIENCE.test(audience))
  if (isValid) return audiences
  throw new Error(`must be ${AUDIENCES_RULE.replaceAll('`', '')}.`)
}

/** @throws an Error */
export function parseClientId(text: string): string {
  if (CLIENT_ID.test(text)) return text
  throw new Error(`must be ${CLIENT_ID_RULE}.`)
}

/** @throws an Error */
export function parseScope(text: string): string {
  if (SCOPES.test(text) && text.length <= MAX_SCOPE_LENGTH) return text
  throw new Error(`must be ${SCOPE_RULE}.`)
}

/** @throws an Error */
export function parseOrigin(text: string): string {
  if (isBaseUrl(text) && new URL(text).origin === text) return text
  throw new Error(`must be ${ORIGIN_RULE.replaceAll('`', '')}.`)
}

type IdentitySettings = {
  [Name in `oidc${'Issuer' | 'Audience' | 'Mapping' | 'ClientId' | 'Scope' | 'TokenOrigin'}`]: string | null
}

/**
 * What is wrong with the settings together; undefined if nothing is.
 * @param nameOf a setting where it is set
 */
export function findMissingSetting(
  given: IdentitySettings,
  nameOf = (name: keyof IdentitySettings): string => name,
): string | undefined {
  const required = ['oidcIssuer', 'oidcAudience', 'oidcMapping'] as const
  for (const name of ['oidcScope', 'oidcTokenOrigin'] as const)
    if (given[name] && !given.oidcClientId) return `${nameOf(name)} requires ${nameOf('oidcClientId')}.`
  if (new Set(required.map((name) => Boolean(given[name]))).size > 1) {
    const [issuer, audience, mapping] = required.map(nameOf)
    return `set all of ${issuer}, ${audience} and ${mapping}, or none.`
  }
  return given.oidcClientId && !given.oidcIssuer
    ? `${nameOf('oidcClientId')} requires ${nameOf('oidcIssuer')}.`
    : undefined
}
