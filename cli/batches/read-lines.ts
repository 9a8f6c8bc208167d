import { createReadStream } from 'node:fs'
import { MAX_PAYLOAD_BYTES } from '../../lib/core/limits.ts'
import { UserError } from '../errors.ts'

/** A line without its end. `line`: its number in the file, from 1. */
export type TextLine = { line: number; text: string }

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
