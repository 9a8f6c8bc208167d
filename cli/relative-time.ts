const UNITS = [
  ['year', 365 * 86_400],
  ['month', 30 * 86_400],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const

const words = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

/** A time as people say it, seen from `now`: "3 minutes ago", "in 29 days". */
export function relativeTime(time: string, now: number = Date.now()): string {
  const seconds = (Date.parse(time) - now) / 1000
  const [unit, length] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1]
  return unit === 'second' ? 'just now' : words.format(Math.round(seconds / length), unit)
}
