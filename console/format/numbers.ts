const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })
const compact = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 })

/** `12,345` */
export const formatCount = (count: number): string => whole.format(count)

/** `12.3K` */
export const formatCompact = (count: number): string => compact.format(count)

/** US dollars: two digits that matter below a cent, else cents. `$0.00042`, `$1.23` */
export function formatCost(usd: number): string {
  if (usd === 0) return '$0'
  return usd < 0.01 ? `$${Number(usd.toPrecision(2)).toFixed(12).replace(/0+$/, '')}` : `$${usd.toFixed(2)}`
}

/** `42 %`, without claiming 0 or all for what is not. */
export function formatPercent(ratio: number): string {
  const percent = ratio * 100
  if (percent > 0 && percent < 1) return '< 1 %'
  if (percent > 99 && percent < 100) return '> 99 %'
  return `${Math.round(percent)} %`
}

/** `5.1 MB` */
export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`
  return bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}

/** The first part of an ID, which tells it from others on a page. */
export const shortId = (id: string): string => `${id.slice(0, 8)}…${id.slice(-4)}`
