import type { IncomingMessage, ServerResponse } from 'node:http'
import { exportJWK, generateKeyPair } from 'jose'
import Provider, { type Configuration, type InteractionResults } from 'oidc-provider'
import { startServer } from '../service/start-server.ts'

type Options = {
  /** A form that asks who somebody is, and what follows from how it was filled. */
  page: string
  toResult: (form: URLSearchParams) => InteractionResults
}

/** A client that need not register, the scopes of tokens, and what they are for if not for what clients name. */
type Own = { clientId: string; redirectUri: string; scope: string; audience?: string }

/**
 * `oidc-provider` on a port of this machine, which answers nobody before it is configured. Everybody may sign in with
 * their name, without a password.
 */
export async function startOidcProvider({ page, toResult }: Options) {
  const requests: { method: string; url: string }[] = []
  let provider: Provider | undefined
  const server = await startServer((request, response) => {
    const { method = '', url = '' } = request
    requests.push({ method, url })
    if (!provider) response.writeHead(503).end()
    else if (url.startsWith('/interaction/')) void interact(provider, request, response)
    else provider.callback()(request, response)
  })
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const jwk = { ...(await exportJWK(privateKey)), kid: 'first', alg: 'RS256', use: 'sig' }

  async function interact(opened: Provider, request: IncomingMessage, response: ServerResponse) {
    try {
      if (request.method === 'POST') {
        const form = new URLSearchParams(Buffer.concat(await request.toArray()).toString())
        const options = { mergeWithLastSubmission: false }
        return await opened.interactionFinished(request, response, toResult(form), options)
      }
      await opened.interactionDetails(request, response)
      response.setHeader('Content-Type', 'text/html')
      response.end(page)
    } catch {
      response.writeHead(400, { 'Content-Type': 'text/html' }).end('<h1>This sign-in is over.</h1>')
    }
  }

  function configure({ clientId, redirectUri, scope, audience }: Own, configuration: Configuration): void {
    provider = new Provider(server.url, {
      jwks: { keys: [jwk] },
      cookies: { keys: ['a key of a test'] },
      pkce: { required: () => true },
      clients: [
        {
          client_id: clientId,
          token_endpoint_auth_method: 'none',
          redirect_uris: [redirectUri],
          grant_types: ['authorization_code'],
          response_types: ['code'],
        },
      ],
      interactions: { url: (_, { uid }) => `/interaction/${uid}` },
      findAccount: (_, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
      ...configuration,
      ttl: {
        ...{ AccessToken: 3_600, RefreshToken: 3_600, IdToken: 3_600 },
        ...{ Session: 3_600, Interaction: 3_600, Grant: 3_600 },
        ...configuration.ttl,
      },
      features: {
        devInteractions: { enabled: false },
        resourceIndicators: {
          enabled: true,
          getResourceServerInfo: (_, resource) => ({
            ...{ scope, audience: audience ?? resource, accessTokenFormat: 'jwt' },
            jwt: { sign: { alg: 'RS256' } },
          }),
        },
        ...configuration.features,
      },
    })
  }
  const { url: issuer, stop, restart } = server
  return { issuer, requests, privateKey, configure, stop, restart }
}
