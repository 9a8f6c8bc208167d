import { useEffect, useRef, useState } from 'preact/hooks'
import type { SignInSettings } from '../../lib/console-server/sign-in-settings.ts'
import { ApiError } from '../api/api-error.ts'
import { listen } from '../api/attention.ts'
import { requestJson } from '../api/request.ts'
import { Button } from '../components/button.tsx'
import { Spinner } from '../components/page.tsx'
import { Text, VisibleText } from '../components/visible-text.tsx'
import {
  arrivingSignIn,
  keepSignedOut,
  type ProviderResponse,
  wasSignedOut,
} from '../state/provider-sign-in.ts'
import { findProviderToken, signIn } from '../state/session.ts'
import { beginSignIn, completeSignIn } from './code-flow.ts'
import { ASK, hostOf, SignInError } from './provider.ts'

type Props = {
  settings: SignInSettings
  rejection: string | null
}

export function ProviderCard({ settings, rejection }: Props) {
  const host = hostOf(settings)
  const [busy, setBusy] = useState<string | null>(null)
  const [error, setError] = useState<SignInError | null>(null)
  const controller = useRef(new AbortController())

  async function attempt(label: string, action: (signal: AbortSignal) => Promise<void>) {
    controller.current.abort()
    controller.current = new AbortController()
    const { signal } = controller.current
    setBusy(label)
    setError(null)
    try {
      await action(signal)
    } catch (cause) {
      if (signal.aborted) return
      arrivingSignIn.set(null)
      setBusy(null)
      setError(cause instanceof SignInError ? cause : new SignInError(String(cause)))
    }
  }

  const leave = (options: { asksAgain: boolean }) =>
    attempt(`Connecting to ${host}…`, async (signal) => {
      const asksAgain = options.asksAgain || wasSignedOut()
      const token = asksAgain ? null : await findProviderToken()
      signal.throwIfAborted()
      if (token !== null) return signIn(token)
      const url = await beginSignIn(settings, { signal, asksAgain })
      signal.throwIfAborted()
      window.location.assign(url)
    })

  const enter = (response: ProviderResponse) =>
    attempt('Signing in…', async (signal) => {
      const token = await completeSignIn(settings, response, signal)
      await checkAccess(host, token, signal)
      keepSignedOut(false)
      signIn(token)
    })

  function cancel() {
    controller.current.abort()
    arrivingSignIn.set(null)
    setBusy(null)
  }

  useEffect(() => {
    const arriving = arrivingSignIn.get()
    if (arriving?.kind === 'returned') void enter(arriving.response)
    if (arriving?.kind === 'resumed') void leave({ asksAgain: false })
    // Back returns to a page that the browser has kept as it was left.
    const unlisten = listen(window, { pageshow: ({ persisted }) => persisted && cancel() })
    return () => {
      unlisten()
      controller.current.abort()
    }
  }, [])

  return (
    <section class="panel provider-card" aria-label={`Sign in with ${host}`}>
      {busy === null ? (
        <Button
          label={error instanceof NoAccess ? 'Use another account' : `Sign in with ${host}`}
          class="primary"
          onClick={() => leave({ asksAgain: error instanceof NoAccess })}
        />
      ) : (
        <>
          <Spinner label={busy} />
          <Button label="Cancel" onClick={cancel} />
        </>
      )}
      <div role="alert">
        {error ? (
          <>
            <Text class="field-error" text={error.message} />
            {error.quote !== null && (
              <p class="muted">
                Details: <VisibleText text={error.quote} />
              </p>
            )}
          </>
        ) : (
          busy === null && rejection !== null && <p class="field-error">{rejection}</p>
        )}
      </div>
      {busy === null && wasSignedOut() && (
        <p class="muted">
          You are signed out here, perhaps not at {host}: on a device that others use, sign out there, too.
          Whoever signs in here next is asked who they are.
        </p>
      )}
    </section>
  )
}

/** The provider knows the person, the service does not. */
class NoAccess extends SignInError {}

/** Before anything is replaced. What else the service says, its pages show. @throws NoAccess */
async function checkAccess(host: string, token: string, signal: AbortSignal): Promise<void> {
  try {
    await requestJson('/v1/me', { token, signal })
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    if (error.status === 403)
      throw new NoAccess(
        `${host} signed you in, but you have no access to this service. Ask its operator to map your account (oidcMapping), or use another one.`,
        error.message,
      )
    if (error.status === 401)
      throw new NoAccess(`${host} signed you in, but the service rejected its token. ${ASK}`, error.message)
  }
}
