import { describe, expect, it } from 'vitest'
import type { Schedule } from '../../../lib/core/schedule.ts'
import { toSchedule } from '../../../lib/engine/schedules/define-schedule.ts'
import { HOUR, MINUTE, NOON, ScheduleService } from '../../support/schedules/schedule-service.ts'

/** As a client does. */
async function change(service: ScheduleService, schedule: Schedule, changes: Partial<Schedule>) {
  const replaces = await service.read(schedule)
  const { system, queue } = service
  const { organizationId, agentId, name } = schedule
  const changed = await toSchedule({
    parts: { system, queue },
    key: { organizationId, agentId, name },
    definition: { ...replaces, ...changes },
    replaces,
    isDeclared: false,
    tokenId: null,
  })
  return service.stores.schedules.put({ schedule: changed, replaces })
}

describe('a change of a schedule whose firing is due', () => {
  it.each([{ cron: '0 9 * * *' }, { timezone: 'Asia/Tokyo' }, { enabled: false }])(
    'lists it as missed: %j',
    async (changes) => {
      const service = new ScheduleService()
      const schedule = await service.create()
      service.now = NOON + MINUTE
      await change(service, schedule, changes)
      await service.run(MINUTE)
      expect(await service.executions(schedule)).toEqual([])
      expect(await service.firings(schedule)).toEqual(['12:00 MISSED'])
    },
  )

  it('lists all that are due', async () => {
    const service = new ScheduleService()
    const schedule = await service.create({ cron: '@hourly' })
    service.now = NOON + 2 * HOUR
    await change(service, schedule, { cron: '0 9 * * *' })
    expect(await service.firings(schedule)).toEqual(['14:00 MISSED', '13:00 MISSED', '12:00 MISSED'])
  })

  it('leaves it due if the times do not change, and lists none that is not', async () => {
    const service = new ScheduleService()
    const schedule = await service.create()
    await change(service, schedule, { cron: '5 12 * * *' })
    expect(await service.firings(schedule)).toEqual([])
    service.now = NOON + 6 * MINUTE
    await change(service, schedule, { input: { question: 'How?' } })
    await service.run(MINUTE)
    expect(await service.firings(schedule)).toEqual(['12:05 STARTED'])
  })

  it('lists one that a process is starting as started', async () => {
    const service = new ScheduleService()
    const schedule = await service.create()
    service.now = NOON
    const engine = service.engine()
    const { put } = engine.schedules
    let isFirst = true
    const putLate: typeof put = async (params) => {
      if (isFirst) {
        isFirst = false
        await change(service, schedule, { cron: '0 9 * * *' })
        expect(await service.firings(schedule)).toEqual(['12:00 MISSED'])
      }
      return put(params)
    }
    await service.fire(schedule, { ...engine, schedules: { ...engine.schedules, put: putLate } })
    expect(await service.firings(schedule)).toEqual(['12:00 STARTED'])
    expect(await service.read(schedule)).toMatchObject({ nextRunAt: '2040-11-26T09:00:00.000Z' })
  })
})
