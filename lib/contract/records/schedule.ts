import * as z from 'zod'
import { FIRING_STATUSES, MAX_FIRINGS, OVERLAPS, type Schedule } from '../../core/schedule.ts'
import { nullableTime, schema } from './fields.ts'

/** The fields that a body sets have the same names there. */
export const scheduleRecord = /* @__PURE__ */ schema(() =>
  z
    .object({
      name: z.string(),
      documentId: z.uuid().describe('The ID of the agent.'),
      cron: z.string(),
      timezone: z.string(),
      input: z.record(z.string(), z.unknown()),
      tenantId: z.string().nullable(),
      options: z.record(z.string(), z.unknown()),
      version: z.uuid().nullable().describe('The version that runs. Null: the current one of the time.'),
      enabled: z.boolean(),
      overlap: z.enum(OVERLAPS),
      catchUpSeconds: z.int(),
      declared: z
        .boolean()
        .describe('Whether the document of the agent declares it: promotions change and delete it.'),
      tokenId: z.uuid().nullable().describe('The token that set it. Null if the document declares it.'),
      createdAt: z.iso.datetime(),
      updatedAt: z.iso.datetime().describe('When it was set; firings do not change it.'),
      nextRunAt: nullableTime.describe('Null if it is not enabled, or never fires again.'),
      nextRuns: z.array(z.iso.datetime()).describe('The next times, beginning with `nextRunAt`.'),
      firings: z
        .array(
          z.object({
            scheduledFor: z.iso.datetime(),
            status: z
              .enum(FIRING_STATUSES)
              .describe(
                '`SKIPPED`: the execution of an earlier firing was in progress. `MISSED`: the service did not run, and a later time was due. `FAILED`: no execution could start.',
              ),
            executionId: z.uuid().nullable(),
            code: z.string().nullable().describe('Why it failed: an error code. Null otherwise.'),
          }),
        )
        .describe(`The last ${MAX_FIRINGS}, newest first.`),
    })
    .meta({ id: 'Schedule' }),
)

export type ScheduleRecord = z.infer<typeof scheduleRecord>

/** @param nextRuns beginning with `nextRunAt` */
export const toScheduleRecord = (schedule: Schedule, nextRuns: string[]): ScheduleRecord => ({
  name: schedule.name,
  documentId: schedule.agentId,
  cron: schedule.cron,
  timezone: schedule.timezone,
  input: schedule.input,
  tenantId: schedule.tenantId,
  options: schedule.options,
  version: schedule.versionId,
  enabled: schedule.enabled,
  overlap: schedule.overlap,
  catchUpSeconds: schedule.catchUpSeconds,
  declared: schedule.isDeclared,
  tokenId: schedule.tokenId,
  createdAt: schedule.createdAt,
  updatedAt: schedule.updatedAt,
  nextRunAt: schedule.nextRunAt,
  nextRuns,
  firings: schedule.firings.map(({ scheduledFor, status, executionId, code }) => ({
    scheduledFor,
    status,
    executionId,
    code,
  })),
})
