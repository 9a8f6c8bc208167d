import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import type { Key } from './keys.ts'
import { CorruptItem } from './stored-text.ts'
import type { Item, Table } from './table.ts'

/** Below DynamoDB's limit of 400 KB for an item, with room for the key. */
const CHUNK_BYTES = 380_000

const compress = promisify(gzip)
const decompress = promisify(gunzip)

/**
 * Write units of paced chunks of one partition in a second. A partition takes 1,000: with chunks of 371 units, that are
 * written no faster than this, no second has more than two.
 */
const PACED_UNITS_PER_SECOND = 700
const UNIT_BYTES = 1024

type KeyOf = (chunk: number) => Key

/** `isPaced`: spreads the writes over time, together with all others of this process to the same partition. */
type Options = { isPaced?: boolean | undefined }

/** Writes a text of any length as compressed items. Returns the number of items. */
export async function writeChunks(
  table: Table,
  text: string,
  keyOf: KeyOf,
  { isPaced = false }: Options = {},
): Promise<number> {
  const bytes = await compress(text)
  const count = Math.ceil(bytes.length / CHUNK_BYTES)
  const chunks = Array.from({ length: count }, (_, chunk) => ({
    ...keyOf(chunk),
    data: bytes.subarray(chunk * CHUNK_BYTES, (chunk + 1) * CHUNK_BYTES),
  }))
  if (!isPaced) await table.writeMany(chunks.map((put) => ({ put })))
  else {
    for (const put of chunks) {
      await waitForTurn(put.pk, put.data.length)
      await table.writeMany([{ put }])
    }
  }
  return count
}

/** When the paced writes so far have had their time, by partition; on the clock of `performance`. */
const busyUntil = new Map<string, number>()

async function waitForTurn(pk: string, bytes: number): Promise<void> {
  const now = performance.now()
  const at = Math.max(busyUntil.get(pk) ?? now, now)
  for (const [key, until] of busyUntil) if (until <= now) busyUntil.delete(key)
  busyUntil.set(pk, at + (bytes / UNIT_BYTES / PACED_UNITS_PER_SECOND) * 1000)
  if (at > now) await sleep(at - now)
}

/**
 * @param maxBytes of the text
 * @throws MissingChunk
 * @throws CorruptItem
 */
export async function readChunks(
  table: Table,
  chunks: number,
  keyOf: KeyOf,
  { maxBytes }: { maxBytes?: number } = {},
): Promise<string> {
  const keys = Array.from({ length: chunks }, (_, chunk) => keyOf(chunk))
  const items = await table.getMany(keys, { consistent: true })
  if (items.length !== chunks)
    throw new MissingChunk(`Found ${items.length} of ${chunks} chunks of ${keys[0]?.pk}.`)
  const options = maxBytes === undefined ? {} : { maxOutputLength: maxBytes }
  const text = await decompress(Buffer.concat(items.map(dataOf)), options).catch((error: unknown) => {
    throw new CorruptItem(keyOf(0), error)
  })
  return text.toString()
}

/** The text was deleted, or replaced since its reference was read. */
export class MissingChunk extends Error {}

const dataOf = (item: Item): Uint8Array => item.data as Uint8Array
