import { useEffect } from 'preact/hooks'
import type { MeRecord } from '../../lib/api/schemas/records.ts'
import { requestJson } from '../api/request.ts'
import { useResource } from '../api/use-resource.ts'
import { ConfirmDialog } from '../components/dialog.tsx'
import { ErrorBox } from '../components/page.tsx'
import { currentLocation } from '../state/location.ts'
import { credentials, isLookingForToken, MeContext, offeredToken, signIn } from '../state/session.ts'
import { useStore } from '../state/store.ts'
import { Layout } from './layout.tsx'
import { findRoute } from './routes.tsx'
import { SignInPage } from './sign-in-page.tsx'

export function App() {
  const { token, rejection } = useStore(credentials)
  const offered = useStore(offeredToken)
  const isLooking = useStore(isLookingForToken)
  if (isLooking && token === null) return null
  return (
    <>
      {/* Another token may see other data: nothing is kept. */}
      {token === null ? <SignInPage rejection={rejection} /> : <Console key={token} />}
      {offered !== null && <SignInLinkDialog key={offered} token={offered} />}
    </>
  )
}

/** The pages do not wait for the identity of the token: few of them need it. */
function Console() {
  const location = useStore(currentLocation)
  const me = useResource('me', (signal) => requestJson<MeRecord>('/v1/me', { signal }))
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

/** Asks before a link replaces the token in use: pages of others can contain links to the console. */
function SignInLinkDialog({ token }: { token: string }) {
  const keep = () => offeredToken.set(null)
  async function replace() {
    keep()
    signIn(token)
  }
  return (
    <ConfirmDialog
      title="Sign in with another token?"
      label="Use the token of the link"
      keepLabel="Keep my token"
      action={replace}
      onClose={keep}
    >
      <p>
        The link that you opened contains a token. Keep yours unless you know who made the link: its owner
        could see what you enter.
      </p>
    </ConfirmDialog>
  )
}
