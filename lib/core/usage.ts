import type { Execution, ExecutionSummary } from './execution.ts'
import { totalUsage, type Usage } from './model-usage.ts'
import type { ScoreSums } from './score-statistics.ts'

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

/**
 * Delay until what has ended in a minute is counted for good. A write that ends an execution is sent within
 * `MAX_ENDING_MS` of the time that it records, or not at all; AWS accepts it for 5 minutes.
 */
export const FOLD_DELAY_MS = 6 * 60 * 1000
export const MAX_ENDING_MS = 40 * 1000

/** The start of the interval, in milliseconds since the epoch. */
export const startOf = (interval: UsageInterval, at: number): number => at - (at % INTERVAL_MS[interval])

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

/** How long a line has run, without the runs of its scorers. */
export function runTimeOf(line: ExecutionSummary): number {
  const { runTimeMs } = measuresOf(line, Date.parse(line.finishedAt ?? line.createdAt))
  return Math.max(runTimeMs - (line.judgement?.scoring?.ms ?? 0), 0)
}

/** Billionths of a dollar: integers, whose sums are exact. */
export const NANO_USD = 1e9
