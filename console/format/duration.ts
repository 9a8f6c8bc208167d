/** A duration for people: `950 ms`, `1.24 s`, `12.3 s`, `2 min 5 s`, `3 h 4 min`, `2 d 3 h`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 59_950) return `${trim(ms / 1_000, ms < 9_995 ? 2 : 1)} s`
  const seconds = Math.round(ms / 1_000)
  if (seconds < 3_600) return join(Math.floor(seconds / 60), 'min', seconds % 60, 's')
  const minutes = Math.round(ms / 60_000)
  if (minutes < 1_440) return join(Math.floor(minutes / 60), 'h', minutes % 60, 'min')
  const hours = Math.round(ms / 3_600_000)
  return join(Math.floor(hours / 24), 'd', hours % 24, 'h')
}

const trim = (value: number, digits: number) => String(Number(value.toFixed(digits)))

const join = (large: number, largeUnit: string, small: number, smallUnit: string) =>
  small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`
