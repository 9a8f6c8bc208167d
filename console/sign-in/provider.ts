import type { SignInSettings } from '../../lib/console-server/sign-in-settings.ts'
import { isJsonObject, tryParseJson } from '../../lib/core/json/json.ts'

/** Why a sign-in failed. `quote`: what the identity provider says about it; null if it says nothing. */
export class SignInError extends Error {
  readonly quote: string | null

  constructor(message: string, quote: unknown = null) {
    super(message)
    this.name = 'SignInError'
    this.quote = typeof quote === 'string' && quote !== '' ? quote.slice(0, MAX_QUOTE) : null
  }
}

const MAX_QUOTE = 300
const TIMEOUT_MS = 15_000

/** What the console needs of an identity provider (OpenID Connect Discovery 1.0, section 3). */
export type Provider = {
  authorizationEndpoint: URL
  tokenEndpoint: URL
  /** Its responses name it (RFC 9207). */
  sendsIssuer: boolean
}

/** How a person calls it. */
export const hostOf = ({ issuer }: SignInSettings): string => new URL(issuer).host

export async function discoverProvider(settings: SignInSettings, signal: AbortSignal): Promise<Provider> {
  const host = hostOf(settings)
  const url = `${settings.issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const { response, body } = await fetchJson(url, settings, { signal })
  if (!response.ok || !body)
    throw new SignInError(
      `${host} does not describe itself: ${url} responds with status ${response.status}${response.ok ? ', but not with a JSON object' : ''}. ${ASK}`,
    )
  if (body.issuer !== settings.issuer)
    throw new SignInError(
      `${host} says that it is another issuer than the service trusts. ${ASK}`,
      body.issuer,
    )
  const methods = body.code_challenge_methods_supported
  if (Array.isArray(methods) && !methods.includes('S256'))
    throw new SignInError(`${host} does not offer PKCE with S256, which the sign-in needs. ${ASK}`)
  const tokenEndpoint = readUrl(body, 'token_endpoint', settings)
  if (!settings.origins.includes(tokenEndpoint.origin))
    throw new SignInError(
      `The token endpoint of ${host} is at ${tokenEndpoint.origin}, to which this page must not connect. The operator of the service has to set oidcTokenOrigin (OIDC_TOKEN_ORIGIN) to it.`,
    )
  return {
    authorizationEndpoint: readUrl(body, 'authorization_endpoint', settings),
    tokenEndpoint,
    sendsIssuer: body.authorization_response_iss_parameter_supported === true,
  }
}

export const ASK = 'Tell the operator of the service.'

/** http only for a provider on this machine. */
function readUrl(body: Record<string, unknown>, name: string, settings: SignInSettings): URL {
  const { [name]: text } = body
  const url = typeof text === 'string' ? URL.parse(text) : null
  if (url && ['https:', new URL(settings.issuer).protocol].includes(url.protocol)) return url
  throw new SignInError(`The description of ${hostOf(settings)} has no valid ${name}. ${ASK}`, text)
}

type Answer = { response: Response; body: Record<string, unknown> | null }

/** A response with its JSON object, null without one. @throws SignInError; an AbortError if the signal aborts */
export async function fetchJson(
  url: string | URL,
  settings: SignInSettings,
  { signal, ...init }: RequestInit & { signal: AbortSignal },
): Promise<Answer> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS)
  try {
    const response = await fetch(url, {
      ...init,
      signal: AbortSignal.any([signal, timeout]),
      headers: { Accept: 'application/json' },
      credentials: 'omit',
      redirect: 'error',
      cache: 'no-store',
    })
    const body = tryParseJson(await response.text())
    return { response, body: isJsonObject(body) ? body : null }
  } catch {
    signal.throwIfAborted()
    const host = hostOf(settings)
    if (timeout.aborted)
      throw new SignInError(`${host} has not answered within ${TIMEOUT_MS / 1_000} s. Try again.`)
    // Browsers do not tell a page more.
    throw new SignInError(
      `${host} cannot be reached from this page. Check that this device is online, then try again. If it is, the provider may be down, or not allow requests from ${window.location.origin} (CORS).`,
    )
  }
}
