import { isDeepStrictEqual } from 'node:util'
import { Unavailable } from '../core/errors.ts'
import type { Execution } from '../core/execution.ts'
import { fromItem } from './execution-item.ts'
import { MissingChunk } from './table/chunks.ts'
import { executionKey } from './table/keys.ts'
import type { Item, Table } from './table/table.ts'

const MAX_READS = 5

/** The record; null if the execution does not exist or was deleted. */
export async function readRecord(table: Table, id: string): Promise<Item | null> {
  const item = await table.get(executionKey(id), { consistent: true })
  return item && !item.deleted ? item : null
}

/**
 * The execution of a record, with its payloads. When a chunk is missing, a payload has been replaced or deleted since the
 * record was read, so the record is read again. Null if the execution was deleted.
 * @throws Unavailable when payloads are replaced faster than they can be read
 */
export async function loadExecution(table: Table, record: Item): Promise<Execution | null> {
  let current: Item | null = record
  for (let reads = 0; current && reads < MAX_READS; reads++) {
    try {
      return await fromItem(table, current)
    } catch (error) {
      if (!(error instanceof MissingChunk)) throw error
      const previous: Item = current
      current = await readRecord(table, String(record.id))
      if (isDeepStrictEqual(current, previous)) return null
    }
  }
  if (current) throw new Unavailable(new Error(`The payloads of ${record.id} changed ${MAX_READS} times.`))
  return null
}
