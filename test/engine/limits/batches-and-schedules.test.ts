import { beforeAll, describe, expect, inject, it } from 'vitest'
import { UNLIMITED } from '../../../lib/core/access.ts'
import type { LimitSubject, UsageLimits } from '../../../lib/core/usage-limits.ts'
import { openTable } from '../../../lib/dynamodb/table/table.ts'
import { cancelBatch } from '../../../lib/engine/batches/change.ts'
import { system } from '../../../lib/system.ts'
import { provisionTable } from '../../../local/emulators/provision.ts'
import { BatchRun } from '../../support/batches/batch-run.ts'
import { aModelAgent } from '../../support/engine/model-agent.ts'
import { NO_LIMITS } from '../../support/limits/limited-service.ts'
import { MINUTE, ScheduleService } from '../../support/schedules/schedule-service.ts'

const name = `limits-batches-${system.newId()}`
const table = openTable({ TABLE_NAME: name, DYNAMODB_ENDPOINT: inject('dynamodb') })
beforeAll(() => provisionTable(inject('dynamodb'), name))

type Stores = BatchRun['stores']
type Owner = { organizationId: string; agentId: string }

const agentOf = ({ agentId: id }: Owner): LimitSubject => ({ kind: 'agent', id })
const limit = ({ limits: store }: Stores, owner: Owner, limits: Partial<UsageLimits>) =>
  store.put({
    organizationId: owner.organizationId,
    subject: agentOf(owner),
    limits: { ...NO_LIMITS, ...limits, updatedAt: new Date().toISOString() },
  })

async function aLimitedBatch(limits: Partial<UsageLimits>, { lines = 10, lanes = 4 } = {}) {
  const version = await aModelAgent({}, { table })
  const run = await BatchRun.create({ table, version, lines, lanes })
  await limit(run.stores, version, limits)
  const slot = { organizationId: version.organizationId, subject: agentOf(version) }
  const queued = () => run.stores.limits.listQueue({ ...slot, limit: 100 })
  return { run, version, queued, slots: () => run.stores.limits.countSlots(slot) }
}

describe('lines of a batch', () => {
  it('wait while maxOpenExecutions permits no more of them', async () => {
    const { run, slots } = await aLimitedBatch({ maxOpenExecutions: 2 })
    expect(await run.findProblems()).toEqual([])
    expect(run.maxOpen).toBe(2)
    expect(await slots()).toBe(0)
  })

  it('wait for the next minute at maxRunsPerMinute', async () => {
    const { run } = await aLimitedBatch({ maxRunsPerMinute: 3 })
    const startedAt = run.time()
    expect(await run.findProblems()).toEqual([])
    expect(run.time() - startedAt).toBeGreaterThan(2 * MINUTE)
    const executions = await run.executions()
    const minutes = executions.map((each) => each?.createdAt.slice(0, 16) ?? '')
    for (const minute of minutes)
      expect(minutes.filter((each) => each === minute).length).toBeLessThanOrEqual(3)
  })

  it('wait for their turn with queueWhenFull', async () => {
    const { run, queued, slots } = await aLimitedBatch({ maxOpenExecutions: 1, queueWhenFull: true })
    expect(await run.findProblems()).toEqual([])
    expect(await queued()).toEqual([])
    expect(await slots()).toBe(0)
  })

  it('leave the queue when the batch is cancelled', async () => {
    const limits = { maxOpenExecutions: 1, queueWhenFull: true }
    const { run, version, queued, slots } = await aLimitedBatch(limits)
    for (let line = 0; line < 10; line++) run.hung.add(line)
    await run.drain()
    expect((await queued()).length).toBe(3)
    const { organizationId } = version
    const access = { ...UNLIMITED, organizationId, tokenId: organizationId }
    const stores = {
      ...run.stores,
      queue: run.newWorker().engine.queue,
      system: { ...system, now: run.time },
    }
    await cancelBatch(stores, { access, batchId: run.batch.id })
    await run.drain()
    expect((await run.stored())?.status).toBe('ENDED')
    expect(await queued()).toEqual([])
    expect(await slots()).toBe(0)
  })
})

describe('a firing', () => {
  async function aLimitedSchedule(limits: Partial<UsageLimits>) {
    const service = new ScheduleService()
    const schedule = await service.create()
    await limit(service.stores, schedule, limits)
    return { service, schedule }
  }
  const take = ({ stores }: ScheduleService, { organizationId, ...owner }: Owner, executionId: string) =>
    stores.limits.takeSlot({
      organizationId,
      subject: agentOf({ organizationId, ...owner }),
      max: 1,
      executionId,
      now: Date.now() + 365 * 86_400_000 * 15,
    })

  it('waits while maxOpenExecutions permits no more', async () => {
    const { service, schedule } = await aLimitedSchedule({ maxOpenExecutions: 1 })
    const executionId = system.newId()
    await take(service, schedule, executionId)
    await service.run(5 * MINUTE)
    expect(await service.firings(schedule)).toEqual([])
    const { organizationId } = schedule
    await service.stores.limits.releaseSlot({ organizationId, subject: agentOf(schedule), executionId })
    await service.run(2 * MINUTE)
    expect(await service.firings(schedule)).toEqual(['12:00 STARTED'])
  })

  it('is queued with queueWhenFull', async () => {
    const { service, schedule } = await aLimitedSchedule({ maxOpenExecutions: 1, queueWhenFull: true })
    await take(service, schedule, system.newId())
    await service.run(2 * MINUTE)
    expect(await service.firings(schedule)).toEqual(['12:00 STARTED'])
    const [execution] = await service.executions(schedule)
    expect(execution?.suspension?.waits).toMatchObject([{ kind: 'limit' }])
  })

  it('fails if another limit refuses it', async () => {
    const { service, schedule } = await aLimitedSchedule({ maxCostUsd: { day: 1, month: null } })
    const { organizationId } = schedule
    await service.stores.limits.addSpent({
      organizationId,
      subject: agentOf(schedule),
      at: service.now,
      costUsd: 1,
    })
    await service.run(2 * MINUTE)
    expect(await service.read(schedule)).toMatchObject({
      firings: [{ status: 'FAILED', code: 'LimitExceeded' }],
    })
  })
})
