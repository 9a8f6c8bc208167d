import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { failure } from '../../../lib/core/execution.ts'
import { executionStore } from '../../../lib/dynamodb/executions/execution-store.ts'
import type { Table } from '../../../lib/dynamodb/table/table.ts'
import { system } from '../../../lib/system.ts'
import { anExecution, leased, NO_PROGRESS } from '../../support/engine/executions.ts'
import { EMULATORS, tableOn } from '../../support/tables/emulators.ts'

const AT = new Date().toISOString()
const LARGE = { text: randomBytes(30_000).toString('base64') }

async function collect<T>(values: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const value of values) all.push(value)
  return all
}

/** The same table, with the keys that BatchGetItem was asked for. */
function recorded(table: Table) {
  const reads: number[] = []
  const getMany: Table['getMany'] = (keys, options) => {
    reads.push(keys.length)
    return table.getMany(keys, options)
  }
  return { reads, table: { ...table, getMany } }
}

describe.each(EMULATORS)('reads of executions by their ids on %s', (emulator) => {
  const table = tableOn(emulator)
  const store = executionStore(table)
  const organizationId = system.newId()

  async function created(output: object | null, organization = organizationId): Promise<string> {
    const lease = { owner: 'me', expiresAt: Date.now() }
    const execution = anExecution({ organizationId: organization, input: LARGE, lease })
    await store.create({ execution })
    const outcome = output
      ? { status: 'SUCCESS' as const, output: output as never, ...NO_PROGRESS }
      : failure({ code: 'Failed', message: 'It did.' })
    await store.finish({ execution: leased(execution, 'me'), outcome, finishedAt: AT })
    return execution.id
  }

  it('have the order of the ids, and null for what cannot be read', async () => {
    const small = await created({ text: 'x' })
    const large = await created(LARGE)
    const failed = await created(null)
    const open = anExecution({ organizationId })
    await store.create({ execution: open })
    const deleted = await created(LARGE)
    await store.delete({ organizationId, id: deleted, now: Date.now() })
    const foreign = await created({ text: 'x' }, system.newId())
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
    const large = await created(LARGE)
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
