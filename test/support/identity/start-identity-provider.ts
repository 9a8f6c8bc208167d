import { startOidcProvider } from './start-oidc-provider.ts'

/** The client of the console. */
export const CLIENT_ID = 'console'
/** What the tokens are for. */
export const AUDIENCE = 'https://agents.example/'
const SCOPES = 'run read manage'

/** A person of the provider, with the claims of their access tokens. */
type Claims = Record<string, unknown>

export type IdentityProvider = Awaited<ReturnType<typeof startIdentityProvider>>

/** The provider of the console. @param people the claims of each */
export async function startIdentityProvider(people: Record<string, Claims>) {
  const knobs = { tokenSeconds: 3_600, allowsOrigins: true }
  const provider = await startOidcProvider({
    page: FORM,
    toResult: (form) => {
      const login = form.get('name')
      return login
        ? { login: { accountId: login } }
        : { error: 'access_denied', error_description: form.get('reason') ?? 'cancelled' }
    },
  })
  const { issuer, requests, stop, restart } = provider
  return {
    issuer,
    knobs,
    /** Since the start. */
    requests,
    /** Before this, it answers nobody. @param redirectUri of the console */
    register(redirectUri: string): void {
      const own = { clientId: CLIENT_ID, redirectUri, scope: SCOPES, audience: AUDIENCE }
      provider.configure(own, {
        ttl: { AccessToken: () => knobs.tokenSeconds },
        clientBasedCORS: () => knobs.allowsOrigins,
        extraTokenClaims: (_, token) => ('accountId' in token ? people[token.accountId] : undefined),
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
    restart,
  }
}

const FORM = `<!doctype html><title>Provider</title>
<form method="post"><label>Name <input name="name"></label><button>Continue</button></form>
<form method="post"><label>Reason <input name="reason"></label><button>Cancel</button></form>`
