import { type ApiError, adviceFor } from '../../api/api-error.ts'
import { signOut } from '../../state/credentials.ts'
import { CopyButton } from '../values/copy-button.tsx'

/** What failed, and what to do about it. @param onRetry shown as a button, if repeating the request may help */
export function ErrorBox({ error, onRetry }: { error: ApiError; onRetry?: () => void }) {
  const { problem, status } = error
  return (
    <section class="error-box" role="alert">
      <h2>{problem?.title ?? (status === 0 ? 'No connection' : 'Something went wrong')}</h2>
      <p>{error.message}</p>
      {(problem?.errors?.length ?? 0) > 1 && (
        <ul>
          {problem?.errors?.map(({ path, message }) => (
            <li key={`${path} ${message}`}>{message}</li>
          ))}
        </ul>
      )}
      <p class="muted">{adviceFor(error)}</p>
      <div class="actions">
        {onRetry && (
          <button type="button" onClick={onRetry}>
            Retry
          </button>
        )}
        {status === 403 && (
          <button type="button" onClick={() => signOut()}>
            Sign in with another token
          </button>
        )}
        {problem && status >= 500 && (
          <CopyButton text={problem.instance} label={`Copy request ID ${problem.instance}`} />
        )}
      </div>
    </section>
  )
}
