import type { SignInSettings } from '../../lib/console-server/sign-in-settings.ts'
import { keepPending, type ProviderResponse } from '../state/provider-sign-in.ts'
import { isJwt, isToken } from '../state/token-storage.ts'
import { ASK, discoverProvider, fetchJson, hostOf, SignInError } from './provider.ts'

/** The code flow with PKCE (RFC 7636, RFC 9700): only the verifier in this tab turns the code into a token. */

/** To register at the provider. The page is in its fragment, which is no part of it. */
export const redirectUri = (): string => `${window.location.origin}${window.location.pathname}`

const VERIFIER_BYTES = 32
const STATE_BYTES = 16

type BeginOptions = { signal: AbortSignal; asksAgain: boolean }

/**
 * @param options `asksAgain`: also somebody whom the provider knows has to say who they are
 * @returns where the user signs in
 * @throws SignInError
 */
export async function beginSignIn(
  settings: SignInSettings,
  { signal, asksAgain }: BeginOptions,
): Promise<string> {
  if (!window.isSecureContext) throw new SignInError(`The sign-in at ${hostOf(settings)} needs HTTPS. ${ASK}`)
  const { authorizationEndpoint } = await discoverProvider(settings, signal)
  const state = randomText(STATE_BYTES)
  const verifier = randomText(VERIFIER_BYTES)
  const { hash } = window.location
  if (!keepPending({ state, verifier, page: hash.startsWith('#/') ? hash : '#/' }))
    throw new SignInError(
      'This browser does not let the page store anything, which the sign-in needs. Allow it, or use an API token.',
    )
  const url = new URL(authorizationEndpoint)
  const parameters = {
    response_type: 'code',
    client_id: settings.clientId,
    redirect_uri: redirectUri(),
    scope: settings.scope,
    state,
    code_challenge: await challengeOf(verifier),
    code_challenge_method: 'S256',
    ...(settings.audience && { audience: settings.audience }),
    ...toResource(settings),
    ...(asksAgain && { prompt: 'login' }),
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url.href
}

/** RFC 8707 allows only absolute URIs without a fragment. Microsoft rejects others; it finds the audience by scopes. */
const toResource = ({ audience }: SignInSettings): { resource?: string } =>
  URL.canParse(audience) && !audience.includes('#') ? { resource: audience } : {}

/** @returns the access token, for the service. @throws SignInError */
export async function completeSignIn(
  settings: SignInSettings,
  response: ProviderResponse,
  signal: AbortSignal,
): Promise<string> {
  const { code, pending } = response
  if (!pending)
    throw new SignInError(
      'This sign-in was not begun in this tab, or has been used before. Nobody was signed in by it: sign in again.',
    )
  checkError(settings, response)
  if (code === null) throw new SignInError(`${hostOf(settings)} sent no code. ${ASK}`)
  const { tokenEndpoint, sendsIssuer } = await discoverProvider(settings, signal)
  if (sendsIssuer && response.issuer === null) throw wrongIssuer(settings, response)
  const { response: answer, body } = await fetchJson(tokenEndpoint, settings, {
    signal,
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri(),
      client_id: settings.clientId,
      code_verifier: pending.verifier,
      ...toResource(settings),
    }),
  })
  if (!answer.ok)
    throw toSignInError(settings, body?.error ?? `status ${answer.status}`, body?.error_description)
  return readToken(settings, body)
}

/** The response of another provider must not be sent to this one (RFC 9207, section 2.4). */
function checkError(settings: SignInSettings, response: ProviderResponse): void {
  if (response.issuer !== null && response.issuer !== settings.issuer) throw wrongIssuer(settings, response)
  if (response.error !== null) throw toSignInError(settings, response.error, response.description)
}

const wrongIssuer = (settings: SignInSettings, { issuer }: ProviderResponse) =>
  new SignInError(`The response does not come from ${hostOf(settings)}. ${ASK}`, issuer)

function readToken(settings: SignInSettings, body: Record<string, unknown> | null): string {
  const host = hostOf(settings)
  const { access_token: token, token_type: type } = body ?? {}
  if (typeof type !== 'string' || type.toLowerCase() !== 'bearer' || typeof token !== 'string')
    throw new SignInError(`${host} sent no bearer token. ${ASK}`)
  if (!isJwt(token))
    throw new SignInError(
      `${host} sent a token that only itself can read, not a JSON Web Token. The operator of the service has to register the audience “${settings.audience}” as an API there.`,
    )
  const canBeSent: boolean = isToken(token)
  if (!canBeSent)
    throw new SignInError(
      `The token of ${host} has ${token.length.toLocaleString('en-GB')} characters: too many for a header. The operator has to put fewer claims into it.`,
    )
  return token
}

/** RFC 6749, sections 4.1.2.1 and 5.2; OpenID Connect Core 1.0, section 3.1.2.6; RFC 8707. */
function toSignInError(settings: SignInSettings, code: unknown, description: unknown): SignInError {
  const host = hostOf(settings)
  const unregistered = `${host} does not accept the client “${settings.clientId}”. Its operator has to register it as a public client (a single-page application) with PKCE, and with the redirect URI ${redirectUri()}`
  const signInThere = `${host} wants you to sign in there first. Try again.`
  const messages: Record<string, string> = {
    access_denied: `${host} refused the sign-in, or you cancelled it.`,
    account_selection_required: signInThere,
    consent_required: signInThere,
    interaction_required: signInThere,
    login_required: signInThere,
    invalid_client: unregistered,
    invalid_grant: `${host} no longer accepts this sign-in: it took too long, or was used before. Sign in again.`,
    invalid_scope: `${host} does not know the scopes “${settings.scope}”. ${ASK}`,
    invalid_target: `${host} does not know the audience “${settings.audience}”. ${ASK}`,
    server_error: `${host} has a problem. Try again in a minute.`,
    temporarily_unavailable: `${host} is overloaded, or under maintenance. Try again in a minute.`,
    unauthorized_client: unregistered,
  }
  const known = typeof code === 'string' && Object.hasOwn(messages, code) ? messages[code] : undefined
  const said = [known ? null : code, description].filter((text) => typeof text === 'string' && text !== '')
  return new SignInError(known ?? `${host} could not sign you in. Try again.`, said.join(': '))
}

const randomText = (bytes: number) => toBase64Url(crypto.getRandomValues(new Uint8Array(bytes)))

async function challengeOf(verifier: string): Promise<string> {
  return toBase64Url(
    new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))),
  )
}

const toBase64Url = (bytes: Uint8Array) =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
