import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import type { Key } from './keys.ts'
import type { Item, Table } from './table.ts'

/** Below DynamoDB's limit of 400 KB for an item, with room for the key. */
const CHUNK_BYTES = 380_000

const compress = promisify(gzip)
const decompress = promisify(gunzip)

type KeyOf = (chunk: number) => Key

/** Writes a text of any length as compressed items. Returns the number of items. */
export async function writeChunks(table: Table, text: string, keyOf: KeyOf): Promise<number> {
  const bytes = await compress(text)
  const chunks = Math.ceil(bytes.length / CHUNK_BYTES)
  const dataOf = (chunk: number) => bytes.subarray(chunk * CHUNK_BYTES, (chunk + 1) * CHUNK_BYTES)
  await table.writeMany(
    Array.from({ length: chunks }, (_, chunk) => ({ put: { ...keyOf(chunk), data: dataOf(chunk) } })),
  )
  return chunks
}

/** @throws MissingChunk */
export async function readChunks(table: Table, chunks: number, keyOf: KeyOf): Promise<string> {
  const keys = Array.from({ length: chunks }, (_, chunk) => keyOf(chunk))
  const items = await table.getMany(keys, { consistent: true })
  if (items.length !== chunks)
    throw new MissingChunk(`Found ${items.length} of ${chunks} chunks of ${keys[0]?.pk}.`)
  return (await decompress(Buffer.concat(items.map(dataOf)))).toString()
}

/** The text was deleted, or replaced since its reference was read. */
export class MissingChunk extends Error {}

const dataOf = (item: Item): Uint8Array => item.data as Uint8Array
