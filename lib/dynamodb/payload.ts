import { readChunks, writeChunks } from './chunks.ts'
import { payloadKey } from './keys.ts'
import type { Table } from './table.ts'

/** Payloads up to this many bytes of JSON stand in the record itself, so that a small run costs no further item. */
const INLINE_BYTES = 16_000

/** A payload's JSON, or where it is: the name and number of its chunks in the execution's partition. */
export type StoredPayload =
  | { json: string }
  | { name: string; chunks: number; encoding: 'gzip'; bytes: number }

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
  const bytes = Buffer.byteLength(json)
  if (bytes <= INLINE_BYTES) return { json }
  const chunks = await writeChunks(table, json, (chunk) => payloadKey(executionId, name, chunk))
  return { name, chunks, encoding: 'gzip', bytes }
}

/** @throws an Error when a chunk is missing. */
export async function loadPayload(
  table: Table,
  executionId: string,
  payload: StoredPayload,
): Promise<unknown> {
  if ('json' in payload) return JSON.parse(payload.json)
  return JSON.parse(
    await readChunks(table, payload.chunks, (chunk) => payloadKey(executionId, payload.name, chunk)),
  )
}

export async function removePayload(
  table: Table,
  executionId: string,
  payload: StoredPayload | undefined,
): Promise<void> {
  if (!payload || 'json' in payload) return
  const { name, chunks } = payload
  const keys = Array.from({ length: chunks }, (_, chunk) => payloadKey(executionId, name, chunk))
  await table.writeMany(keys.map((key) => ({ delete: key })))
}

/** Bytes of JSON that a stored payload comes to. */
export function payloadBytes(payload: StoredPayload | undefined): number {
  if (!payload) return 0
  return 'json' in payload ? payload.json.length : payload.bytes
}
