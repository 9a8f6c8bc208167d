import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { storedBytesOf } from '../../../bench/keys/capacity-units.ts'
import { Unavailable } from '../../../lib/core/errors.ts'
import { executionKey } from '../../../lib/dynamodb/table/keys.ts'
import type { CompressedText, StoredText } from '../../../lib/dynamodb/table/stored-text.ts'
import {
  CorruptItem,
  orCorrupt,
  readText,
  textBytes,
  toStoredText,
} from '../../../lib/dynamodb/table/stored-text.ts'
import { openTable, type Table } from '../../../lib/dynamodb/table/table.ts'
import { startServer } from '../../support/service/start-server.ts'

describe('a paused service', async () => {
  let requests = 0
  const { url: DYNAMODB_ENDPOINT, stop } = await startServer((_, response) => {
    requests++
    response.end('{}')
  })
  afterAll(stop)
  const open = (PAUSED?: string) => openTable({ TABLE_NAME: 'restored', DYNAMODB_ENDPOINT, PAUSED })

  const key = { pk: 'a', sk: 'b' }
  const query = { KeyConditionExpression: 'pk = :pk', ExpressionAttributeValues: { ':pk': 'a' } }

  /** Every method that sends a request. */
  const CALLS: Record<keyof Omit<Table, 'name' | 'expiryOf'>, (table: Table) => Promise<unknown>> = {
    get: (table) => table.get(key, { consistent: true }),
    put: (table) => table.put(key),
    update: (table) => table.update(key, { set: { a: 1 } }),
    delete: (table) => table.delete(key),
    query: (table) => table.query(query),
    count: (table) => table.count('open-executions', 'OPEN#0'),
    getMany: (table) => table.getMany([key], { consistent: true }),
    writeMany: (table) => table.writeMany([{ put: key }]),
    ping: (table) => table.ping(),
  }

  it.each(Object.entries(CALLS))('refuses %s without a request', async (_, call) => {
    requests = 0
    await expect(call(open('on'))).rejects.toThrow(Unavailable)
    expect(requests).toBe(0)
    await call(open())
    expect(requests).toBe(1)
  })
})

const KEY = executionKey('an-id')

/** As an attribute of an item. */
const sizeOf = (text: StoredText) => storedBytesOf('table', { text })

describe('toStoredText', () => {
  it('compresses from 1,000 bytes on, not characters', () => {
    for (const text of ['x'.repeat(999), '€'.repeat(333)]) expect(toStoredText(text)).toBe(text)
    expect(toStoredText('x'.repeat(1_000))).toMatchObject({ bytes: 1_000 })
    expect(toStoredText('€'.repeat(334))).toMatchObject({ bytes: 1_002 })
  })

  it('keeps a text that compression does not make smaller', () => {
    const points = Array.from({ length: 4_000 }, () => 0x3400 + (randomBytes(2).readUInt16BE() % 0x6000))
    const incompressible = String.fromCodePoint(...points)
    for (const length of [350, 1_000, 4_000])
      expect(textBytes(toStoredText(incompressible.slice(0, length)))).toBe(length * 3)
    const ascii = Array.from(randomBytes(1_000), (byte) => String.fromCharCode(32 + (byte % 95))).join('')
    expect(sizeOf(toStoredText(ascii))).toBeLessThanOrEqual(sizeOf(ascii))
  })

  it('never makes an item larger, and is read as the same text', () => {
    const part = fc.constantFrom('{"id":', 'null', '12345678901234567890.10', '"é"', '\u0000', '😀')
    const text = fc.oneof(
      fc.string({ unit: 'grapheme', minLength: 900, maxLength: 1_200 }),
      fc.string({ unit: 'binary', minLength: 300, maxLength: 16_000 }),
      fc.base64String({ minLength: 900, maxLength: 16_000 }),
      fc.string({ unit: part, minLength: 100, maxLength: 2_000 }),
    )
    fc.assert(
      fc.property(text, (value) => {
        const original = value.toWellFormed()
        const stored = toStoredText(original)
        expect(readText(stored, KEY)).toBe(original)
        expect(textBytes(stored)).toBe(Buffer.byteLength(original))
        expect(sizeOf(stored)).toBeLessThanOrEqual(sizeOf(original))
      }),
      { numRuns: 300 },
    )
  })
})

describe('readText', () => {
  const text = JSON.stringify({ orders: 'late '.repeat(300) })
  const { gzip, bytes } = toStoredText(text) as CompressedText

  it('returns no other text when a bit of it is wrong', () => {
    let corrupt = 0
    for (let bit = 0; bit < gzip.length * 8; bit++) {
      const damaged = gzip.map((byte, at) => (at === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte))
      try {
        // Some bits, such as those of the time in the header, mean nothing.
        expect(readText({ gzip: damaged, bytes }, KEY)).toBe(text)
      } catch (error) {
        if (!(error instanceof CorruptItem)) throw error
        corrupt++
      }
    }
    expect(corrupt).toBeGreaterThan(gzip.length * 6)
  })

  it.each([
    ['an incomplete text', { gzip: gzip.subarray(0, -1), bytes }],
    ['nothing', { gzip: new Uint8Array(), bytes }],
    // It decompresses no more than the size that is stored with it.
    ['a text that is longer than stated', { gzip: gzipSync('x'.repeat(50_000_000)), bytes: 1_000 }],
  ])('names the item that has %s', (_, stored) => {
    expect(() => readText(stored, KEY)).toThrow(CorruptItem)
    expect(() => readText(stored, KEY)).toThrow(/^The item EXEC#an-id RECORD/)
  })
})

it('orCorrupt names the item and the kind of error, and no content', () => {
  const read = () => orCorrupt(KEY, () => JSON.parse('{"name":Jane Doe}'))
  expect(read).toThrow(CorruptItem)
  expect(read).toThrow(/^The item EXEC#an-id \S+ is corrupt: SyntaxError$/)
})
