import type { TargetedSubmitEvent } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { SignInSettings } from '../../lib/console-server/sign-in-settings.ts'
import type { MeRecord } from '../../lib/contract/records/records.ts'
import { type ApiError, asApiError } from '../api/api-error.ts'
import { requestJson, toUrl } from '../api/request.ts'
import { useResource } from '../api/use-resource.ts'
import { ErrorBox, Spinner } from '../components/page.tsx'
import { arrivingSignIn, readSignInSettings } from '../state/provider-sign-in.ts'
import { signIn } from '../state/session.ts'
import { useStore } from '../state/store.ts'
import { isJwt, KEPT_DAYS } from '../state/token-storage.ts'
import { DOCS_URL, Logo } from './layout.tsx'
import { loadScript } from './lazy-page.tsx'

/** @param rejection why the last token is no longer in use */
export function SignInPage({ rejection }: { rejection: string | null }) {
  const settings = useMemo(readSignInSettings, [])
  const arriving = useStore(arrivingSignIn)
  const isArriving = arriving?.kind === 'resumed' || Boolean(arriving?.response.pending)
  useEffect(() => {
    document.title = 'Sign in · Agent Execution Service'
  }, [])
  return (
    <main class="sign-in">
      <h1 class="actions">
        <Logo /> Agent Execution Service
      </h1>
      {settings && <ProviderSignIn settings={settings} rejection={rejection} />}
      {!isArriving && <TokenForm rejection={settings ? null : rejection} isAlternative={settings !== null} />}
      <p class="actions">
        <a href={DOCS_URL}>Documentation</a>
        <a href={toUrl('/v1/openapi.json')}>OpenAPI document</a>
      </p>
    </main>
  )
}

const loadCard = () => import('../sign-in/provider-card.tsx')

function ProviderSignIn(props: { settings: SignInSettings; rejection: string | null }) {
  const { data, error, reload } = useResource('sign-in', () => loadScript(loadCard))
  useEffect(() => {
    if (error) arrivingSignIn.set(null)
  }, [error])
  if (data) return <data.ProviderCard {...props} />
  return (
    <div class="panel provider-card">
      {error ? <ErrorBox error={error} onRetry={reload} /> : <Spinner label="Loading the sign-in…" />}
    </div>
  )
}

export function TokenError(props: { error: ApiError; onRetry?: () => void }) {
  const { status, message } = props.error
  if (status !== 401 && status !== 403) return <ErrorBox {...props} />
  const text = 'The service does not know this token. Check that it is complete and not revoked.'
  return <p class="field-error">{status === 401 ? text : message}</p>
}

/** The token is checked before it is kept. @param isAlternative to the sign-in at the identity provider */
function TokenForm({ rejection, isAlternative }: { rejection: string | null; isAlternative: boolean }) {
  const [error, setError] = useState<ApiError | null>(null)
  const [isChecking, setIsChecking] = useState(false)
  const [isOfProvider, setIsOfProvider] = useState(false)

  async function submit(event: TargetedSubmitEvent<HTMLFormElement>) {
    event.preventDefault()
    const entered = new FormData(event.currentTarget)
    const token = String(entered.get('token') ?? '').trim()
    setIsChecking(true)
    try {
      await requestJson<MeRecord>('/v1/me', { token })
      signIn(token, { isKept: entered.has('keep') })
    } catch (cause) {
      setError(asApiError(cause))
      setIsChecking(false)
    }
  }

  const isRejected = error?.status === 401
  return (
    <form class="panel" onSubmit={submit}>
      <label for="token">{isAlternative ? 'Or an API token' : 'API token'}</label>
      <input
        id="token"
        name="token"
        type="password"
        required
        // Anything else cannot be sent in a header.
        pattern="\s*[!-~]+\s*"
        title="A token has no spaces and no letters beyond ASCII."
        autocomplete="off"
        spellcheck={false}
        aria-describedby="token-help"
        aria-invalid={isRejected}
        onInput={({ currentTarget }) => setIsOfProvider(isJwt(currentTarget.value.trim()))}
      />
      <p id="token-help" class="muted">
        <code>npx agent-execution tokens create</code> creates one; <code>npm start</code> prints a link that
        signs you in. Further tabs are signed in, too, until you close them all or sign out.
      </p>
      <label class="choice">
        <input type="checkbox" name="keep" disabled={isOfProvider} aria-describedby="keep-help" />
        Keep me signed in on this device
      </label>
      <p id="keep-help" class="muted">
        {isOfProvider
          ? 'A token of an identity provider is not kept, not even when you reload the only tab.'
          : `The browser keeps the token for ${KEPT_DAYS} days, until you sign out. Leave this off on a device that others use.`}
      </p>
      <div role="alert">
        {error ? <TokenError error={error} /> : rejection !== null && <p class="field-error">{rejection}</p>}
      </div>
      <button type="submit" class={isAlternative ? undefined : 'primary'} disabled={isChecking}>
        {isChecking ? 'Checking…' : 'Sign in'}
      </button>
    </form>
  )
}
