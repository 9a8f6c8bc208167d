import { promisify } from 'node:util'
import { gunzipSync, gzip } from 'node:zlib'
import type { ResponseSoFar } from '../../core/step.ts'
import { responseKey } from '../table/keys.ts'
import type { Item } from '../table/table.ts'

const compress = promisify(gzip)

/** A larger one is not kept: its readers wait for the step. */
const MAX_COMPRESSED_BYTES = 100_000

/** More than the JSON of the largest response that is shown. */
const MAX_BYTES = 8_000_000

export const RESPONSE_ATTRIBUTES = ['step', 'try', 'isVoid', 'parts']

/** Compressed in the thread pool: the run goes on. Null for a response that is too large. */
export async function toResponseItem(executionId: string, response: ResponseSoFar): Promise<Item | null> {
  const parts = await compress(JSON.stringify(response.parts))
  return parts.length > MAX_COMPRESSED_BYTES ? null : { ...responseKey(executionId), ...response, parts }
}

/** Null without an item, and for one that another release has written. */
export function fromResponseItem(item: Item | undefined): ResponseSoFar | null {
  if (!(item?.parts instanceof Uint8Array)) return null
  try {
    const parts = JSON.parse(gunzipSync(item.parts, { maxOutputLength: MAX_BYTES }).toString())
    return { step: Number(item.step), try: Number(item.try), isVoid: item.isVoid === true, parts }
  } catch {
    return null
  }
}
