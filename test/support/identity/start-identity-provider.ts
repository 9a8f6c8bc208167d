import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair } from 'jose'
import Provider from 'oidc-provider'
import { closeNow } from '../../../local/emulators/private-socket.ts'

/** The client of the console. */
export const CLIENT_ID = 'console'
/** What the tokens are for. */
export const AUDIENCE = 'https://agents.example/'
const SCOPES = 'run read manage'

const HOST = '127.0.0.1'

/** A person of the provider, with the claims of their access tokens. */
type Claims = Record<string, unknown>

export type IdentityProvider = Awaited<ReturnType<typeof startIdentityProvider>>

/**
 * `oidc-provider` on a port of this machine. Everybody may sign in with their name, without a password.
 * @param people the claims of each
 */
export async function startIdentityProvider(people: Record<string, Claims>) {
  const knobs = { tokenSeconds: 3_600, allowsOrigins: true }
  const requests: { method: string; url: string }[] = []
  let provider: Provider | undefined
  const server = createServer((request, response) => {
    const { method = '', url = '' } = request
    requests.push({ method, url })
    if (!provider) response.writeHead(503).end()
    else if (url.startsWith('/interaction/')) void interact(provider, request, response)
    else provider.callback()(request, response)
  })
  const listen = (port: number) =>
    new Promise<void>((resolve) => void server.listen(port, HOST, () => resolve()))
  await listen(0)
  const { port } = server.address() as AddressInfo
  const issuer = `http://${HOST}:${port}`
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const jwks = { keys: [{ ...(await exportJWK(privateKey)), kid: 'first', alg: 'RS256', use: 'sig' }] }
  const stop = () => closeNow(server)
  return {
    issuer,
    knobs,
    /** Since the start. */
    requests,
    /** Before this, it answers nobody. @param redirectUri of the console */
    register(redirectUri: string): void {
      provider = new Provider(issuer, {
        clients: [
          {
            client_id: CLIENT_ID,
            token_endpoint_auth_method: 'none',
            redirect_uris: [redirectUri],
            grant_types: ['authorization_code'],
            response_types: ['code'],
          },
        ],
        jwks,
        cookies: { keys: ['a key of a test'] },
        pkce: { required: () => true },
        ttl: {
          AccessToken: () => knobs.tokenSeconds,
          ...{ IdToken: 3_600, Session: 3_600, Interaction: 3_600, Grant: 3_600 },
        },
        clientBasedCORS: () => knobs.allowsOrigins,
        interactions: { url: (_, { uid }) => `/interaction/${uid}` },
        findAccount: (_, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
        extraTokenClaims: (_, token) => ('accountId' in token ? people[token.accountId] : undefined),
        features: {
          devInteractions: { enabled: false },
          resourceIndicators: {
            enabled: true,
            getResourceServerInfo: () => ({
              scope: SCOPES,
              audience: AUDIENCE,
              accessTokenFormat: 'jwt',
              jwt: { sign: { alg: 'RS256' } },
            }),
          },
        },
        // Nobody is asked for consent. Another grant in the same session would end the codes of the first one.
        async loadExistingGrant({ oidc }) {
          const { accountId } = oidc.session ?? {}
          const grantId = oidc.session?.grantIdFor(CLIENT_ID)
          const existing = grantId && (await oidc.provider.Grant.find(grantId))
          if (existing && existing.accountId === accountId) return existing
          const grant = new oidc.provider.Grant({ clientId: CLIENT_ID, ...(accountId && { accountId }) })
          grant.addOIDCScope('openid profile email')
          grant.addResourceScope(AUDIENCE, SCOPES)
          await grant.save()
          return grant
        },
      })
    },
    stop,
    restart: () => listen(port),
  }
}

/** A form that asks who somebody is. */
async function interact(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    if (request.method === 'POST') {
      const form = new URLSearchParams(Buffer.concat(await request.toArray()).toString())
      const login = form.get('name')
      const result = login
        ? { login: { accountId: login } }
        : { error: 'access_denied', error_description: form.get('reason') ?? 'cancelled' }
      await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false })
      return
    }
    await provider.interactionDetails(request, response)
    response.setHeader('Content-Type', 'text/html')
    response.end(FORM)
  } catch {
    response.writeHead(400, { 'Content-Type': 'text/html' }).end('<h1>This sign-in is over.</h1>')
  }
}

const FORM = `<!doctype html><title>Provider</title>
<form method="post"><label>Name <input name="name"></label><button>Continue</button></form>
<form method="post"><label>Reason <input name="reason"></label><button>Cancel</button></form>`
