import { formatTime } from '../../format/time.ts'

/** A time in the zone and the language of the browser; the exact one on hover. @param value ISO 8601 */
export function Time({ value }: { value: string | null }) {
  if (value === null) return <span class="muted">–</span>
  return (
    <time dateTime={value} title={value}>
      {formatTime(value)}
    </time>
  )
}
