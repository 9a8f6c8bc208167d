import type { UsageRowRecord } from '../../lib/contract/records/usage.ts'
import { INTERVAL_MS } from '../../lib/core/usage.ts'
import { countFailed } from '../../lib/core/usage-rows.ts'
import { formatDay, formatMinute } from '../components/format.ts'
import { toLocalText } from '../components/range.ts'
import { type Query, toHref } from '../state/location.ts'

const { minute: MINUTE, hour: HOUR, day: DAY } = INTERVAL_MS

/** Periods that end now, and months of UTC. */
const CHOICES = {
  ...{ '1h': '1 h', '24h': '24 h', '7d': '7 d', '30d': '30 d' },
  ...{ month: 'This month', 'last-month': 'Last month' },
}
export type Period = keyof typeof CHOICES

export const PERIOD_VIEW = { period: { label: 'Period', default: '24h', choices: CHOICES } }

type Axis = {
  /** The part of time, in UTC, in which a period begins. */
  unitMs: number
  barMs: number
  /** Of the totals that the bars add up. */
  interval: 'minute' | 'hour' | 'day'
  /** Of the totals of each agent or tenant: few rows say as much as many. */
  groupInterval: 'minute' | 'hour' | 'day'
  /** The length of a period that ends now. */
  lengthMs?: number
}

const BY_DAY = { unitMs: DAY, barMs: DAY, interval: 'day', groupInterval: 'day' } as const

const AXES: Record<Period, Axis> = {
  '1h': { unitMs: MINUTE, barMs: MINUTE, interval: 'minute', groupInterval: 'minute', lengthMs: HOUR },
  '24h': { unitMs: HOUR, barMs: HOUR, interval: 'hour', groupInterval: 'hour', lengthMs: DAY },
  '7d': { unitMs: DAY, barMs: 4 * HOUR, interval: 'hour', groupInterval: 'day', lengthMs: 7 * DAY },
  '30d': { ...BY_DAY, lengthMs: 30 * DAY },
  month: BY_DAY,
  'last-month': BY_DAY,
}

/** Unknown values, which an edited URL may contain, are the default. */
export function parsePeriod(query: URLSearchParams): Period {
  const period = query.get('period') ?? ''
  return Object.hasOwn(CHOICES, period) ? (period as Period) : '24h'
}

/** Milliseconds since the epoch. `to`: null for a period that goes on. */
export type Span = { from: number; to: number | null }

/** A period that ends now begins with a whole minute, hour or day: the service keeps totals of these. */
export function spanOf(period: Period, now: number): Span {
  const { unitMs, lengthMs } = AXES[period]
  if (lengthMs !== undefined) return { from: Math.floor(now / unitMs) * unitMs + unitMs - lengthMs, to: null }
  const [year, month] = [new Date(now).getUTCFullYear(), new Date(now).getUTCMonth()]
  const begin = Date.UTC(year, month)
  return period === 'month' ? { from: begin, to: null } : { from: Date.UTC(year, month - 1), to: begin }
}

/** What totals are about; all runs without. `agent`: ID or slug. */
export type UsageOf = { tenantId?: string | undefined; agent?: string | undefined }

/** `groupBy`: without, an interval has one row. */
export type UsageQuery = UsageOf & { groupBy?: 'agent' | 'tenant' | 'version' }

export function toUsageQuery(period: Period, now: number, query: UsageQuery): Query {
  const { interval, groupInterval } = AXES[period]
  const { from, to } = spanOf(period, now)
  return {
    ...query,
    from: new Date(from).toISOString(),
    ...(to !== null && { to: new Date(to).toISOString() }),
    // An agent has few versions: their rows are those of the bars.
    interval: query.groupBy && query.groupBy !== 'version' ? groupInterval : interval,
  }
}

/** The runs that ended in a part of time, as totals count them. */
export const toRuns = ({ from, to, ...query }: Query & Span): string =>
  toHref('/runs', {
    ...query,
    finishedFrom: toLocalText(from),
    ...(to !== null && { finishedTo: toLocalText(to) }),
  })

/** A part of a period, from `from` up to and without `to`. */
type Part<T> = { from: number; to: number; rows: T[] }

/** All parts of a period up to now, in order, also those without rows: an outage is an empty part of the axis. */
export function partsOf<T extends { start: string }>(
  period: Period,
  now: number,
  rows: T[],
  { barMs }: Pick<Axis, 'barMs'> = AXES[period],
): Part<T>[] {
  const { from: start, to } = spanOf(period, now)
  const count = to === null ? Math.floor((now - start) / barMs) + 1 : (to - start) / barMs
  const parts = Array.from({ length: count }, (_, index): Part<T> => {
    const from = start + index * barMs
    return { from, to: from + barMs, rows: [] }
  })
  // The clock of the service can be ahead of this one.
  for (const row of rows)
    parts[Math.min(Math.floor((Date.parse(row.start) - start) / barMs), count - 1)]?.rows.push(row)
  return parts
}

/** What succeeded and failed in each part of a period. @param rows of an agent, or of a tenant */
export const toSpark = (period: Period, now: number, rows: UsageRowRecord[]): [number, number][] =>
  partsOf(period, now, rows, { barMs: INTERVAL_MS[AXES[period].groupInterval] }).map((part) => {
    const failed = part.rows.reduce((sum, row) => sum + countFailed(row), 0)
    return [part.rows.reduce((sum, { runs }) => sum + runs, 0) - failed, failed]
  })

/** The start of a part, for people: days are those of UTC, as the totals are. */
export const formatPart = (period: Period, from: number, now: number): string =>
  AXES[period].barMs === DAY ? formatDay(from) : formatMinute(from, now)

/** `since 20:00`, `from Oct 1 up to Oct 31 (UTC)` */
export function describeSpan(period: Period, now: number): string {
  const { from, to } = spanOf(period, now)
  if (to !== null) return `from ${formatDay(from)} up to ${formatDay(to - 1)} (UTC)`
  return `since ${AXES[period].unitMs === DAY ? `${formatDay(from)} (UTC)` : formatMinute(from, now)}`
}
