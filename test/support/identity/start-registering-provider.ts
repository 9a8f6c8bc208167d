import { decodeJwt, SignJWT } from 'jose'
import { startOidcProvider } from './start-oidc-provider.ts'

/** A client that need not register, and what clients redirect to. */
export const CLIENT_ID = 'editor'
export const REDIRECT_URI = 'http://127.0.0.1:1/callback'

/** Scopes of the provider that are those of the service under other names. */
export const SCOPES = { 'agents:run': ['run'], 'agents:read': ['read'], 'agents:approve': ['approve'] }
const SCOPE = Object.keys(SCOPES).join(' ')

export type RegisteringProvider = Awaited<ReturnType<typeof startRegisteringProvider>>

/** A provider with which clients register. Tokens are for the resource that the client names (RFC 8707). */
export async function startRegisteringProvider() {
  const { issuer, privateKey, configure, stop } = await startOidcProvider({
    page: '<!doctype html><form method="post"><input name="name"><button>Sign in</button></form>',
    toResult: (form) => ({ login: { accountId: form.get('name') ?? '' }, consent: {} }),
  })
  const own = { clientId: CLIENT_ID, redirectUri: REDIRECT_URI, scope: SCOPE }
  configure(own, {
    scopes: ['openid', 'offline_access', ...SCOPE.split(' ')],
    clientDefaults: { token_endpoint_auth_method: 'none' },
    issueRefreshToken: (_, client) => client.grantTypeAllowed('refresh_token'),
    features: { registration: { enabled: true } },
    // Nobody is asked for consent.
    async loadExistingGrant({ oidc }) {
      const { client, session, params } = oidc
      const grant = new oidc.provider.Grant({
        ...(client && { clientId: client.clientId }),
        ...(session?.accountId && { accountId: session.accountId }),
      })
      grant.addOIDCScope(`openid offline_access ${SCOPE}`)
      for (const resource of [params?.resource].flat()) grant.addResourceScope(String(resource), SCOPE)
      await grant.save()
      return grant
    },
  })
  return {
    issuer,
    /** The same token, as it would be if it had expired. */
    expire: (token: string) =>
      new SignJWT({ ...decodeJwt(token), exp: 1 })
        .setProtectedHeader({ alg: 'RS256', kid: 'first', typ: 'at+jwt' })
        .sign(privateKey),
    stop,
  }
}

/**
 * What a person does whose browser a client has sent to the provider: signs in with their name at the form, and follows
 * redirects to the client.
 * @returns the URL of the client, which is not requested
 */
export async function signIn(authorizationUrl: URL, name: string, redirectUri: string): Promise<URL> {
  const cookies = new Map<string, string>()
  let request: { url: URL; body?: URLSearchParams } = { url: authorizationUrl }
  for (let i = 0; i < 10; i++) {
    const { url, body } = request
    if (url.href.startsWith(redirectUri)) {
      const error = url.searchParams.get('error_description')
      if (error) throw new Error(`The provider refuses: ${error}`)
      return url
    }
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { Cookie: [...cookies].map(([key, value]) => `${key}=${value}`).join('; ') },
      ...(body && { method: 'POST', body }),
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [, key = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      cookies.set(key, value)
    }
    const location = response.headers.get('location')
    if (location) request = { url: new URL(location, url) }
    else if (response.ok && !body) request = { url, body: new URLSearchParams({ name }) }
    else throw new Error(`${url} answers ${response.status}: ${await response.text()}`)
  }
  throw new Error(`The sign-in does not end: ${request.url}`)
}
