import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CANCELLED } from '../../lib/core/execution-errors.ts'
import type { JsonObject } from '../../lib/core/json/json.ts'
import { DEADLINE_MS } from '../../lib/core/limits.ts'
import { cacheStore } from '../../lib/dynamodb/cache-stores.ts'
import { executionStore } from '../../lib/dynamodb/executions/execution-store.ts'
import { openStores } from '../../lib/dynamodb/open-stores.ts'
import { system } from '../../lib/system.ts'
import { propertyRuns } from '../support/data/property-runs.ts'
import { anExecution, leased, NO_PROGRESS } from '../support/engine/executions.ts'
import { EMULATORS, race, tableOn } from '../support/tables/emulators.ts'

const NOW = 1_800_000_000_000
const output = { text: 'the output' }
/** More than fits an item, even compressed. */
const largeOutput = () => ({ text: randomBytes(600_000).toString('base64') })
const newKey = () => randomBytes(32).toString('hex')

describe.each(EMULATORS)('cacheStore on %s', (emulator) => {
  const store = cacheStore(tableOn(emulator))
  const executions = executionStore(tableOn(emulator))
  const get = (key: string, now = NOW) => store.get({ key, now })
  const reserve = (key: string, executionId: string, replaces: string | null = null, now = NOW) =>
    store.reserve({ key, executionId, replaces, now })

  /** A key that an execution has reserved. */
  async function reserved() {
    const [key, executionId] = [newKey(), system.newId()]
    await reserve(key, executionId)
    return { key, executionId }
  }
  /** A finished execution that has reserved the key. */
  async function finished(value: JsonObject) {
    const key = newKey()
    const lease = { owner: 'me', expiresAt: NOW }
    const execution = anExecution({ now: NOW, lease, cache: { key, ttlSeconds: null } })
    await executions.create({ execution })
    await reserve(key, execution.id)
    const outcome = { status: 'SUCCESS' as const, output: value, ...NO_PROGRESS }
    const finishedAt = new Date(NOW).toISOString()
    await executions.finish({ execution: leased(execution, 'me'), outcome, finishedAt })
    return { key, execution }
  }
  /** A key with the output of an execution. */
  async function stored(expiresAt: number | null = null) {
    const entry = await reserved()
    await store.store({ ...entry, output, expiresAt })
    return entry
  }

  describe('reserve', () => {
    it('reserves a free key, also when it is asked again because the first response was lost', async () => {
      const [key, executionId] = [newKey(), system.newId()]
      const own = { executionId, output: null }
      expect(await get(key)).toBeNull()
      for (let attempt = 0; attempt < 2; attempt++) expect(await reserve(key, executionId)).toEqual(own)
      expect(await get(key)).toEqual(own)
    })

    it("returns another execution's reservation, or its output, and changes nothing", async () => {
      const { key, executionId } = await reserved()
      expect(await reserve(key, system.newId())).toEqual({ executionId, output: null })
      await store.store({ key, executionId, output, expiresAt: null })
      expect(await reserve(key, system.newId())).toEqual({ executionId, output })
      expect(await get(key)).toEqual({ executionId, output })
    })

    it('takes over from the execution that it replaces, and from no other', async () => {
      const { key, executionId: failed } = await reserved()
      const executionId = system.newId()
      expect(await reserve(key, executionId, system.newId())).toEqual({ executionId: failed, output: null })
      expect(await reserve(key, executionId, failed)).toEqual({ executionId, output: null })
      expect(await get(key)).toEqual({ executionId, output: null })
    })

    it('takes over an entry when it expires', async () => {
      const { key, executionId } = await stored(NOW + 1_000)
      const next = system.newId()
      expect(await reserve(key, next, null, NOW + 999)).toEqual({ executionId, output })
      expect(await reserve(key, next, null, NOW + 1_000)).toEqual({ executionId: next, output: null })
    })

    it('expires after two deadlines, when its execution has long ended', async () => {
      const { key, executionId } = await reserved()
      expect(await get(key, NOW + 2 * DEADLINE_MS - 1)).toEqual({ executionId, output: null })
      expect(await get(key, NOW + 2 * DEADLINE_MS)).toBeNull()
    })

    it.each(['a free key', 'the key of a failed execution'])('gives %s to one of many', async (kind) => {
      const { key, executionId: failed } = await reserved()
      const isFree = kind === 'a free key'
      const given = isFree ? newKey() : key
      const entries = await race(() => reserve(given, system.newId(), isFree ? null : failed))
      expect(new Set(entries.map(({ executionId }) => executionId)).size).toBe(1)
      expect(entries[0]?.executionId).not.toBe(failed)
      expect(await get(given)).toEqual(entries[0])
    })
  })

  describe('store', () => {
    it.each([
      ['small', output],
      ['large', largeOutput()],
    ])('keeps a %s output of the execution that reserved the key, until it is deleted', async (_, value) => {
      const { key, execution } = await finished(value)
      const entry = { key, executionId: execution.id, output: value, expiresAt: null }
      await store.store(entry)
      expect(await get(key)).toEqual({ executionId: execution.id, output: value })
      expect(await executions.delete({ ...execution, now: NOW })).toBe('deleted')
      expect(await get(key)).toBeNull()
      await store.store(entry)
      expect(await get(key)).toBeNull()
    })

    it('keeps an output until it expires, indefinitely without an expiry', async () => {
      const { key } = await stored(NOW + 1_000)
      expect(await get(key, NOW + 999)).toMatchObject({ output })
      expect(await get(key, NOW + 1_000)).toBeNull()
      const lasting = await stored(null)
      expect(await get(lasting.key, NOW + 100 * DEADLINE_MS)).toMatchObject({ output })
    })

    it('does nothing for any other execution', async () => {
      const { key, executionId } = await reserved()
      const other = { key, executionId: system.newId(), output: { text: 'other' }, expiresAt: null }
      await store.store(other)
      expect(await get(key)).toEqual({ executionId, output: null })
      await store.store({ ...other, key: newKey() })
      await store.store({ key, executionId, output, expiresAt: null })
      await store.store(other)
      expect(await get(key)).toEqual({ executionId, output })
    })
  })

  describe('drop', () => {
    it.each(['a reservation', 'an output'])('removes %s of its execution', async (kind) => {
      const entry = kind === 'an output' ? await stored() : await reserved()
      await store.drop(entry)
      await store.store({ ...entry, output, expiresAt: null })
      expect(await get(entry.key)).toBeNull()
      const next = system.newId()
      expect(await reserve(entry.key, next)).toEqual({ executionId: next, output: null })
    })

    it("does nothing to another execution's entry", async () => {
      const { key, executionId } = await stored()
      await store.drop({ key, executionId: system.newId() })
      expect(await get(key)).toEqual({ executionId, output })
    })
  })
})

const LATER = { now: NOW + 1_000, expiresAt: NOW + 2_000 }

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
  /** The execution to which the key is bound has ended. */
  const ended = async (request: Request) => {
    const { id } = await store.reserve(request)
    const execution = anExecution({ id: request.executionId, idempotencyId: id })
    await executions.create({ execution })
    await executions.end({ ...execution, error: CANCELLED, finishedAt: new Date().toISOString() })
    return { id, remove: () => executions.delete({ ...execution, now: Date.now() }) }
  }
  /** Once it has expired, the key is bound again. */
  const expectExpiry = async (request: Request, id: string) => {
    const next = { executionId: system.newId(), requestHash: 'c' }
    expect(await repeated(request, { ...next, ...LATER })).toEqual({ id, ...next })
    expect(await repeated(request, LATER)).toEqual({ id, ...next })
  }

  describe('reserve', () => {
    it('binds a free key of an agent to the execution, and returns what it is bound to', async () => {
      const request = aRequest()
      const { executionId, requestHash } = request
      const reservation = await store.reserve(request)
      expect(reservation).toEqual({ id: expect.any(String), executionId, requestHash })
      expect((await store.reserve(aRequest())).id).not.toBe(reservation.id)
      expect(await repeated(request)).toEqual(reservation)
      expect(await repeated(request, { now: NOW + 999 })).toEqual(reservation)
      expect(await store.reserve(request)).toEqual(reservation)
    })

    it('binds the key again when it has expired', async () => {
      const request = aRequest()
      await expectExpiry(request, (await store.reserve(request)).id)
    })

    it('takes keys of any characters, and keeps them apart', async () => {
      const key = fc.string({ unit: 'binary', minLength: 1, maxLength: 255 })
      const anyKeys = fc.uniqueArray(key, { minLength: 2, maxLength: 4 })
      const property = fc.asyncProperty(anyKeys, async (keys) => {
        const { agentId } = aRequest()
        const requests = keys.map((key) => ({ ...aRequest(), agentId, key }))
        const first = await Promise.all(requests.map((request) => store.reserve(request)))
        expect(first).toMatchObject(requests.map(({ executionId }) => ({ executionId })))
        expect(await Promise.all(requests.map((request) => repeated(request)))).toEqual(first)
      })
      await fc.assert(property, { numRuns: propertyRuns(100) })
    })

    it.each(['a free', 'an expired'])('binds %s key to one of many executions', async (kind) => {
      const request = aRequest()
      const { executionId } = request
      if (kind === 'an expired') await store.reserve(request)
      const reservations = await race((n) => repeated(request, { ...LATER, requestHash: String(n) }))
      expect(reservations).toEqual(Array(reservations.length).fill(reservations[0]))
      expect(reservations[0]?.executionId).not.toBe(executionId)
    })

    it('keeps the key when the execution is deleted, until it expires', async () => {
      const request = aRequest()
      const { executionId, requestHash } = request
      const { id, remove } = await ended(request)
      expect(await remove()).toBe('deleted')
      expect(await repeated(request)).toEqual({ id, executionId, requestHash, isDeleted: true })
      await expectExpiry(request, id)
    })

    it('keeps a key that was bound to another execution after it had expired', async () => {
      const request = aRequest()
      const { remove } = await ended(request)
      const next = await repeated(request, { now: NOW + 1_000, expiresAt: NOW + 9_000 })
      await remove()
      const later = await repeated(request, { now: NOW + 2_000 })
      expect(later.executionId).toBe(next.executionId)
    })
  })
})
