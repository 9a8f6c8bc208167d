import type { Schedule } from '../core/schedule.ts'
import type { ScheduleRecord } from './records/schedule-record.ts'

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
