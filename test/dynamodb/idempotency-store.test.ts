import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CANCELLED } from '../../lib/core/execution.ts'
import { openStores } from '../../lib/dynamodb/open-stores.ts'
import { system } from '../../lib/system.ts'
import { propertyRuns } from '../support/data/property-runs.ts'
import { anExecution } from '../support/engine/executions.ts'
import { EMULATORS, race, tableOn } from '../support/tables/emulators.ts'

const NOW = 1_800_000_000_000

const aRequest = () => ({
  agentId: system.newId(),
  key: 'order 1',
  executionId: system.newId(),
  requestHash: 'a',
  now: NOW,
  expiresAt: NOW + 1_000,
})
type Request = ReturnType<typeof aRequest>

describe.each(EMULATORS)('idempotencyStore on %s', (emulator) => {
  const { idempotency: store, executions } = openStores(tableOn(emulator))
  /** The same key again, in another request. */
  const repeated = (request: Request, overrides: Partial<Request> = {}) =>
    store.reserve({ ...request, executionId: system.newId(), requestHash: 'b', ...overrides })

  it('binds a free key to the execution', async () => {
    const request = aRequest()
    const { executionId, requestHash } = request
    expect(await store.reserve(request)).toEqual({ id: expect.any(String), executionId, requestHash })
  })

  it('returns what the key is bound to', async () => {
    const request = aRequest()
    const reservation = await store.reserve(request)
    expect(await repeated(request)).toEqual(reservation)
    expect(await repeated(request, { now: NOW + 999 })).toEqual(reservation)
    expect(await store.reserve(request)).toEqual(reservation)
  })

  it('binds the key again when it has expired', async () => {
    const request = aRequest()
    const { id } = await store.reserve(request)
    const next = { executionId: system.newId(), requestHash: 'c' }
    const later = { now: NOW + 1_000, expiresAt: NOW + 2_000 }
    expect(await repeated(request, { ...next, ...later })).toEqual({ id, ...next })
    expect(await repeated(request, later)).toEqual({ id, ...next })
  })

  it('has a reservation for each agent and key', async () => {
    const request = aRequest()
    const others = [
      { ...aRequest(), key: request.key },
      { ...aRequest(), agentId: request.agentId, key: 'order 2' },
    ]
    const reservations = await Promise.all([request, ...others].map((each) => store.reserve(each)))
    expect(new Set(reservations.map(({ id }) => id)).size).toBe(3)
    expect(new Set(reservations.map(({ executionId }) => executionId)).size).toBe(3)
  })

  it('takes keys of any characters, and keeps them apart', async () => {
    const key = fc.string({ unit: 'binary', minLength: 1, maxLength: 255 })
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(key, { minLength: 2, maxLength: 4 }), async (keys) => {
        const { agentId } = aRequest()
        const requests = keys.map((key) => ({ ...aRequest(), agentId, key }))
        const first = await Promise.all(requests.map((request) => store.reserve(request)))
        expect(first.map(({ executionId }) => executionId)).toEqual(
          requests.map(({ executionId }) => executionId),
        )
        expect(await Promise.all(requests.map((request) => repeated(request)))).toEqual(first)
      }),
      { numRuns: propertyRuns(100) },
    )
  })

  it('binds a key to one of many executions', async () => {
    const request = aRequest()
    const reservations = await race((racer) => repeated(request, { requestHash: String(racer) }))
    expect(reservations).toEqual(Array(reservations.length).fill(reservations[0]))
  })

  it('binds an expired key to one of many executions', async () => {
    const request = aRequest()
    const { executionId } = await store.reserve(request)
    const later = { now: NOW + 1_000, expiresAt: NOW + 2_000 }
    const reservations = await race((racer) => repeated(request, { ...later, requestHash: String(racer) }))
    expect(reservations).toEqual(Array(reservations.length).fill(reservations[0]))
    expect(reservations[0]?.executionId).not.toBe(executionId)
  })

  it('frees the key when the execution is deleted', async () => {
    const request = aRequest()
    const { id } = await store.reserve(request)
    const execution = anExecution({ id: request.executionId, idempotencyId: id })
    await executions.create({ execution })
    await executions.end({ ...execution, error: CANCELLED, finishedAt: new Date().toISOString() })
    expect(await executions.delete({ ...execution, now: Date.now() })).toBe('deleted')
    const next = system.newId()
    expect(await repeated(request, { executionId: next })).toMatchObject({ executionId: next })
  })

  it('keeps a key that was bound to another execution after it had expired', async () => {
    const request = aRequest()
    const { id } = await store.reserve(request)
    const execution = anExecution({ id: request.executionId, idempotencyId: id })
    await executions.create({ execution })
    await executions.end({ ...execution, error: CANCELLED, finishedAt: new Date().toISOString() })
    const next = await repeated(request, {
      executionId: system.newId(),
      now: NOW + 1_000,
      expiresAt: NOW + 9_000,
    })
    await executions.delete({ ...execution, now: Date.now() })
    const later = await repeated(request, { executionId: system.newId(), now: NOW + 2_000 })
    expect(later.executionId).toBe(next.executionId)
  })
})
