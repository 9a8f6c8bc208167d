import { hashJson } from '../../core/json/hash-json.ts'
import type { ScheduleId } from '../../core/ports/schedules.ts'
import {
  addFirings,
  type DeclaredSchedule,
  MAX_FIRINGS,
  type Schedule,
  toFiring,
} from '../../core/schedule.ts'
import { lastTimes, nextTimes } from '../../cron-times.ts'
import { setTimer, type TimerParts } from './set-timer.ts'

/** What a client or a document says about a schedule. */
export type ScheduleDefinition = Omit<DeclaredSchedule, 'name'> & Pick<Schedule, 'versionId' | 'enabled'>

const FIELDS = [
  'cron',
  'timezone',
  'input',
  'tenantId',
  'options',
  'versionId',
  'enabled',
  'overlap',
  'catchUpSeconds',
] as const satisfies (keyof ScheduleDefinition)[]

const pickFields = (definition: ScheduleDefinition): ScheduleDefinition =>
  Object.fromEntries(FIELDS.map((name) => [name, definition[name]])) as ScheduleDefinition

export const isSameDefinition = (a: ScheduleDefinition, b: ScheduleDefinition): boolean =>
  hashJson(pickFields(a)) === hashJson(pickFields(b))

/** A time that is nearer may come before the schedule is stored. */
const MIN_AHEAD_MS = 1_000

/** A schedule with this definition, and with the firings of the one that it replaces. */
export async function toSchedule({
  parts,
  key,
  definition,
  replaces,
  isDeclared,
  tokenId,
}: {
  parts: TimerParts
  key: ScheduleId
  definition: ScheduleDefinition
  replaces: Schedule | null
  isDeclared: boolean
  tokenId: string | null
}): Promise<Omit<Schedule, 'revision'>> {
  const now = parts.system.now()
  const staysDue = replaces !== null && isDueAsBefore(replaces, definition)
  const times = staysDue ? timesOf(replaces) : await firstTime(parts, { ...definition, ...key }, now)
  const { organizationId, agentId, name } = key
  const updatedAt = new Date(now).toISOString()
  return {
    organizationId,
    agentId,
    name,
    ...pickFields(definition),
    isDeclared,
    tokenId,
    createdAt: replaces?.createdAt ?? updatedAt,
    updatedAt,
    ...times,
    lastExecutionId: replaces?.lastExecutionId ?? null,
    firings: replaces && !staysDue ? withDisplaced(replaces, now) : (replaces?.firings ?? []),
  }
}

/** The firings of a schedule, with those that are due and that nobody starts any more; a process may be about to. */
function withDisplaced({ nextRunAt, cron, timezone, firings }: Schedule, now: number) {
  if (nextRunAt === null) return firings
  const due = { first: Date.parse(nextRunAt), last: now, count: MAX_FIRINGS }
  const missed = lastTimes(cron, timezone, due).map((at) => toFiring(at, 'MISSED'))
  return addFirings(missed, firings).slice(0, MAX_FIRINGS)
}

const isDueAsBefore = (before: ScheduleDefinition, { cron, timezone, enabled }: ScheduleDefinition) =>
  before.cron === cron && before.timezone === timezone && before.enabled === enabled

const timesOf = ({ nextRunAt, openUntil, waitsUntil }: Schedule) => ({ nextRunAt, openUntil, waitsUntil })

async function firstTime(
  parts: TimerParts,
  { enabled, cron, timezone, ...key }: ScheduleDefinition & ScheduleId,
  now: number,
) {
  const [next = null] = enabled ? nextTimes(cron, timezone, now + MIN_AHEAD_MS) : []
  if (next === null) return { nextRunAt: null, openUntil: null, waitsUntil: null }
  const openUntil = await setTimer(parts, key, next)
  return { nextRunAt: new Date(next).toISOString(), openUntil, waitsUntil: null }
}

/** @returns the next times of a schedule, beginning with `nextRunAt` */
export function nextRunsOf({ nextRunAt, cron, timezone }: Schedule, count: number): string[] {
  if (nextRunAt === null) return []
  const later = nextTimes(cron, timezone, Date.parse(nextRunAt), count - 1)
  return [nextRunAt, ...later.map((time) => new Date(time).toISOString())]
}
