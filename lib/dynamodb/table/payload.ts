import { CLEANUP_DELAY_MS } from '../../core/lease-times.ts'
import { MissingChunk, readChunks, writeChunks } from './chunks.ts'
import {
  CLEANUP_SHARDS,
  cleanupKey,
  cleanupShard,
  executionIdOf,
  type Key,
  payloadKey,
  payloadName,
  shardOf,
} from './keys.ts'
import { type CompressedText, orCorrupt, readText, textBytes, toStoredText } from './stored-text.ts'
import type { Item, Table } from './table.ts'

/** Payloads of up to this many bytes of JSON are stored in the record, so that a small run needs no other item. */
const INLINE_BYTES = 16_000

/** The JSON of a payload, or the name and the number of its chunks in the execution's partition. `bytes`: of JSON. */
export type StoredPayload = InlinePayload | { name: string; chunks: number; encoding: 'gzip'; bytes: number }
export type InlinePayload = { json: string } | CompressedText

/** Null if the payload is too large to be stored in the item that has it. */
export function toInlinePayload(json: string): InlinePayload | null {
  if (Buffer.byteLength(json) > INLINE_BYTES) return null
  const text = toStoredText(json)
  return typeof text === 'string' ? { json: text } : text
}

export const isInline = (payload: StoredPayload): payload is InlinePayload => !('name' in payload)

/** @throws CorruptItem */
export function readInlinePayload<T>(payload: InlinePayload, holder: Key, parse: (json: string) => T): T {
  const json = readText('json' in payload ? payload.json : payload, holder)
  return orCorrupt(holder, () => parse(json))
}

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
  const inline = toInlinePayload(json)
  if (inline) return inline
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
 * @param holder the item that refers to the payload
 * @param parse `parseStoredJson` for what a client sent: it keeps digits that a double cannot hold
 * @throws MissingChunk
 * @throws CorruptItem
 */
export async function loadPayload(
  table: Table,
  holder: Key,
  payload: StoredPayload,
  parse: (json: string) => unknown = JSON.parse,
): Promise<unknown> {
  if (isInline(payload)) return readInlinePayload(payload, holder, parse)
  const { name, chunks, bytes } = payload
  const keyOf = (chunk: number) => payloadKey(executionIdOf(holder.pk), name, chunk)
  const json = await readChunks(table, chunks, keyOf, { maxBytes: bytes })
  return orCorrupt(holder, () => parse(json))
}

/** Null if a chunk is missing: the payload was deleted, or its writer had lost the lease. */
export function loadIfComplete(
  ...[table, holder, payload, parse]: Parameters<typeof loadPayload>
): Promise<unknown | null> {
  return loadPayload(table, holder, payload, parse).catch((error: unknown) => {
    if (error instanceof MissingChunk) return null
    throw error
  })
}

export async function deletePayload(
  table: Table,
  executionId: string,
  payload: StoredPayload | undefined,
): Promise<void> {
  if (!payload || isInline(payload)) return
  const { name, chunks } = payload
  const keys = Array.from({ length: chunks }, (_, chunk) => payloadKey(executionId, name, chunk))
  await table.writeMany([...keys, cleanupKey(executionId, name)].map((key) => ({ delete: key })))
}

/** Size of the payload's JSON in bytes. */
export function payloadBytes(payload: StoredPayload | undefined): number {
  if (!payload) return 0
  return 'json' in payload ? textBytes(payload.json) : payload.bytes
}
