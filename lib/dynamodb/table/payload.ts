import { CLEANUP_DELAY_MS } from '../../core/limits.ts'
import { MissingChunk, readChunks, writeChunks } from './chunks.ts'
import {
  CLEANUP_SHARDS,
  cleanupKey,
  cleanupShard,
  type Key,
  payloadKey,
  payloadName,
  shardOf,
} from './keys.ts'
import type { Item, Table } from './table.ts'

/** Payloads of up to this many bytes of JSON are stored in the record, so that a small run needs no other item. */
const INLINE_BYTES = 16_000

/** The JSON of a payload, or the name and the number of its chunks in the execution's partition. */
export type StoredPayload =
  | { json: string }
  | { name: string; chunks: number; encoding: 'gzip'; bytes: number }

export const fitsInline = (json: string): boolean => Buffer.byteLength(json) <= INLINE_BYTES

type Target = {
  executionId: string
  /** The item that will refer to the payload. */
  holder: Key
  /** Unique among the writers of this item, so that no writer overwrites the chunks of another. */
  writer: string
  /** Milliseconds since the epoch. */
  writtenAt: number
  /** Whether the chunks are written no faster than their partition can take. */
  isPaced?: boolean
}

/**
 * Writes a large payload as chunks. No condition protects chunks: a cleanup is scheduled first, which deletes them
 * unless the item refers to them by then.
 */
export async function storePayload(
  table: Table,
  { executionId, holder, writer, writtenAt, isPaced }: Target,
  value: unknown,
): Promise<StoredPayload> {
  const json = JSON.stringify(value)
  if (fitsInline(json)) return { json }
  const name = payloadName(holder, writer)
  await scheduleCleanup(table, executionId, name, writtenAt)
  const keyOf = (chunk: number) => payloadKey(executionId, name, chunk)
  const chunks = await writeChunks(table, json, keyOf, { isPaced })
  return { name, chunks, encoding: 'gzip', bytes: Buffer.byteLength(json) }
}

/** Also before a reference to the payload is removed. */
export async function scheduleCleanup(
  table: Table,
  executionId: string,
  name: string,
  now: number,
): Promise<void> {
  const dueAt = now + CLEANUP_DELAY_MS
  await table.put({ ...cleanupKey(executionId, name), ...cleanupAttributes(executionId, dueAt) })
}

/** Attributes that enter an item into the index `open-executions`, in partitions that only the cleanup reads. */
export const cleanupAttributes = (executionId: string, dueAt: number): Item => ({
  openShard: cleanupShard(shardOf(executionId, CLEANUP_SHARDS)),
  openUntil: dueAt,
})

/**
 * @param parse `parseStoredJson` for what a client sent: it keeps digits that a double cannot hold
 * @throws MissingChunk
 */
export async function loadPayload(
  table: Table,
  executionId: string,
  payload: StoredPayload,
  parse: (json: string) => unknown = JSON.parse,
): Promise<unknown> {
  if ('json' in payload) return parse(payload.json)
  const { name, chunks } = payload
  return parse(await readChunks(table, chunks, (chunk) => payloadKey(executionId, name, chunk)))
}

/** Null if a chunk is missing: the payload was deleted, or its writer had lost the lease. */
export function loadIfComplete(
  table: Table,
  executionId: string,
  payload: StoredPayload,
): Promise<unknown | null> {
  return loadPayload(table, executionId, payload).catch((error: unknown) => {
    if (error instanceof MissingChunk) return null
    throw error
  })
}

export async function deletePayload(
  table: Table,
  executionId: string,
  payload: StoredPayload | undefined,
): Promise<void> {
  if (!payload || 'json' in payload) return
  const { name, chunks } = payload
  const keys = Array.from({ length: chunks }, (_, chunk) => payloadKey(executionId, name, chunk))
  await table.writeMany([...keys, cleanupKey(executionId, name)].map((key) => ({ delete: key })))
}

/** Size of the payload's JSON in bytes. */
export function payloadBytes(payload: StoredPayload | undefined): number {
  if (!payload) return 0
  return 'json' in payload ? Buffer.byteLength(payload.json) : payload.bytes
}
