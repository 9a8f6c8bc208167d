import { parseStoredJson } from '../../core/parse-json.ts'
import { readChunks, writeChunks } from './chunks.ts'
import { payloadKey } from './keys.ts'
import type { Table } from './table.ts'

/** Payloads of up to this many bytes of JSON are stored in the record, so that a small run needs no other item. */
const INLINE_BYTES = 16_000

/** The JSON of a payload, or the name and the number of its chunks in the execution's partition. */
export type StoredPayload =
  | { json: string }
  | { name: string; chunks: number; encoding: 'gzip'; bytes: number }

/**
 * Writes a large payload as chunks. `name` must be unique to the writer (the name of an output contains the lease owner), so
 * that a worker that has lost its lease cannot overwrite the chunks of the worker that took over.
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

/** @throws an Error when a chunk is missing */
export async function loadPayload(
  table: Table,
  executionId: string,
  payload: StoredPayload,
): Promise<unknown> {
  return JSON.parse(await readJson(table, executionId, payload))
}

/** Loads what a client sent: digits that a double cannot hold are kept. @throws an Error when a chunk is missing. */
export async function loadSentPayload(
  table: Table,
  executionId: string,
  payload: StoredPayload,
): Promise<unknown> {
  return parseStoredJson(await readJson(table, executionId, payload))
}

async function readJson(table: Table, executionId: string, payload: StoredPayload): Promise<string> {
  if ('json' in payload) return payload.json
  return readChunks(table, payload.chunks, (chunk) => payloadKey(executionId, payload.name, chunk))
}

export async function deletePayload(
  table: Table,
  executionId: string,
  payload: StoredPayload | undefined,
): Promise<void> {
  if (!payload || 'json' in payload) return
  const { name, chunks } = payload
  const keys = Array.from({ length: chunks }, (_, chunk) => payloadKey(executionId, name, chunk))
  await table.writeMany(keys.map((key) => ({ delete: key })))
}

/** Size of the payload's JSON in bytes. */
export function payloadBytes(payload: StoredPayload | undefined): number {
  if (!payload) return 0
  return 'json' in payload ? payload.json.length : payload.bytes
}
