import type { TargetedSubmitEvent } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { MeRecord } from '../../lib/api/schemas/records.ts'
import type { ApiError } from '../api/api-error.ts'
import { requestJson, toUrl } from '../api/request.ts'
import { asApiError } from '../api/use-resource.ts'
import { ErrorBox } from '../components/page.tsx'
import { credentials } from '../state/session.ts'
import { DOCS_URL, Logo } from './layout.tsx'

/** The token is checked before it is kept. @param rejection why the last one is no longer in use */
export function SignInPage({ rejection }: { rejection: string | null }) {
  const [error, setError] = useState<ApiError | null>(null)
  const [isChecking, setIsChecking] = useState(false)
  useEffect(() => {
    document.title = 'Sign in · Agent Execution Service'
  }, [])

  async function signIn(event: TargetedSubmitEvent<HTMLFormElement>) {
    event.preventDefault()
    const token = String(new FormData(event.currentTarget).get('token') ?? '').trim()
    setIsChecking(true)
    try {
      await requestJson<MeRecord>('/v1/me', { token })
      credentials.set({ token, rejection: null })
    } catch (cause) {
      setError(asApiError(cause))
      setIsChecking(false)
    }
  }

  const isRejected = error?.status === 401
  return (
    <main class="sign-in">
      <h1>
        <Logo /> Agent Execution Service
      </h1>
      <form onSubmit={signIn}>
        <label for="token">API token</label>
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
        />
        <p id="token-help" class="muted">
          It is kept in this tab until you close it or sign out. <code>npm run agents -- tokens create</code>{' '}
          creates one; <code>npm start</code> prints a link that signs you in.
        </p>
        <div role="alert">
          {isRejected ? (
            <p class="field-error">
              The service does not know this token. Check that it is complete and not revoked.
            </p>
          ) : error?.status === 403 ? (
            <p class="field-error">{error.message}</p>
          ) : error ? (
            <ErrorBox error={error} />
          ) : (
            rejection !== null && <p class="field-error">{rejection}</p>
          )}
        </div>
        <button type="submit" class="primary" disabled={isChecking}>
          {isChecking ? 'Checking…' : 'Sign in'}
        </button>
      </form>
      <p class="actions">
        <a href={DOCS_URL}>Documentation</a>
        <a href={toUrl('/v1/openapi.json')}>OpenAPI document</a>
      </p>
    </main>
  )
}
