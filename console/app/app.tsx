import { useEffect } from 'preact/hooks'
import type { MeRecord } from '../../lib/api/schemas/records.ts'
import { requestJson } from '../api/request.ts'
import { useResource } from '../api/use-resource.ts'
import { ErrorBox } from '../components/page/error-box.tsx'
import { credentials, offeredToken } from '../state/credentials.ts'
import { MeContext } from '../state/me.ts'
import { currentLocation } from '../state/router.ts'
import { useStore } from '../state/store.ts'
import { Layout } from './layout.tsx'
import { findRoute } from './routes.tsx'
import { SignInLinkDialog } from './sign-in-link-dialog.tsx'
import { SignInPage } from './sign-in-page.tsx'

export function App() {
  const { token, rejection } = useStore(credentials)
  const offered = useStore(offeredToken)
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
