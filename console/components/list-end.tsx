import type { ApiError } from '../api/api-error.ts'
import { ErrorBox } from './page.tsx'

type Props = {
  next: URLSearchParams | null
  isLoading: boolean
  error: ApiError | null
  loadMore: () => void
  reload: () => void
}

/** What follows a list: the button for its next page, or what failed. */
export function ListEnd({ next, isLoading, error, loadMore, reload }: Props) {
  if (error) return <ErrorBox error={error} onRetry={next ? loadMore : reload} />
  if (!next) return null
  return (
    <p>
      <button type="button" disabled={isLoading} onClick={loadMore}>
        {isLoading ? 'Loading…' : 'Load more'}
      </button>
    </p>
  )
}
