import { nextTimes } from '../../lib/cron-times.ts'

/** The time zone of the browser. */
export const localZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone

/** What the service accepts: croner would take more. */
const VALUE = String.raw`(?:\*|\d{1,2}|[a-z]{3})`
const FIELD = `${VALUE}(?:[,/-]${VALUE})*`
const CRON = new RegExp(String.raw`^\s*(?:@[a-z]+|${FIELD}(?:\s+${FIELD}){4})\s*$`, 'i')

const PREVIEWED = 5

/** The next times of a rule that is being typed; null if it, or the time zone, is not valid yet. */
export function previewTimes(cron: string, timezone: string, now: number): number[] | null {
  if (!CRON.test(cron)) return null
  try {
    return nextTimes(cron.trim(), timezone.trim(), now, PREVIEWED)
  } catch {
    return null
  }
}
