import { randomBytes } from 'node:crypto'
import { describe, expect, inject, it } from 'vitest'
import type { LeasedExecution, Progress } from '../../../lib/core/execution.ts'
import { CANCELLED } from '../../../lib/core/execution-errors.ts'
import type { CallResult, Step } from '../../../lib/core/step.ts'
import { executionStore } from '../../../lib/dynamodb/executions/execution-store.ts'
import { stepStore } from '../../../lib/dynamodb/executions/step-store.ts'
import type { Table } from '../../../lib/dynamodb/table/table.ts'
import { system } from '../../../lib/system.ts'
import { anExecution } from '../../support/engine/executions.ts'
import { EMULATORS, race, tableOn } from '../../support/tables/emulators.ts'

const times = { startedAt: '2026-11-22T08:00:00.000Z', finishedAt: '2026-11-22T08:00:01.000Z' }
const stepOf = (number: number): Step => ({ number, kind: 'CODE', name: 'a', value: number, ...times })
const progressAt = (steps: number): Progress => ({
  steps,
  usage: { inputTokens: 10 * steps, outputTokens: steps },
  model: 'a/b',
})
const result: CallResult = { callId: 'call', result: { ok: true, value: 'found' }, ...times }

describe.each(EMULATORS)('stepStore on %s', (emulator) => {
  const store = stepStore(tableOn(emulator))
  const append = (executionId: string, number: number) =>
    store.append({ executionId, owner: 'me', step: stepOf(number), progress: progressAt(number) })

  it('getProgress returns what was stored with the last step, also after a tool result', async () => {
    const executionId = system.newId()
    expect(await store.getProgress({ executionId })).toBeNull()
    for (const number of [1, 2]) await append(executionId, number)
    expect(await store.getProgress({ executionId })).toEqual(progressAt(2))
    await store.appendResult({ executionId, number: 2, result })
    expect(await store.getProgress({ executionId })).toEqual(progressAt(2))
  })

  describe('close', () => {
    it.each([0, 1, 3])('refuses further steps after %i, and changes nothing for readers', async (count) => {
      const executionId = system.newId()
      for (let number = 1; number <= count; number++) await append(executionId, number)
      const progress = count > 0 ? progressAt(count) : null
      expect(await store.close({ executionId })).toEqual(progress)
      expect(await append(executionId, count + 1)).toBe(false)
      expect(await store.close({ executionId })).toEqual(progress)
      expect(await store.getProgress({ executionId })).toEqual(progress)
      expect(await store.read({ executionId })).toHaveLength(count)
      const page = await store.list({ executionId, limit: 2, after: null, maxBytes: 1e6 })
      expect(page.items).toHaveLength(Math.min(count, 2))
    })

    it('returns the progress of a step that is appended at the same time, or refuses the step', async () => {
      await race(async () => {
        const executionId = system.newId()
        await append(executionId, 1)
        const both = [append(executionId, 2), store.close({ executionId })] as const
        const [isAppended, progress] = await Promise.all(both)
        const last = isAppended ? 2 : 1
        expect(progress).toEqual(progressAt(last))
        expect(await store.read({ executionId })).toHaveLength(last)
        expect(await append(executionId, last + 1)).toBe(false)
      })
    })

    it('fails if the journal has more steps than its keys can order', async () => {
      const executionId = system.newId()
      for (const number of [99_999, 100_000]) await append(executionId, number)
      await expect(store.close({ executionId })).rejects.toThrow('cannot be closed')
    })
  })

  describe('probe', () => {
    const executions = executionStore(tableOn(emulator))
    // Final, so that the sweeper of the shared service leaves it alone.
    const created = async () => {
      const execution = { ...anExecution(), status: 'SUCCESS' as const, openUntil: null }
      await executions.create({ execution })
      return execution
    }
    const START = { number: 0, pendingCalls: [] }
    const NOTHING = { suspension: null, hasMore: false }

    it('returns the status, and whether there is another step or result of any number of calls', async () => {
      const execution = await created()
      expect(await store.probe({ ...execution, end: START })).toEqual({ ...NOTHING, status: 'SUCCESS' })
      await append(execution.id, 1)
      expect(await store.probe({ ...execution, end: START })).toMatchObject({ hasMore: true })
      const others = Array.from({ length: 200 }, (_, i) => `other ${i}`)
      for (const pendingCalls of [[], ['call', ...others]])
        expect(await store.probe({ ...execution, end: { number: 1, pendingCalls } })).toMatchObject(NOTHING)
      const end = { number: 1, pendingCalls: ['call', ...others] }
      await store.appendResult({ executionId: execution.id, number: 1, result })
      expect(await store.probe({ ...execution, end })).toMatchObject({ hasMore: true })
    })

    it('returns the present response and the mark of its readers, if they are asked for', async () => {
      const execution = anExecution({ lease: { owner: 'me', expiresAt: Date.now() + 60_000 } })
      await executions.create({ execution })
      const read = async () => (await store.probe({ ...execution, end: START, withResponse: true })).live
      expect(await read()).toEqual({ response: null, watchedUntil: 0 })
      const { id, lease } = execution as LeasedExecution
      await executions.watch({ ...execution, organizationId: system.newId(), until: 5 })
      expect(await executions.renew({ id, lease })).toEqual({ watchedUntil: null })
      await executions.watch({ ...execution, until: 5 })
      expect(await executions.renew({ id, lease })).toEqual({ watchedUntil: 5 })
      const keep = (text: string) => {
        const parts = [{ call: null, text }]
        const response = { step: 1, try: 2, isVoid: false, parts }
        return store.keepResponse({ executionId: id, response, keptMs: 60_000 }).then(() => response)
      }
      const response = await keep('é'.repeat(300_000))
      expect(await read()).toEqual({ response, watchedUntil: 5 })
      // More than 100 kB, however well it is compressed.
      await keep(randomBytes(100_000).toString('hex'))
      expect(await read()).toEqual({ response, watchedUntil: 5 })
      expect(await store.probe({ ...execution, end: START })).toMatchObject({ hasMore: false })
      await executions.end({ ...execution, error: CANCELLED, finishedAt: new Date().toISOString() })
      await executions.delete({ ...execution, now: Date.now() })
      expect(await read()).toEqual({ response: null, watchedUntil: 0 })
    })

    it('returns no status of a missing, deleted or foreign execution', async () => {
      const execution = await created()
      const foreign = { ...execution, organizationId: system.newId() }
      expect(await store.probe({ ...foreign, end: START })).toMatchObject({ status: null })
      await executions.delete({ ...execution, now: Date.now() })
      expect(await store.probe({ ...execution, end: START })).toMatchObject({ status: null })
      expect(await store.probe({ ...anExecution(), end: START })).toEqual({ ...NOTHING, status: null })
    })
  })
})

// Takes seconds, because it waits for the partition.
describe.runIf(inject('isNightly'))('stepStore.appendResult', () => {
  it('writes large results of one run no faster than its partition can take, and reads them back', async () => {
    const table = tableOn('dynamodb')
    const written: { at: number; units: number }[] = []
    const writeMany: Table['writeMany'] = (writes) => {
      const bytes = writes.map((write) => ('put' in write ? (write.put.data as Uint8Array).length : 0))
      written.push({ at: performance.now(), units: bytes.reduce((sum, each) => sum + each, 0) / 1024 })
      return table.writeMany(writes)
    }
    const store = stepStore({ ...table, writeMany })
    const executionId = system.newId()
    await store.append({ executionId, owner: 'me', step: stepOf(1), progress: progressAt(1) })
    const results = ['a', 'b', 'c'].map((callId) => {
      const value = randomBytes(1_000_000).toString('base64')
      // Now, because the cleanup of the shared service deletes what has no record after a while.
      const finishedAt = new Date().toISOString()
      return { ...result, finishedAt, callId, result: { ok: true as const, value } }
    })
    await Promise.all(results.map((each) => store.appendResult({ executionId, number: 1, result: each })))
    const [recorded] = await store.read({ executionId })
    for (const each of results) expect(recorded?.results.get(each.callId)).toEqual(each)
    const units = written.reduce((sum, each) => sum + each.units, 0)
    expect(units).toBeGreaterThan(2_900)
    const times = written.map(({ at }) => at)
    const lastUnits = written.at(-1)?.units ?? 0
    expect((units - lastUnits) / ((Math.max(...times) - Math.min(...times)) / 1000)).toBeLessThan(1_000)
  })
})
