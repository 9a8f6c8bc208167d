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

type SettingName = 'issuer' | 'audience' | 'mapping' | 'clientId' | 'scope' | 'tokenOrigin'
type Given = Record<SettingName, string | null | undefined>

/**
 * What is wrong with the settings together; undefined if nothing is.
 * @param names of the settings
 */
export function findMissingSetting(given: Given, names: Record<keyof Given, string>): string | undefined {
  const { issuer, audience, mapping, clientId } = given
  for (const name of ['scope', 'tokenOrigin'] as const)
    if (given[name] && !clientId) return `${names[name]} requires ${names.clientId}.`
  const isSet = [issuer, audience, mapping].map(Boolean)
  if (new Set(isSet).size > 1)
    return `set all of ${names.issuer}, ${names.audience} and ${names.mapping}, or none.`
  return clientId && !issuer ? `${names.clientId} requires ${names.issuer}.` : undefined
}
