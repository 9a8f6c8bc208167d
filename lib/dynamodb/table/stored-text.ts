import { gunzipSync, gzipSync } from 'node:zlib'
import type { Key } from './keys.ts'

/** A text of an item: as it is, or compressed, with its size in bytes of UTF-8. */
export type StoredText = string | CompressedText
export type CompressedText = { gzip: Uint8Array; bytes: number }

/** About a write unit. A smaller text rarely changes the number of units of its item. */
const MIN_COMPRESSED_BYTES = 1_000

/** What a compressed text takes beyond its content: the name and the value of `bytes`. */
const COMPRESSED_OVERHEAD = 12

/**
 * Compresses a text if that makes its item smaller. The text must be well-formed and small: zlib's thread pool takes
 * more processor time than compressing 16 kB does.
 */
export function toStoredText(text: string): StoredText {
  const bytes = Buffer.byteLength(text)
  if (bytes < MIN_COMPRESSED_BYTES) return text
  const gzip = gzipSync(text)
  return gzip.length + COMPRESSED_OVERHEAD < bytes ? { gzip, bytes } : text
}

/** @throws CorruptItem */
export function readText(stored: StoredText, key: Key): string {
  if (typeof stored === 'string') return stored
  return orCorrupt(key, () => gunzipSync(stored.gzip, { maxOutputLength: stored.bytes }).toString())
}

/** Size of the text in bytes of UTF-8. */
export const textBytes = (stored: StoredText): number =>
  typeof stored === 'string' ? Buffer.byteLength(stored) : stored.bytes

/** An item has content that cannot be decompressed or parsed. The message of `JSON.parse` would quote it in the log. */
export class CorruptItem extends Error {
  constructor({ pk, sk }: Key, cause: unknown) {
    const { code, name } = cause as NodeJS.ErrnoException
    super(`The item ${pk} ${sk} is corrupt: ${code ?? name}`, { cause })
  }
}

/** @throws CorruptItem when `read` throws */
export function orCorrupt<T>(key: Key, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new CorruptItem(key, error)
  }
}
