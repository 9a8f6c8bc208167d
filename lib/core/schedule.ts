import { derivedId } from './ids.ts'
import type { JsonObject } from './json/json.ts'
import type { BatchOptions } from './run-options.ts'

/** Firings that a schedule remembers. */
export const MAX_FIRINGS = 10

/** Schedules of an agent. */
export const MAX_SCHEDULES = 100

/** Bytes of the JSON of a schedule's input: each firing rewrites it. */
export const MAX_SCHEDULE_INPUT_BYTES = 200_000

export const CATCH_UP_SECONDS = { min: 0, max: 7 * 86_400, default: 3_600 } as const

/** What happens if the execution of the last firing is still open. */
export const OVERLAPS = ['skip', 'allow'] as const

/**
 * `SKIPPED`: the execution of an earlier firing was open. `MISSED`: the service did not run, and a later one was due,
 * or a change of the schedule came first. `FAILED`: no execution could be started.
 */
export const FIRING_STATUSES = ['STARTED', 'SKIPPED', 'MISSED', 'FAILED'] as const

/** A name fits a path: clients of HTTP resolve the segments `.` and `..`. */
export const SCHEDULE_NAME = /^(?!\.{1,2}$)[\w.-]{1,64}$/

export const SCHEDULE_NAME_RULE =
  'must have 1 to 64 letters, digits, "_", "." and "-", and be neither "." nor ".."'

/** Starts executions at times that a cron expression describes. Times are ISO 8601 unless noted otherwise. */
export type Schedule = {
  organizationId: string
  agentId: string
  /** Unique for the agent. */
  name: string
  cron: string
  /** IANA time zone */
  timezone: string
  input: JsonObject
  tenantId: string | null
  options: BatchOptions
  /** Null: the current version of the time. */
  versionId: string | null
  enabled: boolean
  overlap: (typeof OVERLAPS)[number]
  /** After an outage, the latest missed firing starts if it is not older. */
  catchUpSeconds: number
  /** The front matter of the current version declares it. */
  isDeclared: boolean
  /** The token that set it. */
  tokenId: string | null
  createdAt: string
  updatedAt: string
  /** Another one after each write. The store sets it. */
  revision: string
  /** Null if it is not enabled, or never fires again. */
  nextRunAt: string | null
  /**
   * When the timer looks at it: at `nextRunAt`, or later if a message has been sent for that time or if the firing
   * waits. Milliseconds since the epoch.
   */
  openUntil: number | null
  /**
   * When a firing is tried again that the limit on open executions has refused, in milliseconds since the epoch; null
   * if none waits.
   */
  waitsUntil: number | null
  /** The execution that a firing started last, also if `firings` does not contain it any more. */
  lastExecutionId: string | null
  /** Newest first. */
  firings: Firing[]
}

/** What the document of an agent declares: the rest is that of each deployment. */
export type DeclaredSchedule = Pick<
  Schedule,
  'name' | 'cron' | 'timezone' | 'input' | 'tenantId' | 'options' | 'overlap' | 'catchUpSeconds'
>

export type Firing = {
  scheduledFor: string
  status: (typeof FIRING_STATUSES)[number]
  executionId: string | null
  /** Why it failed; null otherwise. */
  code: string | null
}

/** What became of the time `at` (milliseconds since the epoch). */
export const toFiring = (
  at: number,
  status: Firing['status'],
  { executionId = null, code = null }: Partial<Pick<Firing, 'executionId' | 'code'>> = {},
): Firing => ({ scheduledFor: new Date(at).toISOString(), status, executionId, code })

/** The execution of a firing: the same id whoever starts it. */
export const firingExecutionId = (
  { agentId, name }: Pick<Schedule, 'agentId' | 'name'>,
  scheduledFor: number,
): string => derivedId(scheduledFor, `${agentId}/${name}/${scheduledFor}`)

/** The firings of a schedule with further ones, newest first, however many. One that has started stays so. */
export function addFirings(firings: Firing[], further: Firing[]): Firing[] {
  const byTime = new Map(firings.map((firing) => [firing.scheduledFor, firing]))
  for (const firing of further)
    if (byTime.get(firing.scheduledFor)?.status !== 'STARTED') byTime.set(firing.scheduledFor, firing)
  return [...byTime.values()].sort((a, b) => (a.scheduledFor < b.scheduledFor ? 1 : -1))
}

/** `at`: when it was due, in ISO 8601. */
export type ScheduledRun = { name: string; at: string }
