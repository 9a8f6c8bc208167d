import * as z from 'zod'
import {
  DIMENSION_FIELDS,
  NANO_USD,
  type UsageDimension,
  type UsageKey,
  type UsageTotals,
} from '../../core/usage.ts'
import { countFailed } from '../../core/usage-rows.ts'
import { schema } from './fields.ts'

const nullableText = /* @__PURE__ */ schema(() => z.string().nullable().optional())
const groupedBy = (what: string) => `Present if grouped by ${what}.`

/** The runs of an interval, or of a group of them: those that ended in it. */
export const usageRowRecord = /* @__PURE__ */ schema(() =>
  z
    .object({
      start: z.iso.datetime().describe('When the interval begins, in UTC.'),
      tenantId: nullableText.describe(`${groupedBy('tenant')} Null: runs without a tenant.`),
      agentId: z.uuid().optional().describe(groupedBy('agent')),
      versionId: z.uuid().optional().describe(groupedBy('version')),
      model: nullableText.describe(
        `${groupedBy('model')} Null: code agents, cache hits, and runs that ended before a response.`,
      ),
      tokenId: z
        .uuid()
        .nullable()
        .optional()
        .describe(`${groupedBy('token')} Null: runs that no token started, as of schedules in a document.`),
      runs: z.int().describe('Executions that ended, with those that agents started as tools.'),
      cacheHits: z.int().describe('Those that reused the result of an earlier one.'),
      errors: z.record(z.string(), z.int()).describe('Those that ended in ERROR, by error code.'),
      inputTokens: z.int().describe('Includes the cached and the cache write tokens.'),
      outputTokens: z.int().describe('Includes the reasoning tokens.'),
      cachedInputTokens: z.int(),
      cacheWriteTokens: z.int(),
      reasoningTokens: z.int(),
      webSearches: z.int(),
      costUsd: z
        .number()
        .describe(
          'The price of their model responses in US dollars, without those of agents called as tools.',
        ),
      childCostUsd: z
        .number()
        .describe('The price of the agents that they called as tools, which is also the `costUsd` of those.'),
      unpricedRuns: z.int().describe('Runs whose model has no price: `costUsd` lacks them.'),
      runTimeMs: z
        .int()
        .describe('From the first start to the end, without the time that runs were suspended.'),
    })
    .meta({ id: 'UsageRow' }),
)

export type UsageRowRecord = z.infer<typeof usageRowRecord>

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
  scores: _____,
  scorer: ______,
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
