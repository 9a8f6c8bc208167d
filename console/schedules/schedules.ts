import type { ScheduleRecord } from '../../lib/contract/records/schedule.ts'
import { CATCH_UP_SECONDS } from '../../lib/core/schedule.ts'
import { nextTimes } from '../../lib/cron-times.ts'
import { formatSeconds, formatTime } from '../components/format.ts'
import type { Outcome } from '../components/small-charts.tsx'
import { type Run, toOutcome } from '../runs/run-list.ts'

export const OVERLAP_TEXTS: Record<ScheduleRecord['overlap'], string> = {
  skip: 'Start none',
  allow: 'Start another one beside it',
}

export type Firing = ScheduleRecord['firings'][number]

export const FIRING_TEXTS: Record<Firing['status'], string> = {
  STARTED: 'Started',
  SKIPPED: 'Skipped: the run before was in progress',
  MISSED: 'Missed: the service did not run',
  FAILED: 'Failed to start',
}

/** What became of a time, as a dot. @param run that it started, if it is known */
export function outcomeOf({ status, scheduledFor }: Firing, run: Run | undefined): Outcome {
  if (run) return toOutcome(run)
  const state = status === 'STARTED' ? 'open' : status === 'SKIPPED' ? 'none' : 'error'
  return { state, text: `${formatTime(scheduledFor)}: ${FIRING_TEXTS[status]}` }
}

/** How late a missed time may start a run, as choices; others stay what they are. */
const CATCH_UP_CHOICES: Record<number, string> = {
  0: 'Up to 5 minutes late',
  3600: 'Up to an hour late',
  86400: 'Up to a day late',
  604800: 'Up to 7 days late',
}

/** `Up to 2 h late` */
export const describeCatchUp = (seconds: number): string =>
  CATCH_UP_CHOICES[seconds] ?? `Up to ${formatSeconds(seconds * 1_000)} late`

/** @param current what it is now */
export const catchUpChoices = (current: number | undefined): [string, string][] =>
  [...new Set([...Object.keys(CATCH_UP_CHOICES).map(Number), ...(current === undefined ? [] : [current])])]
    .sort((a, b) => a - b)
    .map((seconds) => [String(seconds), describeCatchUp(seconds)])

export type ScheduleForm = ReturnType<typeof toForm>

/** @param zone of the browser @param input as JSON text */
export const toForm = (schedule: ScheduleRecord | null, zone: string, input: string) => ({
  name: schedule?.name ?? '',
  cron: schedule?.cron ?? '0 9 * * MON-FRI',
  timezone: schedule?.timezone ?? zone,
  input,
  tenantId: schedule?.tenantId ?? '',
  overlap: schedule?.overlap ?? 'skip',
  /** As the value of a choice. */
  catchUpSeconds: String(schedule?.catchUpSeconds ?? CATCH_UP_SECONDS.default),
})

/** The body that saves a form: what it does not edit stays, and the input is sent as it was typed. */
export function toBody(form: ScheduleForm, schedule: ScheduleRecord | null): string {
  const { input, name: _, tenantId, ...rest } = form
  const fields = {
    ...rest,
    catchUpSeconds: Number(rest.catchUpSeconds),
    cron: rest.cron.trim(),
    timezone: rest.timezone.trim(),
    tenantId: tenantId === '' ? null : tenantId,
    options: schedule?.options ?? {},
    version: schedule?.version ?? null,
    enabled: schedule?.enabled ?? true,
  }
  return `${JSON.stringify(fields).slice(0, -1)},"input":${input.trim() === '' ? '{}' : input}}`
}

export function toEnabledBody(schedule: ScheduleRecord, enabled: boolean): string {
  const { cron, timezone, input, tenantId, options, version, overlap, catchUpSeconds } = schedule
  return JSON.stringify({
    ...{ cron, timezone, input, tenantId, options, version, overlap, catchUpSeconds },
    enabled,
  })
}

/** Messages of the service by the field of the form that they are about; `''` for others. */
export function problemsByField(
  errors: readonly { path: string; message: string }[],
): Partial<Record<keyof ScheduleForm | '', string[]>> {
  const fields = ['cron', 'timezone', 'tenantId', 'overlap', 'catchUpSeconds'] as const
  const problems: Partial<Record<keyof ScheduleForm | '', string[]>> = {}
  for (const { path, message } of errors) {
    const field = fields.find((name) => path === `/${name}`) ?? (path.startsWith('/input') ? 'input' : '')
    // "/cron: the hour …" is below the field that it names.
    const text =
      field === '' || field === 'input'
        ? message
        : capitalize(message.replace(`/${field}`, '').replace(/^:? /, ''))
    problems[field] = [...(problems[field] ?? []), text]
  }
  return problems
}

const capitalize = (text: string) => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`

/** The one that fires next comes first, paused ones last, each by agent and name. */
export function sortSchedules<Schedule extends ScheduleRecord>(schedules: Schedule[]): Schedule[] {
  const order = ({ nextRunAt, documentId, name }: ScheduleRecord) =>
    `${nextRunAt ?? '~'} ${documentId} ${name}`
  return schedules.toSorted((a, b) => (order(a) < order(b) ? -1 : 1))
}

export const localZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone

/** What the service accepts: croner would take more. */
const VALUE = String.raw`(?:\*|\d{1,2}|[a-z]{3})`
const FIELD = `${VALUE}(?:[,/-]${VALUE})*`
const CRON = new RegExp(String.raw`^\s*(?:@[a-z]+|${FIELD}(?:\s+${FIELD}){4})\s*$`, 'i')

const PREVIEWED = 5

/** The next times of a rule that is being typed; null if it, or the time zone, is not valid yet. */
export function previewTimes(cron: string, timezone: string, now: number): number[] | null {
  if (!CRON.test(cron)) return null
  try {
    return nextTimes(cron.trim(), timezone.trim(), now, PREVIEWED)
  } catch {
    return null
  }
}
