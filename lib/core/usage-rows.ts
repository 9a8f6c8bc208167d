import { CANCELLED } from './execution-errors.ts'
import type { Usage } from './model-usage.ts'
import { addScores, NO_SCORES, toScoreSums } from './score-statistics.ts'
import {
  NANO_USD,
  ROW_FIELDS,
  type RowDimension,
  type ScoredEntry,
  type UsageEntry,
  type UsageKey,
  type UsageRow,
  type UsageTotals,
} from './usage.ts'

export const NO_TOTALS: UsageTotals = {
  runs: 0,
  cacheHits: 0,
  errors: {},
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  webSearches: 0,
  costNanoUsd: 0,
  childCostNanoUsd: 0,
  unpricedRuns: 0,
  runTimeMs: 0,
  unjudgedRuns: 0,
  unjudgedErrors: 0,
  uncomparedRuns: 0,
  uncomparedCostNanoUsd: 0,
  scores: NO_SCORES,
}

const toNano = ({ costUsd = 0 }: Usage): number => Math.round(costUsd * NANO_USD)

/** Of executions that failed for reasons outside of their version. */
const UNJUDGED_CODES: ReadonlySet<string> = new Set([
  CANCELLED.code,
  'BudgetExceeded',
  'InputSchemaMismatch',
  'LimitExceeded',
])

/** The rows of one execution: what it has used, and what it says about another one. */
export const toUsageRows = (entry: UsageEntry): UsageRow[] => [
  toUsageRow(entry),
  ...(entry.scored ? [toScoreRow(entry, entry.scored)] : []),
]

const toScoreRow = ({ tenantId }: UsageEntry, { score, isLow, ...key }: ScoredEntry): UsageRow => ({
  ...NO_TOTALS,
  ...{ tenantId, ...key, model: null, tokenId: null },
  scores: toScoreSums(score, isLow),
})

function toUsageRow(entry: UsageEntry): UsageRow {
  const { tenantId, agentId, versionId, model, tokenId, errorCode, cached, isTrial, usage, childUsage } =
    entry
  const { costUsd, estimated: _, ...tokens } = usage
  const isUnpriced = !cached && usage.inputTokens + usage.outputTokens > 0 && costUsd === undefined
  const costs = { costNanoUsd: toNano(usage), childCostNanoUsd: childUsage ? toNano(childUsage) : 0 }
  const isUnjudged = isTrial || (errorCode !== null && UNJUDGED_CODES.has(errorCode))
  const isUncompared = isTrial || cached || isUnpriced || errorCode === CANCELLED.code
  return {
    ...{ tenantId, agentId, versionId, model, tokenId, scorer: null },
    ...NO_TOTALS,
    runs: 1,
    cacheHits: cached ? 1 : 0,
    errors: errorCode === null ? {} : { [errorCode]: 1 },
    ...tokens,
    ...costs,
    unpricedRuns: isUnpriced ? 1 : 0,
    runTimeMs: entry.runTimeMs,
    ...(isUnjudged && { unjudgedRuns: 1, unjudgedErrors: errorCode === null ? 0 : 1 }),
    ...(isUncompared && {
      uncomparedRuns: 1,
      uncomparedCostNanoUsd: costs.costNanoUsd + costs.childCostNanoUsd,
    }),
  }
}

/** Adds up rows that arrive one after the other. The sums have the members that they are grouped by. */
export class UsageSums<Key extends Partial<UsageKey> = Partial<UsageKey>> {
  private readonly sums = new Map<string, Key & UsageTotals>()
  private readonly fields: (keyof UsageKey)[]

  constructor(dimensions = Object.keys(ROW_FIELDS) as readonly RowDimension[]) {
    this.fields = dimensions.map((dimension) => ROW_FIELDS[dimension])
  }

  get rows(): (Key & UsageTotals)[] {
    return [...this.sums.values()]
  }

  add(rows: Iterable<UsageRow>): void {
    for (const row of rows) {
      const values = this.fields.map((field) => row[field])
      const id = JSON.stringify(values)
      let sum = this.sums.get(id)
      if (!sum) {
        const key = Object.fromEntries(this.fields.map((field, index) => [field, values[index]])) as Key
        sum = { ...key, ...NO_TOTALS, errors: {}, scores: NO_SCORES }
        this.sums.set(id, sum)
      }
      addTotals(sum, row)
    }
  }
}

const COUNTS = Object.keys(NO_TOTALS).filter((name) => name !== 'errors' && name !== 'scores') as Exclude<
  keyof UsageTotals,
  'errors' | 'scores'
>[]

function addTotals(sum: UsageTotals, added: UsageTotals): void {
  for (const name of COUNTS) sum[name] += added[name]
  sum.scores = addScores(sum.scores, added.scores)
  for (const [code, count] of Object.entries(added.errors)) sum.errors[code] = (sum.errors[code] ?? 0) + count
}

export const countFailed = ({ errors }: Pick<UsageTotals, 'errors'>): number =>
  Object.values(errors).reduce((sum, count) => sum + count, 0)
