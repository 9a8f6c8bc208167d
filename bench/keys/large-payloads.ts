import { randomBytes } from 'node:crypto'
import type { JsonObject } from '../../lib/core/json/json.ts'
import { executionKey } from '../../lib/dynamodb/table/keys.ts'
import { storePayload } from '../../lib/dynamodb/table/payload.ts'
import type { Row } from '../report.ts'
import { readUnitsOf } from './capacity-units.ts'
import { countingTable } from './counting-table.ts'
import { PARTITION } from './hot-keys.ts'
import { payloadOf } from './payloads.ts'

const MEGABYTES = [1, 6, 25]
const PART_BYTES = 100_000

/** gzip looks back 32 kB, so that it finds no repetition of a part. */
const orders = (bytes: number): JsonObject => ({
  parts: Array.from({ length: bytes / PART_BYTES }, () => payloadOf(PART_BYTES)),
})
/** A file in base64, which gzip reduces to its bytes. */
const file = (bytes: number): JsonObject => ({ data: randomBytes((bytes / 4) * 3).toString('base64') })

/** Units that one large payload costs the partition of its execution, and how long its writes take there at least. */
export async function largePayloadRows(): Promise<Row[]> {
  const rows: Row[] = []
  for (const [content, create] of Object.entries({ JSON: orders, file })) {
    for (const megabytes of MEGABYTES) {
      const { table, usage } = countingTable()
      const target = { executionId: 'id', holder: executionKey('id'), writer: 'input', writtenAt: 0 }
      await storePayload(table, target, create(megabytes * 1e6))
      const units = usage.keys.reduce((sum, { writes }) => sum + writes, 0)
      rows.push({
        payload: `${megabytes} MB of ${content}`,
        'stored kB': Math.round(usage.storedBytes().table / 1_000),
        'write units': units,
        'seconds on one partition': (units / PARTITION.writes).toFixed(1),
        'read units': usage.items.reduce((sum, item) => sum + readUnitsOf(item), 0),
      })
    }
  }
  return rows
}
