import type { FeedQueue, FiringMessage, RunQueue } from '../../core/ports/queues.ts'
import type { ScheduleStore } from '../../core/ports/schedules.ts'
import {
  addFirings,
  type Firing,
  firingExecutionId,
  MAX_FIRINGS,
  type Schedule,
  toFiring,
} from '../../core/schedule.ts'
import { lastTimes, nextTimes } from '../../cron-times.ts'
import { readSetting } from '../../environment.ts'
import { type Admit, admission } from '../../limits/admission.ts'
import type { Engine } from '../engine.ts'
import { setTimer } from './set-timer.ts'
import { startFiring } from './start-firing.ts'

/** A firing that is not later is never missed: so long takes the repair of what a process has left that died. */
const ON_TIME_MS = 5 * 60_000

/** Until a firing that waits is tried again: the longer it has waited, the later. */
const RETRY_MS = { min: 10_000, max: 60_000 } as const

/** An engine that starts the executions of schedules. */
export type ScheduleEngine = Omit<Engine, 'queue'> & {
  schedules: ScheduleStore
  queue: RunQueue & Pick<FeedQueue, 'fire'>
  admit: Admit
}

/** With the limit of the environment. */
export const openScheduleEngine = (parts: Omit<ScheduleEngine, 'admit'>): ScheduleEngine => ({
  ...parts,
  admit: admission(parts, readSetting('maxOpenExecutions')),
})

/**
 * Starts what is due of a schedule, and moves it on. Every message may come late, twice or in vain: the id of an
 * execution derives from its firing, and each write replaces what was read.
 * @throws whatever fails: another message or the timer tries it again
 */
export async function fireSchedule(engine: ScheduleEngine, message: FiringMessage): Promise<void> {
  const { schedules, queue, system } = engine
  const { organizationId, agentId, schedule: name, at } = message
  const schedule = await schedules.get({ organizationId, agentId, name })
  if (!schedule?.nextRunAt) return
  const due = Date.parse(schedule.nextRunAt)
  const expectedAt = schedule.waitsUntil ?? due
  // Another message follows.
  if (at < expectedAt) return
  const now = system.now()
  // The clocks of two machines differ.
  if (now < expectedAt) return queue.fire({ ...message, delayMs: expectedAt - now })
  const { cron, timezone } = schedule
  const [following] = nextTimes(cron, timezone, due)
  const isLate = following !== undefined && following <= now
  const times = isLate ? lastTimes(cron, timezone, { first: due, last: now, count: MAX_FIRINGS }) : [due]
  const [latest = due, ...missed] = times
  // A process may have started the one that was due first, however many were due since.
  const earlier = [latest, ...missed].includes(due) ? missed : [...missed, due]
  const firings = await toMissed(engine, schedule, earlier)
  const firing = await fire(engine, withFirings(schedule, firings), {
    at: latest,
    lateMs: now - (latest === due ? expectedAt : latest),
  })
  if (firing === 'wait') return wait(engine, schedule, { at: latest, firings, now })
  const next = isLate ? nextTimes(cron, timezone, now)[0] : following
  await moveOn(engine, schedule, { firings: [firing, ...firings], next })
}

/** Firings that are not started any more, unless a process has started one and died before it could say so. */
async function toMissed(
  { executions }: ScheduleEngine,
  schedule: Schedule,
  times: number[],
): Promise<Firing[]> {
  if (times.length === 0) return []
  const idOf = (at: number) => firingExecutionId(schedule, at)
  const existing = await executions.findExisting({ ids: times.map(idOf), orRefused: true })
  return times.map((at) =>
    existing.has(idOf(at)) ? toFiring(at, 'STARTED', { executionId: idOf(at) }) : toFiring(at, 'MISSED'),
  )
}

async function fire(
  engine: ScheduleEngine,
  schedule: Schedule,
  { at, lateMs }: { at: number; lateMs: number },
): Promise<Firing | 'wait'> {
  const { organizationId, overlap, catchUpSeconds, lastExecutionId: id } = schedule
  if (lateMs > Math.max(catchUpSeconds * 1000, ON_TIME_MS)) {
    const [missed = toFiring(at, 'MISSED')] = await toMissed(engine, schedule, [at])
    return missed
  }
  const isSkipped =
    overlap === 'skip' &&
    id !== null &&
    (await engine.executions.getStatus({ organizationId, id })) === 'IN_PROGRESS'
  return isSkipped ? toFiring(at, 'SKIPPED') : startFiring(engine, schedule, at)
}

/** The latest firing waits until the organization has fewer open executions, or until another one replaces it. */
async function wait(
  engine: ScheduleEngine,
  schedule: Schedule,
  { at, firings, now }: { at: number; firings: Firing[]; now: number },
): Promise<void> {
  const waitsUntil = now + Math.min(Math.max((now - at) / 2, RETRY_MS.min), RETRY_MS.max)
  const openUntil = await setTimer(engine, schedule, waitsUntil)
  const nextRunAt = new Date(at).toISOString()
  const waiting = { ...withFirings(schedule, firings), nextRunAt, waitsUntil, openUntil }
  await engine.schedules.put({ schedule: waiting, replaces: schedule })
}

/** Records the firings, and when the next one is, unless a client has changed that. */
async function moveOn(
  engine: ScheduleEngine,
  fired: Schedule,
  { firings, next }: { firings: Firing[]; next: number | undefined },
): Promise<void> {
  const { schedules } = engine
  const openUntil = next === undefined ? null : await setTimer(engine, fired, next)
  const nextRunAt = next === undefined ? null : new Date(next).toISOString()
  for (let read: Schedule | null = fired; read; read = await schedules.get(fired)) {
    const isDue = read.nextRunAt === fired.nextRunAt
    const schedule = withFirings(read, firings)
    if (!isDue && isRecorded(read, firings)) return
    if (isDue) Object.assign(schedule, { nextRunAt, openUntil, waitsUntil: null })
    if ((await schedules.put({ schedule, replaces: read })) !== 'changed') return
  }
}

function withFirings(schedule: Schedule, further: Firing[]): Schedule {
  const all = addFirings(schedule.firings, further)
  const { executionId = schedule.lastExecutionId } = all.find(({ status }) => status === 'STARTED') ?? {}
  return { ...schedule, firings: all.slice(0, MAX_FIRINGS), lastExecutionId: executionId }
}

const isRecorded = ({ firings }: Schedule, further: Firing[]): boolean =>
  further.every(({ scheduledFor, status }) =>
    firings.some(
      (each) => each.scheduledFor === scheduledFor && (status !== 'STARTED' || each.status === status),
    ),
  )
