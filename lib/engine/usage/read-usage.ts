import { resolveTenant, visibilityOf } from '../../access/permissions.ts'
import { findAgentId } from '../../agents/resolve-agent.ts'
import type { Access } from '../../core/access.ts'
import { BY_USAGE, type ListPosition, type PageQuery, parsePage } from '../../core/cursor.ts'
import { tryParseJson } from '../../core/json/json.ts'
import { MAX_USAGE_ROWS, USAGE_PAGE_SIZE } from '../../core/limits.ts'
import type { AgentStore } from '../../core/ports/agents.ts'
import type { Page } from '../../core/ports/system.ts'
import type { UsageStore } from '../../core/ports/usage.ts'
import { InvalidCursor, InvalidQueryParameter } from '../../core/request-errors.ts'
import {
  INTERVAL_MS,
  ROW_FIELDS,
  type RowDimension,
  startOf,
  USAGE_RANGES,
  type UsageInterval,
  type UsageKey,
  type UsageRow,
  type UsageTotals,
} from '../../core/usage.ts'
import { UsageSums } from '../../core/usage-rows.ts'
import { type Range, readTotals, type UsageStores } from './read-totals.ts'

/** What a request asks for. `from` and `to`: RFC 3339. */
export type UsageQuery = PageQuery & {
  groupBy?: RowDimension[] | undefined
  interval?: UsageInterval | undefined
  from?: string | undefined
  to?: string | undefined
  tenantId?: string | undefined
  /** ID or slug. */
  agent?: string | undefined
}

/** The totals of a group in an interval. `start`: milliseconds since the epoch. */
export type GroupUsage = Partial<UsageKey> & UsageTotals & { start: number }

/**
 * A page of what a token may see of the usage of its organization, by interval and group. It can have fewer rows than
 * `limit`, or none, although others follow. `range`: what the request asks for, with the defaults and the rounding:
 * those of the following pages.
 * @throws AgentNotFound, Forbidden for another tenant than that of the token, InvalidCursor, InvalidQueryParameter
 */
export async function readUsage(
  { agents, usage, system }: UsageStores & { agents: AgentStore },
  { access, query }: { access: Access; query: UsageQuery },
  { maxRows = MAX_USAGE_ROWS, isOf = hasUsage }: { maxRows?: number; isOf?: (row: UsageRow) => boolean } = {},
): Promise<{ page: Page<GroupUsage>; range: Range }> {
  const { groupBy = [], limit = USAGE_PAGE_SIZE.default, cursor } = query
  const range = parseRange(query, system.now())
  const after = parsePosition({ cursor }, groupBy, range.interval)
  const mayBeSeen = await toFilter(agents, access, query)
  const isVisible = (row: UsageRow) => isOf(row) && mayBeSeen(row)
  const items: GroupUsage[] = []
  const rest = { ...range, from: Math.max(range.from, after?.start ?? 0) }
  const parts = readTotals({ usage, system }, { organizationId: access.organizationId, ...rest })
  const intervals = sumIntervals(parts, { ...range, groupBy, isVisible })
  for await (const { start, rows, read, following } of intervals) {
    const ordered = rows.toSorted((a, b) => compareGroups(valuesOf(groupBy, a), valuesOf(groupBy, b)))
    for (const row of ordered) {
      const values = valuesOf(groupBy, row)
      if (after?.start === start && after.values && compareGroups(values, after.values) <= 0) continue
      const last = items.at(-1)
      if (last && items.length === limit) {
        const next = toPosition(last.start, groupBy, valuesOf(groupBy, last))
        return { page: { items, next }, range }
      }
      items.push({ start, ...row })
    }
    if (following !== null && read >= maxRows)
      return { page: { items, next: toPosition(following, groupBy, null) }, range }
  }
  return { page: { items, next: null }, range }
}

/** Rows of scorers have scores instead. */
const hasUsage = ({ scorer }: UsageRow): boolean => scorer === null

/**
 * Rounded outwards to whole intervals, and not beyond the current one.
 * @throws InvalidQueryParameter
 */
function parseRange({ interval = 'hour', from, to }: UsageQuery, now: number): Range {
  const { keptMs, maxMs, defaultMs } = USAGE_RANGES[interval]
  const end = Math.min(to === undefined ? now : Date.parse(to), now)
  const begin = from === undefined ? end - defaultMs : Date.parse(from)
  const path = from === undefined && to !== undefined ? 'to' : 'from'
  const reject = (message: string) => new InvalidQueryParameter([{ path, message }])
  if (from !== undefined && to !== undefined && Date.parse(from) >= Date.parse(to))
    throw reject('from must be before to.')
  const [first, last] = [startOf(interval, begin), startOf(interval, end - 1)]
  // One interval more: the links to further pages have rounded times, and are followed later.
  if (first < startOf(interval, now - keptMs) - INTERVAL_MS[interval])
    throw reject(`${path} must be within the last ${describe(keptMs)} with interval=${interval}.`)
  if (last - first > maxMs)
    throw reject(`from must be at most ${describe(maxMs)} before to with interval=${interval}.`)
  return { interval, from: first, to: last + INTERVAL_MS[interval] }
}

function describe(ms: number): string {
  const days = ms / INTERVAL_MS.day
  return days >= 1 ? `${days} days` : `${ms / INTERVAL_MS.hour} hours`
}

/** Which rows a request selects, of those that its token may see. */
async function toFilter(agents: AgentStore, access: Access, { tenantId, agent: idOrSlug }: UsageQuery) {
  const tenant = resolveTenant(access, tenantId)
  const agent = await findAgentId(agents, access, idOrSlug)
  const agentIds = agent === null ? visibilityOf(access).agentIds : [agent]
  return (row: UsageRow) =>
    (tenant === undefined || row.tenantId === tenant) && (agentIds?.includes(row.agentId) ?? true)
}

/** Adds up the parts of each interval. `read`: rows so far. `following`: the start of the next one with parts. */
async function* sumIntervals(
  parts: ReturnType<UsageStore['read']>,
  {
    interval,
    groupBy,
    isVisible,
  }: { interval: UsageInterval; groupBy: RowDimension[]; isVisible: (row: UsageRow) => boolean },
) {
  let sums = new UsageSums(groupBy)
  let start = 0
  let read = 0
  for await (const part of parts) {
    const begin = startOf(interval, part.start)
    if (begin !== start) {
      yield { start, rows: sums.rows, read, following: begin }
      sums = new UsageSums(groupBy)
      start = begin
    }
    sums.add(part.rows.filter(isVisible))
    read += part.rows.length
  }
  yield { start, rows: sums.rows, read, following: null }
}

type Values = (string | null)[]

const valuesOf = (groupBy: RowDimension[], row: Partial<UsageKey>): Values =>
  groupBy.map((dimension) => row[ROW_FIELDS[dimension]] ?? null)

/** In the order of the dimensions; null first. */
function compareGroups(a: Values, b: Values): number {
  const index = a.findIndex((value, i) => value !== b[i])
  const [left = null, right = null] = [a[index], b[index]]
  if (left === right) return 0
  return left === null || (right !== null && left < right) ? -1 : 1
}

/** After this group of an interval; null: at its beginning. A cursor of other groups is none of this list. */
const toPosition = (start: number, groupBy: RowDimension[], values: Values | null): ListPosition => ({
  order: `${new Date(start).toISOString()}#${groupBy}#${JSON.stringify(values)}`,
})

/** @throws InvalidCursor */
function parsePosition(page: PageQuery, groupBy: RowDimension[], interval: UsageInterval) {
  const { after } = parsePage(page, BY_USAGE)
  if (!after) return null
  const [, time = '', dimensions, json = ''] = BY_USAGE.exec(after.order) ?? []
  const start = Date.parse(time)
  const values = parseValues(json)
  const isOfList = start === startOf(interval, start) && dimensions === `${groupBy}`
  if (!isOfList || values === undefined || (values && values.length !== groupBy.length))
    throw new InvalidCursor()
  return { start, values }
}

function parseValues(json: string): Values | null | undefined {
  const values = tryParseJson(json)
  if (values === null) return null
  const isValues =
    Array.isArray(values) && values.every((value) => value === null || typeof value === 'string')
  return isValues ? values : undefined
}
