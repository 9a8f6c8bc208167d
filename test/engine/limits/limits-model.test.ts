import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LimitExceeded } from '../../../lib/core/limit-errors.ts'
import type { LimitSubject } from '../../../lib/core/usage-limits.ts'
import { system } from '../../../lib/system.ts'
import { propertyRuns } from '../../support/data/property-runs.ts'
import { LimitedService } from '../../support/limits/limited-service.ts'
import { LimitsModel, type ModelLimits } from '../../support/limits/limits-model.ts'
import { ownTable } from '../../support/tables/memory-table.ts'

const table = await ownTable()

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

describe('limits', () => {
  it('agree with a model, whatever is accepted, refused, repeated, cached, queued, ended and cancelled', async () => {
    await fc.assert(
      fc.asyncProperty(
        allLimits,
        fc.array(command, { minLength: 5, maxLength: 40 }),
        async (given, commands) => {
          const { service, model, subjects, agentOf } = await aService(given)
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
})
