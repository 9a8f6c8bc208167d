import { describe, expect, it } from 'vitest'
import { UNLIMITED } from '../../../lib/core/access.ts'
import type { Schedule } from '../../../lib/core/schedule.ts'
import type { Table } from '../../../lib/dynamodb/table/table.ts'
import { toSchedule } from '../../../lib/engine/schedules/define-schedule.ts'
import { listSchedules } from '../../../lib/engine/schedules/schedules.ts'
import { declaringAgent } from '../../support/schedules/a-schedule.ts'
import { HOUR, MINUTE, NOON, ScheduleService } from '../../support/schedules/schedule-service.ts'
import { ownTable } from '../../support/tables/memory-table.ts'

/** As a client does. */
async function change(service: ScheduleService, schedule: Schedule, changes: Partial<Schedule>) {
  const replaces = await service.read(schedule)
  const { organizationId, agentId, name } = schedule
  const of = { parts: service, key: { organizationId, agentId, name }, isDeclared: false, tokenId: null }
  const changed = await toSchedule({ ...of, definition: { ...replaces, ...changes }, replaces })
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
      if (isFirst) await change(service, schedule, { cron: '0 9 * * *' })
      if (isFirst) expect(await service.firings(schedule)).toEqual(['12:00 MISSED'])
      isFirst = false
      return put(params)
    }
    await service.fire(schedule, { ...engine, schedules: { ...engine.schedules, put: putLate } })
    expect(await service.firings(schedule)).toEqual(['12:00 STARTED'])
    expect(await service.read(schedule)).toMatchObject({ nextRunAt: '2040-11-26T09:00:00.000Z' })
  })
})

const table = await ownTable()

/** An agent whose documents are synced when they are published. */
async function aSynced(declared: Record<string, string>) {
  const agent = declaringAgent(table)
  const publish: typeof agent.publish = async (...given) => {
    const id = await agent.publish(...given)
    await agent.sync()
    return id
  }
  return { agent, publish, first: await publish(declared) }
}

/** The stores of an agent, of which something happens after the schedules are listed. */
const afterList = (
  { stores }: ReturnType<typeof declaringAgent>,
  then: () => Promise<unknown>,
): typeof stores => ({
  ...stores,
  schedules: {
    ...stores.schedules,
    list: async (params) => {
      const page = await stores.schedules.list(params)
      await then()
      return page
    },
  },
})

describe('syncSchedules', () => {
  it('creates, changes and deletes what the current version declares, also after a rollback', async () => {
    const agent = declaringAgent(table)
    const first = await agent.publish({ daily: '@daily', weekly: '@weekly' })
    expect(await agent.schedules()).toEqual({})
    await agent.sync()
    expect(await agent.schedules()).toEqual({ daily: '@daily', weekly: '@weekly' })
    await agent.publish({ daily: '5 5 * * *', monthly: '@monthly' })
    await agent.sync()
    expect(await agent.schedules()).toEqual({ daily: '5 5 * * *', monthly: '@monthly' })
    await agent.promote(first)
    await agent.sync()
    expect(await agent.schedules()).toEqual({ daily: '@daily', weekly: '@weekly' })
    await agent.publish({})
    await agent.sync()
    expect(await agent.schedules()).toEqual({})
    expect(await agent.timers()).toEqual([])
  })

  it('ignores drafts until they are promoted', async () => {
    const { agent, publish } = await aSynced({ daily: '@daily' })
    const draft = await publish({ weekly: '@weekly' }, { draft: true })
    expect([await agent.schedules(), await agent.timers()]).toEqual([{ daily: '@daily' }, []])
    await agent.promote(draft)
    await agent.sync()
    expect(await agent.schedules()).toEqual({ weekly: '@weekly' })
  })

  it('keeps a pause, and what clients have made or taken over', async () => {
    const { agent, publish } = await aSynced({ paused: '@daily', taken: '@daily' })
    await agent.put('paused', { enabled: false })
    await agent.put('taken', { cron: '7 7 * * *' })
    await agent.put('own', {})
    await agent.put('same-name', {})
    await publish({ paused: '@weekly', taken: '@weekly', 'same-name': '@weekly' })
    const others = { taken: '7 7 * * *?', own: '@hourly?', 'same-name': '@hourly?' }
    expect(await agent.schedules()).toEqual({ paused: '@weekly!', ...others })
    expect(await agent.stores.schedules.get(agent.key('paused'))).toMatchObject({ nextRunAt: null })
    await publish({})
    expect(await agent.schedules()).toEqual(others)
  })

  it('does not delete what a client takes over meanwhile', async () => {
    const { agent } = await aSynced({ taken: '@daily', gone: '@daily' })
    await agent.publish({})
    await agent.sync(afterList(agent, () => agent.put('taken', { cron: '7 7 * * *' })))
    expect(await agent.schedules()).toEqual({ taken: '7 7 * * *?' })
  })

  it('costs an agent without schedules nothing', async () => {
    const agent = declaringAgent(table)
    const writes: unknown[] = []
    const update: Table['update'] = (...write) => {
      writes.push(write)
      return table.update(...write)
    }
    const counting = { ...table, update }
    await agent.publish({}, { on: counting })
    const [before] = writes.splice(0)
    expect(JSON.stringify(before)).not.toContain('openUntil')
    await agent.sync(agent.storesOn(counting))
    expect(writes).toEqual([])
  })

  it('follows a version that becomes current while it runs', async () => {
    const { agent, first } = await aSynced({ a: '@daily', b: '@daily' })
    await agent.publish({ c: '@daily' })
    let promoted: Promise<unknown> | null = null
    await agent.sync(afterList(agent, async () => (promoted ??= agent.promote(first))))
    expect(await agent.schedules()).toEqual({ a: '@daily', b: '@daily' })
    expect(await agent.timers()).toEqual([])
  })

  it('is done by one process at a time, and by another one after a minute', async () => {
    const agent = declaringAgent(table)
    await agent.publish({ daily: '@daily' })
    const stores = agent.storesOn(table)
    const dying = { ...stores.schedules, list: () => Promise.reject(new Error('died')) }
    await expect(agent.sync({ ...stores, schedules: dying })).rejects.toThrow('died')
    await agent.sync()
    expect([await agent.schedules(), await agent.timers()]).toEqual([{}, []])
    agent.wait(61_000)
    expect(await agent.timers()).toHaveLength(1)
    await agent.sync()
    expect([await agent.schedules(), await agent.timers()]).toEqual([{ daily: '@daily' }, []])
  })

  it('lets a request wait for the process that does it', async () => {
    const agent = declaringAgent(table)
    await agent.publish({ daily: '@daily' })
    const { schedules } = agent.stores
    const [begun, resumed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const list: typeof schedules.list = async (params) => {
      begun.resolve()
      await resumed.promise
      return schedules.list(params)
    }
    const other = agent.sync({ ...agent.stores, schedules: { ...schedules, list } })
    await begun.promise
    const { organizationId, agentId } = agent.key('daily')
    const access = { ...UNLIMITED, organizationId, tokenId: organizationId }
    const { agents } = agent.stores
    const waits = Promise.withResolvers<void>()
    let reads = 0
    const get: typeof agents.get = (params) => {
      if (++reads === 2) waits.resolve()
      return agents.get(params)
    }
    const stores = { ...agent.stores, agents: { ...agents, get } }
    const request = listSchedules(stores, { access, agentId, query: {} })
    await Promise.race([waits.promise, request])
    resumed.resolve()
    expect((await request).items.map(({ name }) => name)).toEqual(['daily'])
    await other
  })

  it('writes nothing after its minute', async () => {
    const agent = declaringAgent(table)
    const first = await agent.publish({})
    await agent.publish({ late: '@daily' })
    const slow = afterList(agent, async () => {
      agent.wait(61_000)
      await agent.promote(first)
      await agent.sync()
    })
    await expect(agent.sync(slow)).rejects.toThrow()
    expect([await agent.schedules(), await agent.timers()]).toEqual([{}, []])
  })

  /** Each write once: before it takes effect, or afterwards. */
  it.each(['before', 'after'] as const)('is repeated when a write fails %s it took effect', async (when) => {
    let failures = 0
    for (let failing = 0; ; failing++) {
      const { agent, first } = await aSynced({ a: '@daily', b: '@daily' })
      await agent.put('a', { enabled: false })
      let writes = 0
      const write =
        <Name extends 'put' | 'update' | 'delete' | 'writeMany'>(name: Name) =>
        async (...args: Parameters<Table[Name]>) => {
          const mustFail = writes++ === failing
          if (mustFail) failures++
          if (mustFail && when === 'before') throw new Error('fails')
          const result = await (table[name] as (...all: unknown[]) => Promise<unknown>)(...args)
          if (mustFail) throw new Error('fails')
          return result
        }
      const faulty = {
        ...{ ...table, put: write('put'), update: write('update') },
        ...{ delete: write('delete'), writeMany: write('writeMany') },
      } as Table
      const attempt = (step: () => Promise<unknown>) => step().catch(() => undefined)
      await attempt(() => agent.publish({ a: '@weekly', c: '@weekly' }, { on: faulty }))
      await attempt(() => agent.sync(agent.storesOn(faulty)))
      await attempt(() => agent.promote(first, faulty))
      await attempt(() => agent.sync(agent.storesOn(faulty)))
      agent.wait(61_000)
      if ((await agent.timers()).length > 0) await agent.sync()
      const current = await agent.current()
      expect(await agent.schedules(), `write ${failing}`).toEqual({ ...current, a: `${current.a}!` })
      expect(await agent.timers()).toEqual([])
      if (writes <= failing) break
    }
    expect(failures).toBeGreaterThan(12)
  })
})
