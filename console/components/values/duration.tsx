import { formatDuration } from '../../format/duration.ts'
import { useNow } from './use-now.ts'

/** Milliseconds, for people. */
export function Duration({ ms }: { ms: number | null }) {
  return ms === null ? <span class="muted">–</span> : <span title={`${ms} ms`}>{formatDuration(ms)}</span>
}

/** The time since a moment, which grows. @param since ISO 8601 */
export function Elapsed({ since }: { since: string }) {
  const seconds = Math.max(Math.floor((useNow() - Date.parse(since)) / 1_000), 0)
  return <span title={`since ${since}`}>{formatDuration(seconds * 1_000)}</span>
}
