import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, describe, expect, it } from 'vitest'
import { Unavailable } from '../../../lib/core/errors.ts'
import { openTable, type Table } from '../../../lib/dynamodb/table/table.ts'

let requests = 0
const server = createServer((_, response) => {
  requests++
  response.end('{}')
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
afterAll(() => void server.close())
const DYNAMODB_ENDPOINT = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
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

describe('a paused table', () => {
  it.each(Object.entries(CALLS))('refuses %s without a request', async (_, call) => {
    requests = 0
    await expect(call(open('on'))).rejects.toThrow(Unavailable)
    expect(requests).toBe(0)
    await call(open())
    expect(requests).toBe(1)
  })
})
