import type { Spread } from './statistics.ts'

/** Three significant digits, and no exponent. */
export function short(value: number): string {
  if (value === 0) return '0'
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))))
  return value.toFixed(Math.min(digits, 6))
}

/** `1.20 (1.10–1.45)`: the median, and between which values the rounds moved. */
export const withSpread = ({ median, min, max }: Spread): string =>
  `${short(median)} (${short(min)}–${short(max)})`
