import { createReadStream } from 'node:fs'
import type { LineInput, ReceivedLine } from '../../lib/core/batch.ts'
import { ServiceError, type Violation } from '../../lib/core/errors.ts'
import { isJsonObject } from '../../lib/core/json/json.ts'
import { MAX_PAYLOAD_BYTES, MAX_VIOLATIONS } from '../../lib/core/limits.ts'
import { checkLines } from '../../lib/engine/batches/check-lines.ts'
import { parseLine } from '../../lib/http/lines-body.ts'
import { UserError } from '../errors.ts'

/** Lines that are read after the first bad one, to find others. */
const MAX_LINES_AFTER = 10_000

/**
 * The inputs of a file of NDJSON, or of standard input for `-`: lines `{ customId, input }`; or, if the first one is
 * not, plain inputs, which are named by the number of their line.
 * @param onLine is told where the lines are that are yielded
 * @throws UserError that lists the first hundred bad lines
 */
export async function* readInputs(
  source: string,
  onLine: (line: number) => void = () => undefined,
): AsyncGenerator<LineInput, void, undefined> {
  const violations: Violation[] = []
  // A batch cannot know the names of another one.
  const firstLines = new Map<string, number>()
  let isNamed: boolean | undefined
  let after = 0
  for await (const each of readTextLines(source)) {
    const parsed = parseTextLine(each)
    if ('value' in parsed) isNamed ??= !isPlain(parsed.value)
    const received = isNamed || 'problem' in parsed ? parsed : named(parsed)
    try {
      const [line] = await checkLines([received], undefined, isNamed ? firstLines : undefined)
      if (line && violations.length === 0) {
        onLine(each.line)
        yield line
      }
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      violations.push(...(error.errors ?? []))
    }
    if (violations.length > 0 && (violations.length >= MAX_VIOLATIONS || ++after > MAX_LINES_AFTER)) break
  }
  if (violations.length > 0) throw badLines(source, violations)
}

export const parseTextLine = ({ line, text }: TextLine): ReceivedLine => ({ line, ...parseLine(text) })

const isPlain = (value: unknown) => isJsonObject(value) && !('customId' in value && 'input' in value)

const MIXED = 'has customId and input, and the first line, which has not, is a plain input'

const named = ({ line, value }: Extract<ReceivedLine, { value: unknown }>): ReceivedLine =>
  isJsonObject(value) && !isPlain(value)
    ? { line, problem: MIXED }
    : { line, value: { customId: String(line), input: value } }

/** @param violations whose lines are those of the file */
export function badLines(source: string, violations: Violation[]): UserError {
  const count = violations.length === 1 ? '1 bad line' : `${violations.length} bad lines`
  const name = source === '-' ? 'Standard input' : source
  return new UserError(`${name} has ${violations.length < MAX_VIOLATIONS ? '' : 'at least '}${count}.`, {
    details: { code: 'InputSchemaMismatch', problems: violations },
    lines: violations.map(({ message }) => message),
  })
}

/** A line without its end. `line`: its number in the file, from 1. */
type TextLine = { line: number; text: string }

const NEWLINE = 0x0a

/**
 * The lines of a file, or of standard input for `-`, without blank ones. Never more than one line is in memory.
 * @throws UserError if it cannot be read, or a line is larger than a request or not UTF-8
 */
export async function* readTextLines(source: string): AsyncGenerator<TextLine, void, undefined> {
  const name = source === '-' ? 'standard input' : source
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let line = 1
  const toLine = (bytes: Buffer): TextLine => {
    try {
      return { line, text: decoder.decode(bytes) }
    } catch {
      throw new UserError(`${name}:${line} is not valid UTF-8.`)
    }
  }
  let parts: Buffer[] = []
  let length = 0
  const add = (part: Buffer) => {
    parts.push(part)
    length += part.length
    if (length <= MAX_PAYLOAD_BYTES) return
    throw new UserError(`${name}:${line} exceeds the maximum size of ${MAX_PAYLOAD_BYTES} bytes.`)
  }
  for await (const chunk of readChunks(source, name)) {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      add(chunk.subarray(start, end))
      const read = toLine(Buffer.concat(parts))
      if (read.text.trim() !== '') yield read
      parts = []
      length = 0
      start = end + 1
      line++
    }
    add(chunk.subarray(start))
  }
  const last = toLine(Buffer.concat(parts))
  if (last.text.trim() !== '') yield last
}

async function* readChunks(source: string, name: string): AsyncGenerator<Buffer, void, undefined> {
  try {
    yield* source === '-' ? process.stdin : createReadStream(source)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new UserError(`${name} ${code === 'ENOENT' ? 'does not exist.' : `cannot be read: ${message}`}`)
  }
}
