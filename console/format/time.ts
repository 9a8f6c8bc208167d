const TIME: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit', second: '2-digit' }
const DAY: Intl.DateTimeFormatOptions = { month: 'short', day: 'numeric' }

// Creating a format takes longer than all that a list of times uses it for.
const today = new Intl.DateTimeFormat(undefined, TIME)
const thisYear = new Intl.DateTimeFormat(undefined, { ...DAY, ...TIME })
const otherYear = new Intl.DateTimeFormat(undefined, { year: 'numeric', ...DAY, ...TIME })

/** A time in the zone of the browser, as short as it can be told from others. @param value ISO 8601 */
export function formatTime(value: string, now: Date = new Date()): string {
  const time = new Date(value)
  if (Number.isNaN(time.getTime())) return value
  if (time.toDateString() === now.toDateString()) return today.format(time)
  return (time.getFullYear() === now.getFullYear() ? thisYear : otherYear).format(time)
}
