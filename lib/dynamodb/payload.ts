import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { type Key, payloadKey } from './keys.ts'
import type { Item, Table } from './table.ts'

/** Payloads up to this many bytes of JSON stand in the record itself, so that a small run costs no further item. */
const INLINE_BYTES = 16_000

/** Bytes of one chunk: below DynamoDB's 400 KB an item, with room for its key. */
const CHUNK_BYTES = 380_000

/** Where a payload is: its JSON, or the name and number of its chunks in the execution's partition. */
export type StoredPayload =
  | { json: string }
  | { name: string; chunks: number; encoding: 'gzip'; bytes: number }

const compress = promisify(gzip)
const decompress = promisify(gunzip)

/**
 * Writes what does not fit the record. `name` must be the writer's own (an output's holds the lease's owner), so that
 * a worker that has lost its lease cannot overwrite the chunks of the one that took over.
 */
export async function storePayload(
  table: Table,
  executionId: string,
  name: string,
  value: unknown,
): Promise<StoredPayload> {
  const json = JSON.stringify(value)
  if (json.length <= INLINE_BYTES / 3 || Buffer.byteLength(json) <= INLINE_BYTES) return { json }
  const bytes = await compress(json)
  const chunks = Math.ceil(bytes.length / CHUNK_BYTES)
  await table.writeMany(
    Array.from({ length: chunks }, (_, chunk) => ({
      put: {
        ...payloadKey(executionId, name, chunk),
        data: bytes.subarray(chunk * CHUNK_BYTES, (chunk + 1) * CHUNK_BYTES),
      },
    })),
  )
  return { name, chunks, encoding: 'gzip', bytes: Buffer.byteLength(json) }
}

/** The keys to read before `parsePayload`; none when the payload stands in the record. */
export function payloadKeys(executionId: string, payload: StoredPayload | undefined): Key[] {
  if (!payload || 'json' in payload) return []
  return Array.from({ length: payload.chunks }, (_, chunk) => payloadKey(executionId, payload.name, chunk))
}

/** @throws an Error when a chunk is missing. */
export async function loadPayload(
  table: Table,
  executionId: string,
  payload: StoredPayload,
): Promise<unknown> {
  if ('json' in payload) return JSON.parse(payload.json)
  const items = await table.getMany(payloadKeys(executionId, payload), { consistent: true })
  if (items.length !== payload.chunks) {
    throw new Error(
      `Execution ${executionId} has ${items.length} of ${payload.chunks} chunks of ${payload.name}.`,
    )
  }
  return JSON.parse((await decompress(Buffer.concat(items.map(dataOf)))).toString())
}

/** Bytes of JSON that a stored payload comes to. */
export function payloadBytes(payload: StoredPayload | undefined): number {
  if (!payload) return 0
  return 'json' in payload ? payload.json.length : payload.bytes
}

const dataOf = (item: Item): Uint8Array => item.data as Uint8Array
