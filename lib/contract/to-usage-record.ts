import {
  countFailed,
  DIMENSION_FIELDS,
  NANO_USD,
  type UsageDimension,
  type UsageKey,
  type UsageTotals,
} from '../core/usage.ts'
import type { UsageRowRecord } from './records/usage-record.ts'

/** An interval begins at a full second. */
export const toIntervalTime = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`

export function toUsageRecord({
  start,
  costNanoUsd,
  childCostNanoUsd,
  unpricedRuns,
  runTimeMs,
  unjudgedRuns: _,
  unjudgedErrors: __,
  uncomparedRuns: ___,
  uncomparedCostNanoUsd: ____,
  ...row
}: Partial<UsageKey> & UsageTotals & { start: number }): UsageRowRecord {
  const costs = { costUsd: costNanoUsd / NANO_USD, childCostUsd: childCostNanoUsd / NANO_USD }
  return { start: toIntervalTime(start), ...row, ...costs, unpricedRuns, runTimeMs }
}

const NUMBERS = [
  'inputTokens',
  'outputTokens',
  'cachedInputTokens',
  'cacheWriteTokens',
  'reasoningTokens',
  'webSearches',
  'costUsd',
  'childCostUsd',
  'unpricedRuns',
  'runTimeMs',
] as const satisfies (keyof UsageRowRecord)[]

/** Comma-separated values (RFC 4180) with a header, in UTF-8. */
export function toUsageCsv(records: UsageRowRecord[], groupBy: readonly UsageDimension[]): string {
  const fields = groupBy.map((dimension) => DIMENSION_FIELDS[dimension])
  const header = ['start', ...fields, 'runs', 'cacheHits', 'errors', 'errorCodes', ...NUMBERS]
  const rows = records.map((record) => [
    record.start,
    ...fields.map((field) => quote(guard(record[field] ?? ''))),
    record.runs,
    record.cacheHits,
    countFailed(record),
    quote(JSON.stringify(record.errors)),
    ...NUMBERS.map((name) => formatNumber(record[name])),
  ])
  return [header, ...rows].map((row) => `${row.join(',')}\r\n`).join('')
}

/** Without an exponent, which not every program reads. Costs have nine decimals. */
export const formatNumber = (value: number): string =>
  Number.isInteger(value) ? String(value) : value.toFixed(9).replace(/0+$/, '')

/**
 * Spreadsheets execute text that begins like a formula. An apostrophe before it marks it as text; one more also marks
 * what begins with an apostrophe itself, so that different values stay different.
 * https://owasp.org/www-community/attacks/CSV_Injection
 */
const guard = (text: string): string => (/^[=+\-@＝＋－＠'\t\r\n]/.test(text) ? `'${text}` : text)

/** Also where a program would take a semicolon or a tab for a separator. */
const quote = (text: string): string => (/^[\w.:/-]*$/.test(text) ? text : `"${text.replaceAll('"', '""')}"`)
