import fc from 'fast-check'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { LimitExceeded } from '../../../lib/core/errors.ts'
import { isFinal } from '../../../lib/core/execution.ts'
import type { LimitSubject } from '../../../lib/core/usage-limits.ts'
import { openTable } from '../../../lib/dynamodb/table/table.ts'
import { system } from '../../../lib/system.ts'
import { provisionTable } from '../../../local/emulators/provision.ts'
import { propertyRuns } from '../../support/data/property-runs.ts'
import { LimitedService } from '../../support/limits/limited-service.ts'
import { LimitsModel, type ModelLimits } from '../../support/limits/limits-model.ts'
import { FAULT_KINDS, FaultyWorker } from '../../support/waiting/faulty-worker.ts'

const TABLE_NAME = `limits-model-${system.newId()}`
const table = openTable({ TABLE_NAME, DYNAMODB_ENDPOINT: inject('dynamodb') })
beforeAll(() => provisionTable(inject('dynamodb'), TABLE_NAME))

const TENANTS = ['acme', 'other', null] as const
const MINUTE_MS = 60_000

const limits: fc.Arbitrary<ModelLimits> = fc.record({
  maxOpenExecutions: fc.option(fc.integer({ min: 1, max: 3 })),
  maxRunsPerMinute: fc.option(fc.integer({ min: 1, max: 6 }), { freq: 2 }),
  maxCostUsd: fc.option(fc.integer({ min: 1, max: 20 })),
  queueWhenFull: fc.boolean(),
})

/** Of some tenants and agents. */
const allLimits = fc.record({
  tenants: fc.tuple(fc.option(limits, { freq: 4 }), fc.option(limits)),
  agents: fc.tuple(fc.option(limits), fc.constant(null)),
})

const submission = fc.record({
  kind: fc.constant('submit' as const),
  tenant: fc.constantFrom(0, 0, 1, 2),
  agent: fc.constantFrom(0, 0, 1),
  isSync: fc.boolean(),
  /** Repeats an earlier request, if there is one with this key. */
  key: fc.option(fc.integer({ min: 0, max: 3 }), { freq: 4 }),
  isCached: fc.boolean(),
})
const which = fc.nat({ max: 20 })
const command = fc.oneof(
  { arbitrary: submission, weight: 8 },
  { arbitrary: fc.record({ kind: fc.constant('end' as const), which }), weight: 4 },
  { arbitrary: fc.record({ kind: fc.constant('cancel' as const), which }), weight: 1 },
  { arbitrary: fc.record({ kind: fc.constant('spend' as const), tenant: fc.constantFrom(0, 1) }), weight: 1 },
  { arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.constantFrom(1, 30_000) }), weight: 1 },
)
type Command = typeof command extends fc.Arbitrary<infer C> ? C : never
type AllLimits = typeof allLimits extends fc.Arbitrary<infer A> ? A : never

const tenantOf = (index: number) => TENANTS[index] ?? null

async function aService(given: AllLimits) {
  const service = new LimitedService(table)
  const agents = [service.agentId, system.newId()]
  const agentOf = (index: number) => agents[index] ?? ''
  const model = new LimitsModel()
  const subjects: LimitSubject[] = []
  const set = async (subject: LimitSubject, each: ModelLimits | null) => {
    if (!each) return
    model.setLimits(`${subject.kind} ${subject.id}`, each)
    subjects.push(subject)
    await service.limit(subject, { ...each, maxCostUsd: { day: each.maxCostUsd, month: null } })
  }
  for (const [index, each] of given.tenants.entries()) await set(service.tenant(TENANTS[index] ?? ''), each)
  for (const [index, each] of given.agents.entries()) await set(service.agent(agentOf(index)), each)
  return { service, model, subjects, agentOf }
}

const ownersOf = (tenantId: string | null, agentId: string) => [
  ...(tenantId === null ? [] : [`tenant ${tenantId}`]),
  `agent ${agentId}`,
]

/** No more than its limit are in progress. */
async function expectRoom({ service, model }: Awaited<ReturnType<typeof aService>>, ids: Iterable<string>) {
  const executions = await Promise.all([...ids].map((id) => service.read(id)))
  for (const [name, { limits: each }] of model.owners) {
    const open = executions.filter(
      ({ tenantId, agentId, suspension, cached, ...execution }) =>
        !cached && !isFinal(execution) && !suspension && ownersOf(tenantId, agentId).includes(name),
    )
    expect(open.length, name).toBeLessThanOrEqual(each.maxOpenExecutions ?? Number.POSITIVE_INFINITY)
  }
}

describe('limits', { timeout: 600_000 }, () => {
  it('agree with a model, whatever is accepted, refused, repeated, cached, queued, ended and cancelled', async () => {
    await fc.assert(
      fc.asyncProperty(
        allLimits,
        fc.array(command, { minLength: 5, maxLength: 40 }),
        async (given, commands) => {
          const world = await aService(given)
          const { service, model, subjects, agentOf } = world
          service.pass(MINUTE_MS - (service.system.now() % MINUTE_MS))
          const accepted = new Map<string, string>()
          const cached = system.newId()
          await service.stores.cache.reserve({
            key: cached,
            executionId: cached,
            replaces: null,
            now: Date.now(),
          })
          await service.stores.cache.store({ key: cached, executionId: cached, output: {}, expiresAt: null })
          const submit = async ({ tenant, agent, isSync, key, isCached }: Command & { kind: 'submit' }) => {
            const [tenantId, agentId] = [tenantOf(tenant), agentOf(agent)]
            const owners = ownersOf(tenantId, agentId)
            const name = key === null ? undefined : `${key} ${agentId}`
            const known = name === undefined ? undefined : accepted.get(name)
            const hit = isCached && name === undefined
            const minute = Math.floor(service.system.now() / MINUTE_MS)
            const expected = known || hit ? null : model.accept(owners, { minute, isSync })
            const submitted = {
              tenantId,
              agentId,
              isSync,
              ...(name && { key: name }),
              ...(hit && { cacheKey: cached }),
            }
            const result = await service.trySubmit(submitted)
            if (result instanceof LimitExceeded) return expect(result.reached.limit).toBe(expected)
            expect(expected).toBeNull()
            if (known !== undefined) return expect(result.id).toBe(known)
            if (name !== undefined) accepted.set(name, result.id)
            if (!hit) model.add(result.id, owners)
          }
          for (const each of commands) {
            // No two runs are accepted in the same millisecond.
            service.pass(1)
            if (each.kind === 'submit') await submit(each)
            if (each.kind === 'pass') service.pass(each.ms)
            if (each.kind === 'spend') {
              const id = TENANTS[each.tenant] ?? ''
              model.spend(`tenant ${id}`, 3)
              const { organizationId } = service
              const at = service.system.now()
              await service.stores.limits.addSpent({
                organizationId,
                subject: service.tenant(id),
                at,
                costUsd: 3,
              })
            }
            if (each.kind === 'end' || each.kind === 'cancel') {
              const candidates = each.kind === 'end' ? model.running : model.open
              const id = candidates[each.which % Math.max(candidates.length, 1)]
              if (id === undefined) continue
              await service[each.kind](id)
              model.end(id)
            }
            await service.deliver()
            expect([...service.running.keys()].sort()).toEqual(model.running.sort())
          }
          await expectRoom(world, model.runs.keys())
          for (const subject of subjects) {
            const owner = model.owners.get(`${subject.kind} ${subject.id}`)
            expect(await service.slots(subject)).toBe(owner?.holders.size)
            expect(await service.queued(subject)).toEqual(owner?.queue)
          }
          while (model.running.length > 0) {
            const [id = ''] = model.running
            await service.end(id)
            model.end(id)
            await service.deliver()
          }
          expect(service.running.size).toBe(0)
          expect(model.open).toEqual([])
        },
      ),
      { numRuns: propertyRuns(100) },
    )
  })

  it('are never exceeded, and let everything run once, whatever processes die at', async () => {
    const death = fc.record({ at: fc.nat({ max: 12 }), kind: fc.constantFrom(...FAULT_KINDS) })
    const faulty = fc.tuple(command, fc.option(death))
    await fc.assert(
      fc.asyncProperty(
        allLimits,
        fc.array(faulty, { minLength: 5, maxLength: 25 }),
        async (given, commands) => {
          const world = await aService(given)
          const { service, subjects, agentOf } = world
          const ids = new Set<string>()
          const engineOf = (fault: { at: number; kind: (typeof FAULT_KINDS)[number] } | null) => {
            let requests = 0
            const worker = new FaultyWorker({
              next: () => requests++,
              before: async () => undefined,
              faults: fault ? [fault] : [],
            })
            const queue = { ...service.queue, send: worker.wrap('send', service.queue.send) }
            return { ...service.engine(worker.tableOf(table)), queue }
          }
          for (const [each, fault] of commands) {
            service.pass(1)
            const engine = engineOf(fault)
            const dies = (error: unknown) => {
              if (!fault) throw error
            }
            if (each.kind === 'submit') {
              const { tenant, agent, isSync } = each
              const submitted = { tenantId: tenantOf(tenant), agentId: agentOf(agent), isSync }
              const result = await service.trySubmit(submitted, engine).catch(dies)
              if (result && !(result instanceof LimitExceeded)) ids.add(result.id)
            }
            if (each.kind === 'pass') await service.deliver(engine).catch(dies)
            if (each.kind === 'end' || each.kind === 'cancel') {
              const candidates = each.kind === 'end' ? [...service.running.keys()] : [...ids]
              const id = candidates[each.which % Math.max(candidates.length, 1)]
              if (id !== undefined) await service[each.kind](id, engine).catch(dies)
            }
            if (fault && fault.at % 3 === 0) service.messages = []
            if (each.kind !== 'spend') await service.deliver()
            for (const id of await service.takeOver()) ids.add(id)
            await expectRoom(world, ids)
          }
          expect(await service.settle([...ids])).toEqual([])
          expect(new Set(service.started).size).toBe(service.started.length)
          for (const id of ids) {
            const { error, cached } = await service.read(id)
            const hasRun = service.started.includes(id)
            expect(hasRun || cached || error?.code === 'Cancelled', id).toBe(true)
          }
          for (const subject of subjects) expect(await service.queued(subject)).toEqual([])
        },
      ),
      { numRuns: propertyRuns(100) },
    )
  })
})
