import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { decodeJwt, exportJWK, generateKeyPair, SignJWT } from 'jose'
import Provider from 'oidc-provider'
import { closeNow } from '../../../local/emulators/private-socket.ts'

const HOST = '127.0.0.1'

/** A client that need not register, and what clients redirect to. */
export const CLIENT_ID = 'editor'
export const REDIRECT_URI = 'http://127.0.0.1:1/callback'

/** Scopes of the provider that are those of the service under other names. */
export const SCOPES = { 'agents:run': ['run'], 'agents:read': ['read'], 'agents:approve': ['approve'] }
const SCOPE = Object.keys(SCOPES).join(' ')

export type RegisteringProvider = Awaited<ReturnType<typeof startRegisteringProvider>>

/**
 * `oidc-provider` on a port of this machine, with which clients register themselves. Tokens are for the resource that
 * the client names (RFC 8707). Everybody may sign in with their name, without a password.
 */
export async function startRegisteringProvider() {
  const requests: string[] = []
  const server = createServer((request, response) => {
    const { method = '', url = '' } = request
    requests.push(`${method} ${url}`)
    if (url.startsWith('/interaction/')) void interact(provider, request, response)
    else provider.callback()(request, response)
  })
  await new Promise<void>((resolve) => void server.listen(0, HOST, () => resolve()))
  const issuer = `http://${HOST}:${(server.address() as AddressInfo).port}`
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const provider = new Provider(issuer, {
    jwks: { keys: [{ ...(await exportJWK(privateKey)), kid: 'first', alg: 'RS256', use: 'sig' }] },
    cookies: { keys: ['a key of a test'] },
    pkce: { required: () => true },
    scopes: ['openid', 'offline_access', ...SCOPE.split(' ')],
    clients: [
      {
        client_id: CLIENT_ID,
        redirect_uris: [REDIRECT_URI],
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    clientDefaults: { token_endpoint_auth_method: 'none' },
    ttl: {
      ...{ AccessToken: 3_600, RefreshToken: 3_600, IdToken: 3_600 },
      ...{ Session: 3_600, Interaction: 3_600, Grant: 3_600 },
    },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    issueRefreshToken: (_, client) => client.grantTypeAllowed('refresh_token'),
    findAccount: (_, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_, audience) => ({
          scope: SCOPE,
          audience,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
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
    /** Method and path with query, since the start. */
    requests,
    stop: () => closeNow(server),
  }
}

/** A form that asks who somebody is. */
async function interact(provider: Provider, request: IncomingMessage, response: ServerResponse) {
  try {
    if (request.method === 'POST') {
      const form = new URLSearchParams(Buffer.concat(await request.toArray()).toString())
      const result = { login: { accountId: form.get('name') ?? '' }, consent: {} }
      return await provider.interactionFinished(request, response, result)
    }
    await provider.interactionDetails(request, response)
    response.setHeader('Content-Type', 'text/html')
    response.end('<!doctype html><form method="post"><input name="name"><button>Sign in</button></form>')
  } catch {
    response.writeHead(400).end()
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
