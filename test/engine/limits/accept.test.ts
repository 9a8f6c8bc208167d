import { describe, expect, it } from 'vitest'
import { Unavailable } from '../../../lib/core/errors.ts'
import type { Execution } from '../../../lib/core/execution.ts'
import { LimitExceeded, TooManyRequests } from '../../../lib/core/limit-errors.ts'
import { DEADLINE_MS } from '../../../lib/core/limits.ts'
import type { SubjectKey } from '../../../lib/core/ports/usage.ts'
import { NO_LIMITS, type Spending, type UsageLimits } from '../../../lib/core/usage-limits.ts'
import { forgetLimits, limitsOf } from '../../../lib/limits/limits.ts'
import { system } from '../../../lib/system.ts'
import { LimitedService } from '../../support/limits/limited-service.ts'
import { ownTable } from '../../support/tables/memory-table.ts'
import { FaultyWorker } from '../../support/waiting/faulty-worker.ts'

const table = await ownTable()

const isRefused = (result: Execution | LimitExceeded): result is LimitExceeded =>
  result instanceof LimitExceeded
const limitOf = (result: Execution | LimitExceeded) => (isRefused(result) ? result.reached.limit : 'accepted')

/** An organization whose tenant acme has these limits. */
async function limited(limits: Partial<UsageLimits>): Promise<LimitedService> {
  const service = new LimitedService(table)
  await service.limit(service.tenant(), limits)
  return service
}

/** The ids of so many runs, accepted one after the other. */
async function submitted(service: LimitedService, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let i = 0; i < count; i++) {
    ids.push((await service.submit()).id)
    service.pass(1)
  }
  return ids
}

/** An engine whose database does not answer to the write of an execution; `write`: what it does with it before. */
function unavailable(
  service: LimitedService,
  write: (create: () => Promise<boolean>) => unknown = () => null,
) {
  const engine = service.engine()
  const create: typeof engine.executions.create = async (params) => {
    await write(() => engine.executions.create(params))
    throw new Unavailable(new Error('DynamoDB does not answer.'))
  }
  return { ...engine, executions: { ...engine.executions, create } }
}

const full = async () => {
  throw new TooManyRequests(1_000)
}

describe('maxOpenExecutions', () => {
  it('refuses what is above it until a run ends', async () => {
    const service = await limited({ maxOpenExecutions: 2 })
    const [first] = [await service.submit(), await service.submit({ isSync: true })]
    await service.deliver()
    const refused = await service.trySubmit({})
    expect(refused).toMatchObject({
      status: 429,
      code: 'LimitExceeded',
      headers: { 'Retry-After': '5' },
      members: { tenantId: 'acme', limit: 'maxOpenExecutions', max: 2 },
      message:
        'The tenant acme has as many executions in progress as it may have: 2 (maxOpenExecutions). Retry in 5 s.',
    })
    expect(limitOf(await service.trySubmit({ tenantId: 'other' }))).toBe('accepted')
    expect(limitOf(await service.trySubmit({ tenantId: null }))).toBe('accepted')
    await service.end(first?.id ?? '')
    expect(limitOf(await service.trySubmit({}))).toBe('accepted')
    expect(limitOf(await service.trySubmit({}))).toBe('maxOpenExecutions')
  })

  it('counts the repetition of a request once, and answers it at the limit', async () => {
    const service = await limited({ maxOpenExecutions: 1, maxRunsPerMinute: 1 })
    const runs = await Promise.all([1, 2, 3].map(() => service.trySubmit({ key: 'once' })))
    const accepted = runs.filter((run) => !isRefused(run)) as Execution[]
    expect(new Set(accepted.map(({ id }) => id)).size).toBe(1)
    expect(await service.submit({ key: 'once' })).toMatchObject({ id: accepted[0]?.id })
    expect(await service.slots(service.tenant())).toBe(1)
    expect(limitOf(await service.trySubmit({ key: 'another' }))).toBe('maxRunsPerMinute')
  })

  it('gives its slot back if the organization has too many open executions', async () => {
    const service = await limited({ maxOpenExecutions: 1, maxRunsPerMinute: 1 })
    await expect(service.submit({}, { ...service.engine(), admit: full })).rejects.toThrow(TooManyRequests)
    expect(await service.slots(service.tenant())).toBe(0)
    expect(limitOf(await service.trySubmit({}))).toBe('accepted')
  })
})

describe('a request whose record cannot be written', () => {
  it.each([
    ['without a key', {}],
    ['with a key', { key: 'once' }],
    ['that is synchronous', { isSync: true }],
  ])('gives its slot and its count back: one %s', async (_, submission) => {
    const service = await limited({ maxOpenExecutions: 1, maxRunsPerMinute: 1 })
    await expect(service.submit(submission, unavailable(service))).rejects.toThrow(Unavailable)
    expect(await service.slots(service.tenant())).toBe(0)
    expect(limitOf(await service.trySubmit(submission))).toBe('accepted')
    expect(await service.slots(service.tenant())).toBe(1)
  })

  it('keeps its slot if the record was written and only the response was lost', async () => {
    const service = await limited({ maxOpenExecutions: 1 })
    const engine = unavailable(service, (create) => create())
    await expect(service.submit({ key: 'once' }, engine)).rejects.toThrow(Unavailable)
    expect(limitOf(await service.trySubmit({}))).toBe('maxOpenExecutions')
    expect(limitOf(await service.trySubmit({ key: 'once' }))).toBe('accepted')
    expect(await service.takeOver()).toHaveLength(1)
  })

  it('never gets it after all: a late write finds that the slot is free', async () => {
    const service = await limited({ maxOpenExecutions: 1 })
    const late: (() => Promise<boolean>)[] = []
    const engine = unavailable(service, (create) => late.push(create))
    await expect(service.submit({}, engine)).rejects.toThrow(Unavailable)
    expect(limitOf(await service.trySubmit({}))).toBe('accepted')
    expect(await late[0]?.()).toBe(false)
    expect(await service.takeOver()).toHaveLength(1)
  })
})

it('limits that change while they are read fail no run that waits for them', async () => {
  const owners = { organizationId: system.newId(), tenantId: 'acme', agentId: system.newId() }
  const change = () => forgetLimits(owners.organizationId, { kind: 'tenant', id: 'acme' })
  const limits = { ...NO_LIMITS, maxOpenExecutions: 1, updatedAt: '2026-11-25T10:00:00.000Z' }
  const store = {
    async hasAny() {
      change()
      return true
    },
    async get({ subject }: SubjectKey) {
      change()
      return subject.kind === 'tenant' ? limits : null
    },
  }
  expect(await limitsOf(store, owners)).toEqual([{ subject: { kind: 'tenant', id: 'acme' }, limits }])
})

it('a repeated request that is refused leaves the slot to the first one, which has no record yet', async () => {
  const service = await limited({ maxOpenExecutions: 1 })
  const engine = service.engine()
  const repeat = async () => {
    service.pass(1)
    await expect(service.submit({ key: 'once' }, { ...engine, admit: full })).rejects.toThrow(TooManyRequests)
  }
  const admit: typeof engine.admit = async (_, record) => {
    await repeat()
    return record()
  }
  await service.submit({ key: 'once' }, { ...engine, admit })
  expect(await service.slots(service.tenant())).toBe(1)
  expect(limitOf(await service.trySubmit({}))).toBe('maxOpenExecutions')
})

it('maxRunsPerMinute begins again with each minute of the clock', async () => {
  const service = await limited({ maxRunsPerMinute: 2 })
  service.pass(60_000 - (service.system.now() % 60_000) + 100)
  await service.submit()
  service.pass(20_000)
  await service.submit()
  const refused = await service.trySubmit({})
  expect(refused).toMatchObject({ members: { limit: 'maxRunsPerMinute', max: 2 } })
  const retryAfter = Number((refused as LimitExceeded).headers['Retry-After'])
  expect(retryAfter).toBeGreaterThan(30)
  expect(retryAfter).toBeLessThanOrEqual(40)
  service.pass(retryAfter * 1_000)
  expect(limitOf(await service.trySubmit({}))).toBe('accepted')
})

describe('maxCostUsd', () => {
  it('refuses runs until the period ends', async () => {
    const service = await limited({ maxCostUsd: { day: 1, month: 5 } })
    await service.spend(service.tenant(), 0.999_999_999)
    await service.submit()
    await service.spend(service.tenant(), 0.000_000_001)
    const refused = await service.trySubmit({})
    expect(refused).toMatchObject({
      members: { tenantId: 'acme', limit: 'maxCostUsd.day', max: 1 },
      message: expect.stringContaining('has used up its limit of 1 US dollars per day (maxCostUsd.day).'),
    })
    const seconds = Number((refused as LimitExceeded).headers['Retry-After'])
    service.pass(seconds * 1_000)
    expect((service.system.now() / 1_000) % 86_400).toBeLessThan(60)
    expect(limitOf(await service.trySubmit({}))).not.toBe('maxCostUsd.day')
  })

  it.each([
    ['tenant', 'agent'],
    ['agent', 'tenant'],
  ] as const)(
    'of the %s for a day and of the %s for a month: the one is named that ends later',
    async (day, month) => {
      const service = new LimitedService(table)
      const subjects = { tenant: service.tenant(), agent: service.agent() }
      await service.limit(subjects[day], { maxCostUsd: { day: 1, month: null } })
      await service.limit(subjects[month], { maxCostUsd: { day: null, month: 1 } })
      for (const subject of Object.values(subjects)) await service.spend(subject, 1)
      const refused = await service.trySubmit({})
      expect(refused).toMatchObject({ reached: { subject: subjects[month], limit: 'maxCostUsd.month' } })
    },
  )
})

it.each([null, 0.5])('a limit that was used up when it was set is told of with warnAt %j', async (warnAt) => {
  const service = new LimitedService(table)
  const { organizationId } = service
  const subject = service.tenant()
  const maxCostUsd = { day: null, month: 1 }
  await service.spend(subject, 2)
  await service.limit(subject, { maxCostUsd, warnAt })
  const told: Spending[] = []
  const warnAtLimit = async (spending: Spending) => void told.push(spending)
  expect(limitOf(await service.trySubmit({}, { ...service.engine(), warnAtLimit }))).toBe('maxCostUsd.month')
  const spending = { organizationId, subject, limits: { maxCostUsd, warnAt }, spent: { month: 2 } }
  expect(told).toMatchObject(warnAt === null ? [] : [spending])
})

describe('queueWhenFull', () => {
  const limits = { maxOpenExecutions: 1, queueWhenFull: true }

  it('does not refuse a run because of the entry of one that has ended', async () => {
    const service = await limited(limits)
    const { id: executionId, organizationId, createdAt } = await service.submit()
    await service.deliver()
    await service.end(executionId)
    const run = { organizationId, executionId, tenantId: 'acme', createdAt }
    await service.stores.limits.enterQueue({ subject: service.tenant(), run })
    expect(limitOf(await service.trySubmit({ isSync: true }))).toBe('accepted')
    expect(await service.queued(service.tenant())).toEqual([])
  })

  it('forgets a run that has begun without a slot because nothing limited it', async () => {
    const service = await limited(limits)
    const [, id] = await submitted(service, 2)
    await service.deliver()
    await service.removeLimits(service.tenant())
    await service.deliverAfter(600_000)
    expect(service.started).toContain(id)
    expect(await service.queued(service.tenant())).toEqual([])
  })

  it('lets asynchronous runs wait for their turn, in the order of acceptance', async () => {
    const service = await limited(limits)
    const ids = await submitted(service, 5)
    await service.deliver()
    expect(service.started).toEqual(ids.slice(0, 1))
    expect(await service.queued(service.tenant())).toEqual(ids.slice(1))
    for (const id of ids) {
      await service.end(id)
      await service.deliver()
    }
    expect(service.started).toEqual(ids)
    expect(await service.queued(service.tenant())).toEqual([])
    expect(await service.slots(service.tenant())).toBe(0)
  })

  it('shows what a run waits for, whose time and deadline begin with its start', async () => {
    const service = await limited(limits)
    const [first, second] = [await service.submit(), await service.submit()]
    const wait = { kind: 'limit', name: 'maxOpenExecutions', since: second.createdAt, until: null }
    expect(await service.read(second.id)).toMatchObject({
      status: 'IN_PROGRESS',
      startedAt: null,
      suspension: { waits: [wait] },
    })
    await service.deliver()
    service.pass(3 * DEADLINE_MS)
    await service.end(first.id)
    await service.deliver()
    const { startedAt, deadlineAt, waitedMs, attempts, suspension } = await service.read(second.id)
    expect({ waitedMs, attempts, suspension }).toEqual({ waitedMs: 0, attempts: 1, suspension: null })
    expect(Date.parse(startedAt ?? '') - Date.parse(second.createdAt)).toBeGreaterThanOrEqual(3 * DEADLINE_MS)
    expect(deadlineAt - Date.parse(startedAt ?? '')).toBeGreaterThan(DEADLINE_MS - 60_000)
  })

  it('refuses a synchronous run, and lets none overtake those that wait', async () => {
    const service = await limited(limits)
    const [executionId = '', second] = await submitted(service, 2)
    expect(limitOf(await service.trySubmit({ isSync: true }))).toBe('maxOpenExecutions')
    await service.deliver()
    const { organizationId } = service
    // As if the worker had died before it started the next one.
    await service.stores.limits.releaseSlot({ organizationId, subject: service.tenant(), executionId })
    expect(limitOf(await service.trySubmit({ isSync: true }))).toBe('maxOpenExecutions')
    await service.submit()
    await service.deliver()
    expect(service.started).toEqual([executionId, second])
  })

  it('starts all that wait when the limit is taken away, and further ones when it is raised', async () => {
    const service = await limited(limits)
    const ids = await submitted(service, 6)
    await service.deliver()
    await service.limit(service.tenant(), { ...limits, maxOpenExecutions: 3 })
    await service.deliverAfter(120_000)
    expect(service.started).toHaveLength(3)
    await service.removeLimits(service.tenant())
    await service.deliverAfter(600_000)
    expect(new Set(service.started)).toEqual(new Set(ids))
  })

  it('refuses a run if the organization may have no further execution that waits', async () => {
    const service = await limited(limits)
    await service.submit()
    const engine = { ...service.engine(), maySuspend: async () => false }
    expect(limitOf(await service.trySubmit({}, engine))).toBe('maxOpenExecutions')
  })

  it('ends a run that has waited for as long as it may', async () => {
    const service = await limited(limits)
    const [, waiting = ''] = await submitted(service, 2)
    await service.deliver()
    await service.deliverAfter(30 * 86_400_000)
    expect(await service.read(waiting)).toMatchObject({ error: { code: 'WaitLimitExceeded' } })
    expect(await service.queued(service.tenant())).toEqual([])
  })
})

describe('an organization without limits', () => {
  /** The methods of the table that each of two runs needs, from its acceptance to its end. */
  async function requestsOf(service: LimitedService) {
    const requests: string[] = []
    const next = (method: string) => requests.push(method)
    const counting = new FaultyWorker({ next, before: async () => undefined, faults: [] })
    const engine = service.engine(counting.tableOf(table))
    const ofRuns: string[][] = []
    for (let run = 0; run < 2; run++) {
      const { id } = await service.submit({ isSync: true }, engine)
      await service.end(id, engine)
      ofRuns.push(requests.splice(0))
    }
    return ofRuns
  }

  it('needs the same requests as before, but for one in 30 s', async () => {
    expect(await requestsOf(new LimitedService(table))).toEqual([
      ['query', 'put', 'update'],
      ['put', 'update'],
    ])
  })

  it('pays for no limits of others', async () => {
    const service = new LimitedService(table)
    await service.limit(service.tenant('other'), { maxOpenExecutions: 1, maxRunsPerMinute: 1 })
    expect(await requestsOf(service)).toEqual([
      ['query', 'get', 'get', 'put', 'update'],
      ['put', 'update'],
    ])
  })
})
