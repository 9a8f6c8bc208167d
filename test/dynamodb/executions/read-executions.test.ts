import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { failure } from '../../../lib/core/execution.ts'
import type { JsonObject } from '../../../lib/core/json/json.ts'
import type { StepStore } from '../../../lib/core/step.ts'
import { executionStore } from '../../../lib/dynamodb/executions/execution-store.ts'
import { stepStore } from '../../../lib/dynamodb/executions/step-store.ts'
import type { Table } from '../../../lib/dynamodb/table/table.ts'
import { system } from '../../../lib/system.ts'
import { collect } from '../../support/data/collect.ts'
import { propertyRuns } from '../../support/data/property-runs.ts'
import { anExecution, leased, NO_PROGRESS } from '../../support/engine/executions.ts'
import { scheduledTable } from '../../support/lifecycle/tables.ts'
import { EMULATORS, tableOn } from '../../support/tables/emulators.ts'

const AT = new Date().toISOString()

const LARGE = { text: randomBytes(30_000).toString('base64') }

/** The same table, with how many keys each BatchGetItem had. */
function recorded(table: Table) {
  const reads: number[] = []
  const getMany: Table['getMany'] = (keys, options) => {
    reads.push(keys.length)
    return table.getMany(keys, options)
  }
  return { reads, table: { ...table, getMany } }
}

/** An execution that has ended, without an output in an error. */
async function created(table: Table, output: JsonObject | null, organizationId = system.newId()) {
  const store = executionStore(table)
  const lease = { owner: 'me', expiresAt: Date.now() }
  const execution = anExecution({ organizationId, input: LARGE, lease })
  await store.create({ execution })
  const outcome = output
    ? { status: 'SUCCESS' as const, output, ...NO_PROGRESS }
    : failure({ code: 'Failed', message: 'It did.' })
  await store.finish({ execution: leased(execution, 'me'), outcome, finishedAt: AT })
  return execution.id
}

describe.each(EMULATORS)('reads of executions by their ids on %s', (emulator) => {
  const table = tableOn(emulator)
  const store = executionStore(table)
  const organizationId = system.newId()

  it('have the order of the ids, and null for what cannot be read', async () => {
    const small = await created(table, { text: 'x' }, organizationId)
    const large = await created(table, LARGE, organizationId)
    const failed = await created(table, null, organizationId)
    const open = anExecution({ organizationId })
    await store.create({ execution: open })
    const deleted = await created(table, LARGE, organizationId)
    await store.delete({ organizationId, id: deleted, now: Date.now() })
    const foreign = await created(table, { text: 'x' })
    const ids = [large, deleted, failed, foreign, open.id, system.newId(), small]

    expect(await collect(store.readResults({ organizationId, ids }))).toEqual([
      { id: large, status: 'SUCCESS', output: LARGE, error: null },
      null,
      { id: failed, status: 'ERROR', output: null, error: { code: 'Failed', message: 'It did.' } },
      null,
      { id: open.id, status: 'IN_PROGRESS', output: null, error: null },
      null,
      { id: small, status: 'SUCCESS', output: { text: 'x' }, error: null },
    ])
    const expected = [large, undefined, failed, undefined, open.id, undefined, small]
    const whole = await collect(store.readMany({ organizationId, ids }))
    expect(whole.map((each) => each?.id)).toEqual(expected)
    expect(whole[0]).toEqual(await store.get({ organizationId, id: large }))
    const summaries = await collect(store.readSummaries({ organizationId, ids }))
    expect(summaries.map((each) => each?.id)).toEqual(expected)
    expect(summaries[0]).toEqual(await store.getSummary({ organizationId, id: large }))
  })

  it('read a hundred at a time, and large outputs when they are asked for', async () => {
    const large = await created(table, LARGE, organizationId)
    const ids = Array.from({ length: 250 }, (_, index) => (index === 1 ? large : system.newId()))
    const { reads, table: counted } = recorded(table)
    const results = executionStore(counted).readResults({ organizationId, ids })
    await results.next()
    expect(reads).toEqual([100])
    await results.next()
    expect(reads).toEqual([100, 1])
    await collect(results)
    expect(reads).toEqual([100, 1, 100, 50])
  })
})

const large = (bytes = 20_000) => ({ text: randomBytes(bytes).toString('base64') })

describe.each(EMULATORS)('reads on %s', (emulator) => {
  const table = tableOn(emulator)

  /** A final execution with a large input and a large correction. */
  async function corrected() {
    const organizationId = system.newId()
    const id = await created(table, null, organizationId)
    const feedback = { rating: 1 as const, correctedOutput: large(), note: null, updatedAt: AT }
    await executionStore(table).giveFeedback({ id, organizationId, feedback, writer: system.newId() })
    return { id, organizationId, feedback }
  }
  async function append(store: StepStore, executionId: string, number: number, value: JsonObject | null) {
    const step = {
      number,
      kind: 'CODE' as const,
      name: `step-${number}`,
      value,
      startedAt: AT,
      finishedAt: AT,
    }
    await store.append({ executionId, owner: 'me', step, progress: NO_PROGRESS })
  }

  it('succeed while a correction is replaced and the execution is deleted', async () => {
    const names = ['get', 'list', 'correct', 'correct-again', 'delete'] as const
    const calls = fc.subarray([...names], { minLength: 2 })
    const property = fc.asyncProperty(calls, fc.scheduler(), async (names, scheduler) => {
      const { id, organizationId, feedback } = await corrected()
      const store = executionStore(scheduledTable(table, scheduler))
      const page = { agentId: null, status: null, tenantId: null, limit: 10, after: null }
      const correct = () => store.giveFeedback({ id, organizationId, feedback, writer: system.newId() })
      const play = {
        get: async () => (await store.get({ id, organizationId }))?.id ?? 'missing',
        list: async () => (await store.list({ organizationId, ...page })).items.map((item) => item.id),
        correct,
        'correct-again': correct,
        delete: () => store.delete({ id, organizationId, now: Date.now() }),
      }
      const results = await scheduler.waitFor(Promise.all(names.map((name) => play[name]())))
      if (names.includes('delete')) return
      for (const result of results) expect(result).not.toBe('missing')
    })
    await fc.assert(property, { numRuns: propertyRuns(emulator === 'dynamodb' ? 150 : 30) })
  })

  it('load no steps beyond the page', async () => {
    const executionId = system.newId()
    const { reads, table: counted } = recorded(table)
    const steps = stepStore(counted)
    for (const number of [1, 2, 3]) await append(steps, executionId, number, large(600_000))
    const read = async (limit: number, maxBytes: number) => {
      reads.length = 0
      const { items, next } = await steps.list({ executionId, limit, maxBytes, after: null })
      return { steps: items.map(({ step }) => step.number), next: next?.order, loads: reads.length }
    }
    expect(await read(1, 9_000_000)).toEqual({ steps: [1], next: '1', loads: 1 })
    expect(await read(3, 1_700_000)).toEqual({ steps: [1, 2], next: '2', loads: 2 })
    expect(await read(3, 1)).toEqual({ steps: [1], next: '1', loads: 1 })
    expect(await read(3, 9_000_000)).toEqual({ steps: [1, 2, 3], next: undefined, loads: 3 })
  })

  it('count the results of tools in the size of a page of steps', async () => {
    const executionId = system.newId()
    const steps = stepStore(table)
    for (const number of [1, 2, 3]) {
      await append(steps, executionId, number, null)
      const result = { callId: 'call', result: { ok: true as const, value: large() } }
      await steps.appendResult({ executionId, number, result: { ...result, startedAt: AT, finishedAt: AT } })
    }
    const page = { executionId, limit: 3, maxBytes: 60_000 }
    const { items, next } = await steps.list({ ...page, after: null })
    expect(items.map(({ step, results }) => [step.number, results.size])).toEqual([
      [1, 1],
      [2, 1],
    ])
    expect((await steps.list({ ...page, after: next })).items.map(({ step }) => step.number)).toEqual([3])
  })
})
