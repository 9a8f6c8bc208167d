import { expect, it } from 'vitest'
import { firingExecutionId } from '../../../lib/core/schedule.ts'
import { scheduleStore } from '../../../lib/dynamodb/schedule-store.ts'
import { newOrganization, sharedTable } from '../../support/engine/organization.ts'
import { waitUntil } from '../../support/processes/wait-until.ts'
import { aSchedule } from '../../support/schedules/a-schedule.ts'

it('a running service fires a schedule, and lists the execution', async () => {
  const organization = await newOrganization()
  const { agentId } = await organization.publish('redact-pii')
  const due = Date.now() + 1_000
  const schedule = aSchedule({
    organizationId: organization.id,
    agentId,
    cron: '0 0 1 1 *',
    input: { content: 'Write to ada@example.com.' },
    nextRunAt: new Date(due).toISOString(),
    openUntil: due,
  })
  await scheduleStore(sharedTable()).put({ schedule, replaces: null })
  const id = firingExecutionId(schedule, due)
  await waitUntil(async () => (await organization.getExecution(id)).status === 'SUCCESS', {
    what: 'the execution',
    limitMs: 50_000,
    intervalMs: 200,
  })
  expect(await organization.getExecution(id)).toMatchObject({
    source: 'SCHEDULE',
    scheduleName: schedule.name,
    scheduledFor: schedule.nextRunAt,
  })
  const { json } = await organization.call('GET', `/v1/agents/redact-pii/schedules/${schedule.name}`)
  expect(json.firings).toEqual([
    { scheduledFor: schedule.nextRunAt, status: 'STARTED', executionId: id, code: null },
  ])
})
