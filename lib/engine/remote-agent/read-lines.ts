import { isJsonObject, type JsonObject } from '../../core/json/json.ts'
import { parsePartnerJson } from '../../core/json/parse-json.ts'
import { MAX_PAYLOAD_BYTES } from '../../core/limits.ts'
import { RemoteFailure } from './remote-failure.ts'

/** The longest line has an output. */
const MAX_LINE_BYTES = MAX_PAYLOAD_BYTES + 100
/** An agent writes steps and deltas, not data. */
const MAX_STREAM_BYTES = 10 * MAX_PAYLOAD_BYTES

const NEWLINE = 0x0a

/**
 * The JSON lines of a stream, without empty ones. Holds one line and one chunk.
 * @throws RemoteFailure for a line that is no JSON object, and for one or a stream that is too long
 */
export async function* readLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<JsonObject> {
  let parts: Buffer[] = []
  let [number, lineBytes, bytes] = [1, 0, 0]
  const keep = (part: Buffer) => {
    lineBytes += part.length
    if (lineBytes > MAX_LINE_BYTES) throw tooLarge(`Line ${number} of the stream`, MAX_LINE_BYTES)
    // A slice would keep the memory of its chunk.
    if (part.length > 0) parts.push(Buffer.from(part))
  }
  for await (const chunk of chunks) {
    bytes += chunk.length
    if (bytes > MAX_STREAM_BYTES) throw tooLarge('The stream', MAX_STREAM_BYTES)
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      keep(chunk.subarray(start, end))
      const line = parseLine(parts, number)
      if (line) yield line
      ;[parts, lineBytes, start] = [[], 0, end + 1]
      number++
    }
    keep(chunk.subarray(start))
  }
  // An end within a line is a cut, unless only the newline is missing.
  const last = tryParse(Buffer.concat(parts))
  if (isJsonObject(last)) yield last
}

function parseLine(parts: Buffer[], number: number): JsonObject | null {
  const line = Buffer.concat(parts)
  const value = tryParse(line)
  if (isJsonObject(value)) return value
  if (!/\S/.test(line.toString('latin1'))) return null
  throw new RemoteFailure(`Line ${number} of the stream is not a JSON object.`)
}

function tryParse(bytes: Buffer) {
  try {
    return parsePartnerJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return undefined
  }
}

const tooLarge = (what: string, limit: number) =>
  new RemoteFailure(`${what} has more than ${limit} bytes.`, { code: 'OutputTooLarge' })
