import { useEffect } from 'preact/hooks'
import type { MeRecord } from '../../lib/contract/records/records.ts'
import { requestJson } from '../api/request.ts'
import { useRecord, useResource } from '../api/use-resource.ts'
import { ConfirmDialog } from '../components/form-dialog.tsx'
import { ErrorBox, Facts, Spinner } from '../components/page.tsx'
import { currentLocation } from '../state/location.ts'
import { credentials, isLookingForToken, MeContext, offeredToken, signIn } from '../state/session.ts'
import { useStore } from '../state/store.ts'
import { Layout } from './layout.tsx'
import { findRoute } from './routes.tsx'
import { SignInPage, TokenError } from './sign-in-page.tsx'

export function App() {
  const { token, rejection } = useStore(credentials)
  const offered = useStore(offeredToken)
  const isLooking = useStore(isLookingForToken)
  if (isLooking && token === null) return null
  return (
    <>
      {/* Another token may see other data: nothing is kept. */}
      {token === null ? <SignInPage rejection={rejection} /> : <Console key={token} />}
      {offered !== null && <SignInLinkDialog key={offered} token={offered} isSignedIn={token !== null} />}
    </>
  )
}

/** The pages do not wait for the identity of the token: few of them need it. */
function Console() {
  const location = useStore(currentLocation)
  const me = useRecord<MeRecord>('/v1/me')
  // Asked again with the next page if it failed.
  useEffect(() => {
    if (me.error) me.reload()
  }, [location.path])
  const { section, element } = findRoute(location)
  return (
    <MeContext.Provider value={me.data}>
      <Layout section={section}>
        {me.error && me.error.status === 403 && <ErrorBox error={me.error} onRetry={me.reload} />}
        {element}
      </Layout>
    </MeContext.Provider>
  )
}

const factsOf = ({ organizationId, organizationName, subject, tokenId, tenantId, scopes }: MeRecord) => ({
  Organization: organizationName === null ? organizationId : `${organizationName} (${organizationId})`,
  ...(subject === null ? { Token: tokenId } : { Person: subject }),
  Tenant: tenantId,
  Scopes: scopes.join(', '),
})

/** Asks before the token of a link is used: what one enters would go to whoever has sent the link. */
function SignInLinkDialog({ token, isSignedIn }: { token: string; isSignedIn: boolean }) {
  const owner = useResource('link', (signal) => requestJson<MeRecord>('/v1/me', { token, signal }))
  const keep = () => offeredToken.set(null)
  async function replace() {
    keep()
    signIn(token)
  }
  return (
    <ConfirmDialog
      asks={{
        title: isSignedIn ? 'Sign in with another token?' : 'Sign in with the token of the link?',
        yes: 'Use the token of the link',
        no: isSignedIn ? 'Keep my token' : 'Do not sign in',
      }}
      isReady={owner.data !== null}
      action={replace}
      onClose={keep}
    >
      <p>
        The link that you opened contains a token. Use it only if you know who made the link: its owner could
        see what you enter.
      </p>
      {!owner.data && !owner.error && <Spinner label="Looking up whose it is…" />}
      {owner.error && <TokenError error={owner.error} onRetry={owner.reload} />}
      {owner.data && <Facts facts={factsOf(owner.data)} />}
    </ConfirmDialog>
  )
}
