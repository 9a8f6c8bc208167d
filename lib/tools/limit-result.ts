import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { isWithinDepth, type Json, MAX_JSON_DEPTH } from '../core/json/json.ts'
import { MAX_RESULT_BYTES } from '../core/limits.ts'
import type { ToolResult } from '../core/model.ts'
import type { Secrets } from './secrets.ts'
import { failed, succeeded } from './tool.ts'

/** Compressed bytes of a result with its images: it is stored in one partition, and read by every worker of the run. */
export const MAX_STORED_BYTES = 6_000_000

/** Characters of an error that the model receives. */
const MAX_ERROR_CHARACTERS = 4_000

const NOTE_BYTES = 200

/**
 * Masks secrets in a result and truncates it; images stay as they are, or the call fails. A value that is too large
 * becomes the start of its JSON text with a note. Masking comes first, because a truncated secret would not be
 * recognized.
 * @param maxBytes of the JSON of the value
 */
export async function limitResult(
  result: ToolResult,
  secrets: Pick<Secrets, 'mask' | 'maskText'>,
  maxBytes: number = MAX_RESULT_BYTES.default,
): Promise<ToolResult> {
  const { executionId, usage, replayed, isRefused } = result
  const limited = await limitStored(limitContent(result, secrets, maxBytes))
  return {
    ...limited,
    ...(executionId !== undefined && { executionId }),
    ...(usage && { usage }),
    ...(replayed && { replayed }),
    ...(isRefused && { isRefused }),
  }
}

const compress = promisify(gzip)
const toMegabytes = (bytes: number): string => (bytes / 1_000_000).toFixed(1)

/** Only images can be that large. */
async function limitStored(result: ToolResult): Promise<ToolResult> {
  if (!result.ok || !result.images) return result
  const json = JSON.stringify(result)
  if (json.length <= MAX_STORED_BYTES) return result
  const { length } = await compress(json)
  if (length <= MAX_STORED_BYTES) return result
  const images = result.images.length === 1 ? 'its image' : `its ${result.images.length} images`
  return failed(
    `The result has ${toMegabytes(length)} MB with ${images}, compressed; the limit is ${toMegabytes(MAX_STORED_BYTES)} MB. Request fewer or smaller images.`,
  )
}

function limitContent(
  result: ToolResult,
  secrets: Pick<Secrets, 'mask' | 'maskText'>,
  maxBytes: number,
): ToolResult {
  if (!result.ok) return failed(truncateError(secrets.maskText(result.error)))
  if (!isWithinDepth(result.value))
    return failed(`The result exceeds the maximum nesting depth of ${MAX_JSON_DEPTH}.`)
  const value = secrets.mask(result.value)
  const json = JSON.stringify(value)
  const { images } = result
  if (Buffer.byteLength(json) <= maxBytes) return succeeded(value, images)
  const text = typeof value === 'string' ? value : json
  return succeeded(truncateText(text, { maxBytes, isComplete: true }), images)
}

/** Truncates a text so that it fits a result with its note. `isComplete`: whether the text was read to its end. */
export function truncateText(
  text: string,
  { isComplete, maxBytes = MAX_RESULT_BYTES.default }: { isComplete: boolean; maxBytes?: number | undefined },
): string {
  const maxSize = maxBytes - NOTE_BYTES
  let kept = text
  for (let size = sizeOf(kept); size > maxSize; size = sizeOf(kept)) {
    kept = kept.slice(0, Math.floor((kept.length * maxSize) / size))
  }
  if (/[\ud800-\udbff]$/.test(kept)) kept = kept.slice(0, -1)
  const omitted = `${text.length - kept.length} of ${text.length} characters omitted`
  const unread = isComplete ? '' : ', and the rest of the response was not read'
  return `${kept}\n[Truncated: ${omitted}${unread}.]`
}

const sizeOf = (value: Json): number => Buffer.byteLength(JSON.stringify(value))

function truncateError(text: string): string {
  if (text.length <= MAX_ERROR_CHARACTERS) return text
  const omitted = text.length - MAX_ERROR_CHARACTERS
  return `${text.slice(0, MAX_ERROR_CHARACTERS).toWellFormed()} [Truncated: ${omitted} characters omitted.]`
}
