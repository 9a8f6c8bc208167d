import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import { abortable } from '../core/abortable.ts'
import { Unavailable } from '../core/errors.ts'
import { isJsonObject, type JsonObject, tryParseJson } from '../core/json/json.ts'
import { logger } from '../logger.ts'
import { isSecureUrl } from '../public-url.ts'

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

type KeySet = ReturnType<typeof createLocalJWKSet>

/**
 * Finds the key that signed a token. The provider is asked at the first one, for unknown keys at most once in
 * `COOLDOWN_MS`, and after `KEYS_TTL_MS`. Concurrent tokens wait for the same requests.
 */
export function openKeys(issuer: string): JWTVerifyGetKey {
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
