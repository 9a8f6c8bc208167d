import { isWithinDepth, type Json, MAX_JSON_DEPTH } from '../core/json.ts'
import type { ToolResult } from '../core/model.ts'
import { MAX_ERROR_CHARACTERS, MAX_RESULT_BYTES } from './limits.ts'
import type { Secrets } from './secrets.ts'
import { failed, succeeded } from './tool.ts'

const NOTE_BYTES = 200

/**
 * The result as the model may have it: without secrets, and what is too large as the beginning of its text, with a
 * note of what was left out. Masked before it is cut: half a secret would not be found.
 */
export function limitResult(result: ToolResult, secrets: Pick<Secrets, 'mask' | 'maskText'>): ToolResult {
  if (!result.ok) return failed(cutError(secrets.maskText(result.error)))
  if (!isWithinDepth(result.value)) return failed(`The result nests deeper than ${MAX_JSON_DEPTH} levels.`)
  const value = secrets.mask(result.value)
  const json = JSON.stringify(value)
  if (Buffer.byteLength(json) <= MAX_RESULT_BYTES) return succeeded(value)
  return succeeded(cutText(typeof value === 'string' ? value : json, { isComplete: true }))
}

/** The beginning of a text, so that it fits with its note. `isComplete: false`: there was more than this text. */
export function cutText(text: string, { isComplete }: { isComplete: boolean }): string {
  let kept = text
  for (let size = sizeOf(kept); size > MAX_RESULT_BYTES - NOTE_BYTES; size = sizeOf(kept)) {
    kept = kept.slice(0, Math.floor((kept.length * (MAX_RESULT_BYTES - NOTE_BYTES)) / size))
  }
  if (/[\ud800-\udbff]$/.test(kept)) kept = kept.slice(0, -1)
  const left = text.length - kept.length
  const more = isComplete ? '' : ', and what follows, which was not read'
  return `${kept}\n[Cut here: ${left} of ${text.length} characters are left out${more}.]`
}

const sizeOf = (value: Json): number => Buffer.byteLength(JSON.stringify(value))

function cutError(text: string): string {
  if (text.length <= MAX_ERROR_CHARACTERS) return text
  const left = text.length - MAX_ERROR_CHARACTERS
  return `${text.slice(0, MAX_ERROR_CHARACTERS).toWellFormed()} [… ${left} characters are left out.]`
}
