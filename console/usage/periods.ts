import { formatDay, formatMinute } from '../components/format.ts'
import { PERIODS, type Period, toLocalText } from '../components/range.ts'
import { type Query, toHref } from '../state/location.ts'

/** The period of a page. */
export const PERIOD_VIEW = {
  period: {
    ...{ label: 'Period', default: '24h' },
    choices: { '1h': '1 h', '24h': '24 h', '7d': '7 d', '30d': '30 d' } satisfies Record<Period, string>,
  },
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

type Axis = {
  /** The part of time, in UTC, in which a period begins. */
  unitMs: number
  barMs: number
  /** Of the totals that the bars add up. */
  interval: 'minute' | 'hour' | 'day'
  /** Of the totals of each agent or tenant: few rows say as much as many. */
  groupInterval: 'minute' | 'hour' | 'day'
}

const AXES: Record<Period, Axis> = {
  '1h': { unitMs: MINUTE, barMs: MINUTE, interval: 'minute', groupInterval: 'minute' },
  '24h': { unitMs: HOUR, barMs: HOUR, interval: 'hour', groupInterval: 'hour' },
  '7d': { unitMs: DAY, barMs: 4 * HOUR, interval: 'hour', groupInterval: 'day' },
  '30d': { unitMs: DAY, barMs: DAY, interval: 'day', groupInterval: 'day' },
}

/** Unknown values, which an edited URL may contain, are the default. */
export function parsePeriod(query: URLSearchParams): Period {
  const period = query.get('period') ?? ''
  return Object.hasOwn(PERIODS, period) ? (period as Period) : '24h'
}

/**
 * Where a period that ends now begins, in milliseconds since the epoch: so that the minute, hour or day of now is its
 * last one. The service keeps totals of whole ones.
 */
export function startOfPeriod(period: Period, now: number): number {
  const { unitMs } = AXES[period]
  return Math.floor(now / unitMs) * unitMs + unitMs - PERIODS[period]
}

/** `groupBy`: without, the totals are of all runs. */
export type UsageQuery = { groupBy?: 'agent' | 'tenant'; tenantId?: string | undefined }

/** As the query of the API. */
export function toUsageQuery(period: Period, now: number, query: UsageQuery): Query {
  const { interval, groupInterval } = AXES[period]
  return {
    ...query,
    from: new Date(startOfPeriod(period, now)).toISOString(),
    interval: query.groupBy ? groupInterval : interval,
  }
}

/** The runs that ended in a part of time, as totals count them. @param to without: up to now */
export const toRuns = ({ from, to, ...query }: Query & { from: number; to?: number }): string =>
  toHref('/runs', {
    ...query,
    finishedFrom: toLocalText(from),
    ...(to !== undefined && { finishedTo: toLocalText(to) }),
  })

/** A part of a period, from `from` up to and without `to`. */
type Part<T> = { from: number; to: number; rows: T[] }

/** All parts of a period up to now, in order, also those without rows: an outage is an empty part of the axis. */
export function partsOf<T extends { start: string }>(period: Period, now: number, rows: T[]): Part<T>[] {
  const { barMs } = AXES[period]
  const start = startOfPeriod(period, now)
  const count = Math.floor((now - start) / barMs) + 1
  const parts = Array.from({ length: count }, (_, index): Part<T> => {
    const from = start + index * barMs
    return { from, to: from + barMs, rows: [] }
  })
  // The clock of the service can be ahead of this one.
  for (const row of rows)
    parts[Math.min(Math.floor((Date.parse(row.start) - start) / barMs), count - 1)]?.rows.push(row)
  return parts
}

/** The start of a part, for people: days are those of UTC, as the totals are. */
export const formatPart = (period: Period, from: number, now: number): string =>
  AXES[period].barMs === DAY ? formatDay(from) : formatMinute(from, now)

/** When a period begins, for people. */
export const formatStart = (period: Period, now: number): string => {
  const start = startOfPeriod(period, now)
  return AXES[period].unitMs === DAY ? `${formatDay(start)} (UTC)` : formatMinute(start, now)
}
