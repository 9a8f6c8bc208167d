import { assertMaxLines, type ReceivedLine } from '../core/batch.ts'
import { MAX_JSON_DEPTH } from '../core/json/json.ts'
import { JsonError, parseJson } from '../core/json/parse-json.ts'
import { MAX_PAYLOAD_BYTES } from '../core/limits.ts'
import { InvalidJson, PayloadTooLarge, UnsupportedMediaType } from '../core/request-errors.ts'
import { toJsonPointer } from '../schema/message-text.ts'
import { getHeader, type ServiceEvent } from './event.ts'
import { decodeBody, isJsonType, parseBody } from './json-body.ts'

const LINES_TYPE =
  /^application\/(?:x-)?(?:ndjson|jsonl|json-?lines)\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?;?\s*$/i

/** A line is an object around an input, which may have the depth that it may have alone. */
const LINE_DEPTH = MAX_JSON_DEPTH + 1

/**
 * A body of newline-delimited JSON, or of a JSON list. Without a media type, the first character decides. Blank lines
 * are ignored, but counted.
 * @throws UnsupportedMediaType, PayloadTooLarge (also for too many lines), InvalidJson if it is not UTF-8, or a list
 * that is not valid
 */
export function readLines(event: ServiceEvent): ReceivedLine[] {
  const type = getHeader(event, 'Content-Type')?.trim() ?? ''
  const encoding = getHeader(event, 'Content-Encoding') ?? 'identity'
  const isOfLines = LINES_TYPE.test(type)
  if (encoding.toLowerCase() !== 'identity' || !(type === '' || isOfLines || isJsonType(type)))
    throw new UnsupportedMediaType(TYPES)
  if (!event.body) return []
  const text = decodeBody(event)
  if (text.length > MAX_PAYLOAD_BYTES || Buffer.byteLength(text) > MAX_PAYLOAD_BYTES)
    throw new PayloadTooLarge(
      `The body exceeds the limit of ${MAX_PAYLOAD_BYTES} bytes. Split the batch into several.`,
    )
  if (isOfLines || (type === '' && !/^\ufeff?\s*\[/.test(text))) return parseLines(text)
  const value = parseBody(text, LINE_DEPTH + 1)
  if (Array.isArray(value)) return value.map((item, index) => ({ line: index + 1, value: item }))
  throw new InvalidJson(
    'The body must be a JSON list. Send lines of JSON with the header "Content-Type: application/x-ndjson".',
  )
}

const TYPES =
  'Send an uncompressed JSON list with the header "Content-Type: application/json", or lines of JSON with "Content-Type: application/x-ndjson", in UTF-8.'

function parseLines(text: string): ReceivedLine[] {
  const lines = (text.charCodeAt(0) === 0xfeff ? text.slice(1) : text).split('\n')
  const given = lines.flatMap((each, index) => (each.trim() === '' ? [] : { line: index + 1, text: each }))
  // Before they are parsed: six megabytes can be millions of them.
  assertMaxLines(given.length)
  return given.map(({ line, text }) => ({ line, ...parseLine(text) }))
}

export function parseLine(text: string) {
  try {
    return { value: parseJson(text, LINE_DEPTH) }
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
    return { problem: error.names ? `${error.message}, at ${toJsonPointer(error.names)}` : error.message }
  }
}
