import { describe, expect, inject, it } from 'vitest'
import { firingExecutionId } from '../../../lib/core/schedule.ts'
import { scheduleStore } from '../../../lib/dynamodb/schedule-store.ts'
import { newOrganization, sharedTable } from '../../support/engine/organization.ts'
import { waitUntil } from '../../support/processes/processes.ts'
import { aSchedule } from '../../support/schedules/a-schedule.ts'
import { MINUTE, NOON, ScheduleService } from '../../support/schedules/schedule-service.ts'
import { FAULT_KINDS, type Fault, FaultyWorker } from '../../support/waiting/faulty-worker.ts'

/** Each request in the night, else a sample that differs from fault to fault. */
const STRIDE = inject('isNightly') ? 1 : 4

/** Longer than the repair of any fault. */
const RUN_MS = 12 * MINUTE

/** Runs a schedule with two firings, whose processes fail at one request. Returns the number of their requests. */
async function runWith(fault: Fault | null): Promise<number> {
  const service = new ScheduleService()
  const schedule = await service.create({ cron: '0,6 12 25 11 *', overlap: 'allow' })
  let requests = 0
  const faults = fault ? [fault] : []
  service.worker = new FaultyWorker({ next: () => requests++, before: async () => undefined, faults })
  await service.run(MINUTE + RUN_MS)
  const ids = [NOON, NOON + 6 * MINUTE].map((at) => firingExecutionId(schedule, at))
  const label = JSON.stringify(fault)
  expect(await service.executions(schedule), label).toMatchObject(ids.map((id) => ({ id })))
  expect(await service.firings(schedule), label).toEqual(['12:06 STARTED', '12:00 STARTED'])
  expect(await service.read(schedule), label).toMatchObject({ nextRunAt: '2041-11-25T12:00:00.000Z' })
  return requests
}

describe('firings', () => {
  it.each(FAULT_KINDS)('happen once, and are recorded, if any request fails: %s', async (kind) => {
    const requests = await runWith(null)
    expect(requests).toBeGreaterThan(15)
    for (let at = FAULT_KINDS.indexOf(kind) % STRIDE; at < requests; at += STRIDE) await runWith({ at, kind })
  })

  it('happen once with two services on one table', async () => {
    const first = new ScheduleService()
    const second = first.another()
    const schedules = await Promise.all([
      first.create({ cron: '* * * * *' }),
      first.create({ cron: '*/3 * * * *', overlap: 'skip' }),
      first.create({ cron: '0 12 * * *' }),
    ])
    while (first.now < NOON + 9.5 * MINUTE) {
      second.now = first.now
      await Promise.all([first.tick(), second.tick()])
    }
    const executions = await Promise.all(schedules.map((schedule) => first.executions(schedule)))
    expect(executions.map(({ length }) => length)).toEqual([10, 1, 1])
    const started = Array.from({ length: 10 }, (_, index) => `12:0${9 - index} STARTED`)
    expect(await Promise.all(schedules.map((schedule) => first.firings(schedule)))).toEqual([
      started,
      ['12:09 SKIPPED', '12:06 SKIPPED', '12:03 SKIPPED', '12:00 STARTED'],
      ['12:00 STARTED'],
    ])
    // Each has sent some.
    for (const service of [first, second]) expect(service.runs.length).toBeGreaterThan(0)
  })
})

describe('service', () => {
  it('a running service fires a schedule, and lists the execution', async () => {
    const organization = await newOrganization()
    const { agentId } = await organization.publish('redact-pii')
    const due = Date.now() + 1_000
    const schedule = aSchedule({
      ...{ organizationId: organization.id, agentId, cron: '0 0 1 1 *' },
      input: { content: 'Write to ada@example.com.' },
      ...{ nextRunAt: new Date(due).toISOString(), openUntil: due },
    })
    await scheduleStore(sharedTable()).put({ schedule, replaces: null })
    const id = firingExecutionId(schedule, due)
    const hasEnded = async () => (await organization.getExecution(id)).status === 'SUCCESS'
    await waitUntil(hasEnded, { what: 'the execution', limitMs: 50_000, intervalMs: 200 })
    const { name: scheduleName, nextRunAt: scheduledFor } = schedule
    const expected = { source: 'SCHEDULE', scheduleName, scheduledFor }
    expect(await organization.getExecution(id)).toMatchObject(expected)
    const { json } = await organization.call('GET', `/v1/agents/redact-pii/schedules/${scheduleName}`)
    expect(json.firings).toEqual([{ scheduledFor, status: 'STARTED', executionId: id, code: null }])
  })
})
