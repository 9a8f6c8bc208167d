import { json } from 'node:stream/consumers'
import fc from 'fast-check'
import { afterAll, describe, expect, inject, it } from 'vitest'
import { Unavailable } from '../../../lib/core/errors.ts'
import { openTable } from '../../../lib/dynamodb/table/table.ts'
import { system } from '../../../lib/system.ts'
import { LOCAL_TABLE } from '../../../local/emulators/provision.ts'
import { propertyRuns } from '../../support/data/property-runs.ts'
import { startServer } from '../../support/service/start-server.ts'
import { EMULATORS } from '../../support/tables/emulators.ts'

// DynamoDB has no negative zero, and the SDK takes no number beyond the safe integers.
const number = fc
  .double({ noNaN: true, min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER })
  .filter((x) => Math.abs(x) > 1e-100)
// The SDK takes an object with such a key for a class instance. Objects of clients are stored as JSON text.
const name = fc.string({ minLength: 1 }).filter((each) => !['__proto__', 'constructor'].includes(each))
const values = fc.letrec((tie) => {
  const scalars = [
    fc.string({ unit: 'binary' }),
    fc.maxSafeInteger(),
    number,
    fc.boolean(),
    fc.constant(null),
  ]
  const object = fc.dictionary(name, tie('value'), { noNullPrototype: true })
  return { value: fc.oneof({ maxDepth: 4 }, ...scalars, fc.uint8Array(), fc.array(tie('value')), object) }
})

describe.each(EMULATORS)('a table on %s', (emulator) => {
  const table = openTable({ TABLE_NAME: LOCAL_TABLE, DYNAMODB_ENDPOINT: inject(emulator) })
  const newKey = () => ({ pk: `TEST#${system.newId()}`, sk: 'ITEM' })

  it('returns items as they were written', async () => {
    await fc.assert(
      fc.asyncProperty(values.value, async (value) => {
        const item = { ...newKey(), value }
        expect(await table.put(item)).toBe(true)
        expect(await table.get({ pk: item.pk, sk: item.sk }, { consistent: true })).toEqual(item)
      }),
      { numRuns: propertyRuns(200), interruptAfterTimeLimit: 10_000 },
    )
  })

  it('leaves undefined attributes out, and reads only those that are named', async () => {
    const key = newKey()
    await table.put({ ...key, absent: undefined, map: { absent: undefined, a: 1 }, list: [1, undefined, 2] })
    expect(await table.get(key, { consistent: true })).toEqual({ ...key, map: { a: 1 }, list: [1, 2] })
    expect(await table.get(key, { consistent: true, attributes: ['list'] })).toEqual({ list: [1, 2] })
  })

  it('reads and writes any number of items, and returns those that exist in the order of the keys', async () => {
    const keys = Array.from({ length: 130 }, newKey)
    const items = keys.map((key, index) => ({ ...key, index }))
    await table.writeMany(items.map((put) => ({ put })))
    await table.writeMany(keys.slice(0, 30).map((key) => ({ delete: key })))
    const found = await table.getMany([...keys, newKey()].reverse(), { consistent: true })
    expect(found).toEqual(items.slice(30).reverse())
  })
})

describe('a batch with unprocessed entries', async () => {
  /** How many entries the requests had, and how many of them are processed each time. */
  const sizes: number[] = []
  let processed = 0
  const { url, stop } = await startServer(async (request, response) => {
    const { RequestItems } = (await json(request)) as { RequestItems: { table: unknown[] } }
    const entries = RequestItems.table
    sizes.push(entries.length)
    response.end(JSON.stringify({ UnprocessedItems: { table: entries.slice(processed) } }))
  })
  afterAll(stop)

  async function writeTen(each: number): Promise<void> {
    const table = openTable({ TABLE_NAME: 'table', DYNAMODB_ENDPOINT: url })
    sizes.length = 0
    processed = each
    await table.writeMany(Array.from({ length: 10 }, (_, i) => ({ put: { pk: String(i), sk: 'ITEM' } })))
  }

  it('is sent again with these only', async () => {
    await writeTen(4)
    expect(sizes).toEqual([10, 6, 2])
  })

  it('is unavailable when entries are left after the last retry', async () => {
    await expect(writeTen(0)).rejects.toThrow(Unavailable)
    expect(sizes).toEqual(Array(7).fill(10))
  })
})
