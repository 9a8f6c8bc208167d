import { CANCELLED, type Execution, totalUsage, type Usage } from './execution.ts'
import { addScores, NO_SCORES, type ScoreSums, toScoreSums } from './score-statistics.ts'

/** What usage can be grouped by. */
export const USAGE_DIMENSIONS = ['tenant', 'agent', 'version', 'model', 'token'] as const
export type UsageDimension = (typeof USAGE_DIMENSIONS)[number]

/** The members of a row that say what it is about, by dimension. */
export const DIMENSION_FIELDS = {
  tenant: 'tenantId',
  agent: 'agentId',
  version: 'versionId',
  model: 'model',
  token: 'tokenId',
} as const satisfies Record<UsageDimension, keyof UsageKey>

/** What rows with scores have beside them. */
export const ROW_FIELDS = { ...DIMENSION_FIELDS, scorer: 'scorer' } as const satisfies Record<
  string,
  keyof UsageKey
>
export type RowDimension = keyof typeof ROW_FIELDS
const ROW_DIMENSIONS = Object.keys(ROW_FIELDS) as RowDimension[]

/** Totals are kept for each combination. Null: the executions had none. */
export type UsageKey = {
  tenantId: string | null
  agentId: string
  versionId: string
  model: string | null
  tokenId: string | null
  /** The slug of what has scored runs of the version: the row has their scores, and no usage. Null: it has usage. */
  scorer: string | null
}

/** In place of an organization: the totals of all organizations, one row for each interval. */
export const DEPLOYMENT = '*'

/** What one final execution adds to the totals: the entry of the index that its last write puts. */
export type UsageEntry = Omit<UsageKey, 'scorer'> & {
  organizationId: string
  /** When it became final, in milliseconds since the epoch. */
  at: number
  /** Null if it succeeded. */
  errorCode: string | null
  isTrial: boolean
  cached: boolean
  /** Of its own model responses. */
  usage: Usage
  /** Of the agents that it called, which have entries of their own. */
  childUsage: Usage | null
  /** From its first claim to its end, without the time that it was suspended; 0 if it reused a result. */
  runTimeMs: number
  /** The production run that it has scored. */
  scored?: ScoredEntry | undefined
}

/** What a scorer says about a run of a version. `score`: null without one. */
export type ScoredEntry = {
  agentId: string
  versionId: string
  scorer: string
  score: number | null
  isLow: boolean
}

/** Costs are integers, in billionths of a dollar: sums of them are exact. */
export type UsageTotals = {
  runs: number
  cacheHits: number
  /** Failed executions by code. */
  errors: Record<string, number>
  inputTokens: number
  outputTokens: number
  cachedInputTokens: number
  cacheWriteTokens: number
  reasoningTokens: number
  webSearches: number
  costNanoUsd: number
  childCostNanoUsd: number
  /** Executions that used a model without a known price: the cost lacks them. */
  unpricedRuns: number
  runTimeMs: number
  /** Runs and errors that say nothing about the version: of trials, and with errors that do not follow from it. */
  unjudgedRuns: number
  unjudgedErrors: number
  /** Runs that say nothing about its cost: of trials, cancelled, cache hits, and without a known price. */
  uncomparedRuns: number
  uncomparedCostNanoUsd: number
  scores: ScoreSums
}

export const countFailed = ({ errors }: Pick<UsageTotals, 'errors'>): number =>
  Object.values(errors).reduce((sum, count) => sum + count, 0)

export type UsageRow = UsageKey & UsageTotals

/** The parts of time that totals are kept for. They begin in UTC. */
export const USAGE_INTERVALS = ['minute', 'hour', 'day'] as const
export type UsageInterval = (typeof USAGE_INTERVALS)[number]
export const INTERVAL_MS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const

/**
 * How long totals are kept, how many of them a request may read at most, and how many it reads by default, in
 * milliseconds.
 */
export const USAGE_RANGES = {
  minute: { keptMs: 2 * INTERVAL_MS.day, maxMs: 3 * INTERVAL_MS.hour, defaultMs: INTERVAL_MS.hour },
  hour: { keptMs: 100 * INTERVAL_MS.day, maxMs: 31 * INTERVAL_MS.day, defaultMs: INTERVAL_MS.day },
  day: { keptMs: 800 * INTERVAL_MS.day, maxMs: 800 * INTERVAL_MS.day, defaultMs: INTERVAL_MS.day },
} as const satisfies Record<UsageInterval, object>

/** The start of the interval, in milliseconds since the epoch. */
export const startOf = (interval: UsageInterval, at: number): number => at - (at % INTERVAL_MS[interval])

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

type Ended = Pick<
  Execution,
  'cached' | 'steps' | 'usage' | 'lostSteps' | 'lostUsage' | 'startedAt' | 'waitedMs'
>

/** What the run itself has used, and for how long it ran, if it ended at this time. */
export const measuresOf = (ended: Ended, at: number): Pick<UsageEntry, 'usage' | 'runTimeMs'> => ({
  usage: totalUsage(ended),
  runTimeMs:
    ended.startedAt && !ended.cached ? Math.max(at - Date.parse(ended.startedAt) - ended.waitedMs, 0) : 0,
})

/** Billionths of a dollar: integers, whose sums are exact. */
export const NANO_USD = 1e9

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

  constructor(dimensions: readonly RowDimension[] = ROW_DIMENSIONS) {
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
