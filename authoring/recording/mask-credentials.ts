import { isRawJson } from '../../lib/core/json/exact-number.ts'
import { isJsonObject } from '../../lib/core/json/json.ts'
import type { Environment } from '../../lib/environment.ts'
import { readSecret } from '../../lib/secret-store.ts'
import { SecretMask } from '../../lib/tools/secret-mask.ts'
import { providerKeysOf } from './record.ts'

export type Mask = <T>(value: T) => T

/** Formats by which a text that nobody declared as a secret is known to be one, and what replaces it. */
const CREDENTIALS: [RegExp, string][] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, '[secret key]'],
  // JSON Web Tokens (RFC 7519).
  [/\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*/g, '[secret token]'],
  // AWS, GitHub, Slack, Google, and the prefixes that OpenAI, Anthropic and Stripe share.
  [/\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g, '[secret key]'],
  [/\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_\w{30,})/g, '[secret token]'],
  [/\bxox[abeoprs]-[\w-]{10,}/g, '[secret token]'],
  [/\bAIza[\w-]{35}/g, '[secret key]'],
  [/\b[spr]k[-_][\w-]{20,}/g, '[secret key]'],
  // Callback URLs and tokens of this service, `Authorization` headers (RFC 6750), and passwords in URLs.
  [/\baescb_[\w-]{43}/g, '[secret callback]'],
  [/\baes_[0-9A-Za-z]{43}/g, '[secret token]'],
  [/\b(Bearer|Basic)\s+[\w.~+/-]{16,}=*/gi, '$1 [secret token]'],
  [/(\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*):[^\s/@]+@/gi, '$1:[secret password]@'],
]

/**
 * Masks secrets in JSON values, names of members included: API keys of models, the secrets of tools that this
 * environment has, and credentials in common formats. `unread`: secrets that cannot be read here, so that they are not
 * masked.
 */
export async function maskCredentials(
  environment: Environment,
  secretNames: string[],
): Promise<{ mask: Mask; unread: string[] }> {
  const known = new SecretMask()
  const unread: string[] = []
  for (const key of providerKeysOf(environment)) known.add('key', key)
  for (const name of new Set(secretNames)) {
    const value = await readSecret(name, environment).catch(() => null)
    if (value) known.add(name, value)
    else unread.push(name)
  }
  const maskText = (text: string): string =>
    CREDENTIALS.reduce(
      (rest, [pattern, replacement]) => rest.replace(pattern, replacement),
      known.apply(text),
    )
  const mask: Mask = <T>(value: T): T => {
    if (typeof value === 'string') return maskText(value) as T
    if (Array.isArray(value)) return value.map(mask) as T
    if (!isJsonObject(value) || isRawJson(value)) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [maskText(name), mask(member)]),
    ) as T
  }
  return { mask, unread: unread.sort() }
}
