import { describe, expect, it } from 'vitest'
import { forgetCurrentVersion } from '../../../lib/agents/resolve-version.ts'
import { Unavailable } from '../../../lib/core/errors.ts'
import { firingExecutionId, MAX_FIRINGS } from '../../../lib/core/schedule.ts'
import { fireSchedule } from '../../../lib/engine/schedules/fire.ts'
import { system } from '../../../lib/system.ts'
import { aModelAgent } from '../../support/engine/model-agent.ts'
import { HOUR, MINUTE, NOON, ScheduleService, SECOND } from '../../support/schedules/schedule-service.ts'
import { race } from '../../support/tables/emulators.ts'

/** A service with a schedule. */
async function aFiring(...given: Parameters<ScheduleService['create']>) {
  const service = new ScheduleService()
  return { service, schedule: await service.create(...given) }
}

describe('fireSchedule', () => {
  it('starts an execution, and moves the schedule on', async () => {
    const given = { tenantId: 'acme', tokenId: system.newId(), options: { maxAgentSteps: 7 } }
    const { service, schedule } = await aFiring(given)
    const [id, at] = [firingExecutionId(schedule, NOON), '2040-11-25T12:00:00.000Z']
    service.now = NOON + 300
    await service.fire(schedule)
    expect(await service.executions(schedule)).toMatchObject([
      {
        ...{ id, source: 'SCHEDULE', schedule: { name: 'every-day', at }, input: { question: 'Why?' } },
        ...{ ...given, createdAt: '2040-11-25T12:00:00.300Z' },
      },
    ])
    expect(service.runs).toEqual([id])
    expect(service.messages).toEqual([])
    expect(await service.read(schedule)).toMatchObject({
      ...{ nextRunAt: '2040-11-26T12:00:00.000Z', openUntil: NOON + 24 * HOUR, lastExecutionId: id },
      firings: [{ scheduledFor: at, status: 'STARTED', executionId: id, code: null }],
    })
  })

  it('sends the message of a time that the next sweep may be too late for', async () => {
    const { service, schedule } = await aFiring({ cron: '* * * * *' })
    await service.run(4.5 * MINUTE)
    const times = ['12:03', '12:02', '12:01', '12:00']
    expect(await service.firings(schedule)).toEqual(times.map((time) => `${time} STARTED`))
    expect(service.messages).toMatchObject([{ visibleAt: NOON + 4 * MINUTE }])
    service.isQueueDown = true
    service.now += MINUTE
    await service.deliver()
    // The sweeper sends it.
    expect(await service.read(schedule)).toMatchObject({ openUntil: NOON + 5 * MINUTE })
  })

  it('starts one execution, however often and by whom it is fired', async () => {
    const { service, schedule } = await aFiring()
    service.now = NOON
    const message = { ...schedule, schedule: schedule.name, at: NOON }
    await race(() => fireSchedule(service.engine(), message))
    service.now += MINUTE
    await fireSchedule(service.engine(), message)
    expect(await service.executions(schedule)).toHaveLength(1)
    expect(await service.firings(schedule)).toEqual(['12:00 STARTED'])
  })

  it('ignores a message that another one follows, and lets one that is early come again', async () => {
    const { service, schedule } = await aFiring()
    const message = { ...schedule, schedule: schedule.name }
    await fireSchedule(service.engine(), { ...message, at: NOON - 1 })
    expect(service.messages).toEqual([])
    await fireSchedule(service.engine(), { ...message, at: NOON })
    expect(service.messages).toMatchObject([{ visibleAt: NOON }])
    expect(await service.executions(schedule)).toEqual([])
  })

  it('does nothing for a schedule that is paused, deleted or of another organization', async () => {
    const { service, schedule } = await aFiring()
    const message = { ...schedule, schedule: schedule.name, at: NOON }
    service.now = NOON
    await fireSchedule(service.engine(), { ...message, organizationId: system.newId() })
    const paused = { ...schedule, enabled: false, nextRunAt: null, openUntil: null }
    await service.stores.schedules.put({ schedule: paused, replaces: schedule })
    await fireSchedule(service.engine(), message)
    await service.stores.schedules.delete(schedule)
    await fireSchedule(service.engine(), message)
    expect(await service.executions(schedule)).toEqual([])
  })

  it('keeps what a client changes while it fires', async () => {
    const { service, schedule } = await aFiring()
    service.now = NOON
    const engine = service.engine()
    const changes = { cron: '0 9 * * *', nextRunAt: '2040-11-26T09:00:00.000Z', openUntil: 1 }
    const { put } = engine.schedules
    const putLate: typeof put = async (params) => {
      await put({ schedule: { ...schedule, ...changes }, replaces: schedule })
      return put(params)
    }
    await service.fire(schedule, { ...engine, schedules: { ...engine.schedules, put: putLate } })
    expect(await service.read(schedule)).toMatchObject({
      ...changes,
      lastExecutionId: firingExecutionId(schedule, NOON),
      firings: [{ status: 'STARTED' }],
    })
  })
})

describe('after a process that died when it had started the execution', () => {
  async function aDeath(overrides = {}) {
    const { service, schedule } = await aFiring({ overlap: 'skip', ...overrides })
    service.now = NOON
    const engine = service.engine()
    const put = () => Promise.reject(new Unavailable(new Error('It died.')))
    const dying = service.fire(schedule, { ...engine, schedules: { ...engine.schedules, put } })
    await expect(dying).rejects.toThrow(Unavailable)
    service.runs.length = 0
    return { service, schedule, id: firingExecutionId(schedule, NOON) }
  }

  it('finds it again', async () => {
    const { service, schedule, id } = await aDeath()
    service.now += 5 * SECOND
    await service.fire(schedule)
    expect((await service.executions(schedule)).map((each) => each.id)).toEqual([id])
    expect(await service.firings(schedule)).toEqual(['12:00 STARTED'])
    // It may have died before it sent the message.
    expect(service.runs).toEqual([id])
  })

  it('finds it also if no execution could be started now', async () => {
    const { service, schedule, id } = await aDeath()
    const { organizationId, agentId } = schedule
    forgetCurrentVersion(agentId)
    const late = service.engine()
    const archived = { ...(await late.agents.get({ organizationId, id: agentId })), archivedAt: 'now' }
    const agents = { ...late.agents, get: async () => archived as never }
    await service.fire({ ...schedule }, { ...late, agents })
    expect(await service.read(schedule)).toMatchObject({ lastExecutionId: id })
    expect(await service.firings(schedule)).toEqual(['12:00 STARTED'])
  })

  it.each([
    ['it is too old to be started', 3 * HOUR, {}, '12:00 STARTED'],
    [
      'more are due since than a schedule remembers',
      HOUR,
      { cron: '* * * * *', catchUpSeconds: 60 },
      '13:00 SKIPPED',
    ],
  ])('finds it although %s', async (_, ms, overrides, latest) => {
    const { service, schedule, id } = await aDeath(overrides)
    service.stop(ms)
    await service.fire(schedule)
    expect((await service.executions(schedule)).map((each) => each.id)).toEqual([id])
    expect((await service.firings(schedule))[0]).toBe(latest)
    expect(await service.read(schedule)).toMatchObject({ lastExecutionId: id })
  })
})

it('the overlap skip skips firings while the last execution is open, however many these are', async () => {
  const { service, schedule } = await aFiring({ cron: '* * * * *', overlap: 'skip' })
  await service.run((MAX_FIRINGS + 5) * MINUTE)
  const [execution, ...others] = await service.executions(schedule)
  expect(others).toEqual([])
  const firings = await service.firings(schedule)
  const expected = [MAX_FIRINGS, '12:14 SKIPPED', '12:05 SKIPPED']
  expect([firings.length, firings[0], firings.at(-1)]).toEqual(expected)
  await service.end(schedule, execution?.id ?? '')
  await service.run(MINUTE)
  expect((await service.firings(schedule))[0]).toBe('12:15 STARTED')
})

describe('after an outage', () => {
  const outage = async (catchUpSeconds: number, ms: number) => {
    const { service, schedule } = await aFiring({ cron: '*/20 * * * *', catchUpSeconds })
    service.stop(ms)
    await service.run(2 * MINUTE)
    expect((await service.executions(schedule)).length).toBeLessThanOrEqual(1)
    return service.firings(schedule)
  }

  it('starts the latest missed firing if it is not too old, and lists the others', async () => {
    const others = ['12:40 MISSED', '12:20 MISSED', '12:00 MISSED']
    expect(await outage(900, 70 * MINUTE)).toEqual(['13:00 STARTED', ...others])
    expect(await outage(300, 70 * MINUTE)).toEqual(['13:00 MISSED', ...others])
    // Less than five minutes are not late.
    expect(await outage(0, 5 * MINUTE)).toEqual(['12:00 STARTED'])
  })
})

describe('at the limit of open executions', () => {
  async function aFullService(overrides = {}) {
    const { service, schedule } = await aFiring(overrides)
    service.isFull = true
    return { service, schedule }
  }

  it('waits with a firing until there is room, however long', async () => {
    const { service, schedule } = await aFullService()
    await service.run(30 * MINUTE)
    expect(await service.read(schedule)).toMatchObject({ nextRunAt: '2040-11-25T12:00:00.000Z', firings: [] })
    expect(service.messages).toHaveLength(1)
    service.isFull = false
    await service.run(2 * MINUTE)
    expect(await service.firings(schedule)).toEqual(['12:00 STARTED'])
    const after = { nextRunAt: '2040-11-26T12:00:00.000Z', waitsUntil: null }
    expect(await service.read(schedule)).toMatchObject(after)
  })

  it('waits with the latest one when later ones are due', async () => {
    const { service, schedule } = await aFullService({ cron: '*/10 * * * *' })
    await service.run(26 * MINUTE)
    service.isFull = false
    await service.run(2 * MINUTE)
    expect(await service.firings(schedule)).toEqual(['12:20 STARTED', '12:10 MISSED', '12:00 MISSED'])
  })

  it('has missed a firing that waited before an outage', async () => {
    const { service, schedule } = await aFullService()
    await service.run(10 * MINUTE)
    service.isFull = false
    service.stop(20 * MINUTE)
    await service.run(2 * MINUTE)
    expect(await service.firings(schedule)).toEqual(['12:00 MISSED'])
  })

  it('is helped by the sweeper if a message is lost', async () => {
    const { service, schedule } = await aFullService()
    await service.run(2 * MINUTE)
    service.isFull = false
    service.messages = []
    await service.run(6 * MINUTE)
    expect(await service.firings(schedule)).toEqual(['12:00 STARTED'])
  })
})

describe('if no execution can be started', () => {
  it.each([
    ['an unknown agent', 'AgentNotFound', { agentId: system.newId() }],
    ['a missing version', 'VersionNotFound', { versionId: system.newId() }],
    ['an unfit input', 'InputSchemaMismatch', { input: { question: [[1], [2]] } }],
    [
      'a strict unfit input',
      'InputSchemaMismatch',
      { input: { q: 1 }, options: { enforceInputSchema: true } },
    ],
    ['an invalid model', 'InvalidModelOverride', { options: { model: 'nowhere/x' } }],
    ['too many steps', 'InvalidQueryParameter', { options: { maxAgentSteps: 501 } }],
  ])('records the code for %s', async (_, code, overrides) => {
    const { service, schedule } = await aFiring(overrides)
    service.now = NOON
    await service.fire(schedule)
    expect(await service.executions(schedule)).toEqual([])
    expect(await service.firings(schedule)).toEqual([`12:00 ${code}`])
    expect(await service.read(schedule)).toMatchObject({ nextRunAt: '2040-11-26T12:00:00.000Z' })
  })

  it('records the code for an archived agent and a retired version, and starts them again later', async () => {
    const service = new ScheduleService()
    const archived = await service.create({ cron: '* * * * *' })
    const { agents } = service.stores
    const { organizationId, agentId } = archived
    await agents.setArchived({ organizationId, id: agentId, archivedAt: 'now' })
    await service.run(MINUTE)
    expect(await service.firings(archived)).toEqual(['12:00 AgentArchived'])
    await agents.setArchived({ organizationId, id: agentId, archivedAt: null })
    await service.run(MINUTE)
    expect(await service.firings(archived)).toEqual(['12:01 STARTED', '12:00 AgentArchived'])

    const { id } = await aModelAgent({ organizationId, slug: 'model-agent' }, service)
    await aModelAgent({ organizationId, slug: 'model-agent' }, service)
    const fixed = { organizationId, agentId, name: 'fixed', versionId: id, cron: '* * * * *' }
    const retired = await service.create(fixed)
    await agents.setRetired({ organizationId, agentId, id, retiredAt: 'now' })
    forgetCurrentVersion(agentId)
    await service.run(MINUTE)
    expect(await service.firings(retired)).toEqual(['12:02 VersionRetired'])
  })
})
