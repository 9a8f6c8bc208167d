import { createReadStream } from 'node:fs'
import { isJsonObject, type JsonObject } from '../lib/core/json.ts'
import { MAX_PAYLOAD_BYTES } from '../lib/core/limits.ts'
import { JsonError, parseJson } from '../lib/core/parse-json.ts'
import { toJsonPointer } from '../lib/schema/message-text.ts'
import { UserError } from './errors.ts'

/**
 * Reads a JSON object from a file, or from standard input for `-`. The limits of a request body apply.
 * @throws UserError
 */
export async function readInput(source: string): Promise<JsonObject> {
  const name = source === '-' ? 'standard input' : source
  if (source === '-' && process.stdin.isTTY) {
    process.stderr.write('Enter the input as a JSON object, then press Ctrl-D on an empty line.\n')
  }
  const bytes = await readBytes(source, name)
  const value = parseInput(bytes, name)
  if (!isJsonObject(value)) throw new UserError(`${name} must contain a JSON object with the input fields.`)
  return value
}

async function readBytes(source: string, name: string): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of source === '-' ? process.stdin : createReadStream(source)) {
      chunks.push(chunk as Buffer)
      length += (chunk as Buffer).length
      if (length > MAX_PAYLOAD_BYTES) break
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new UserError(`${name} ${code === 'ENOENT' ? 'does not exist.' : `cannot be read: ${message}`}`)
  }
  if (length > MAX_PAYLOAD_BYTES)
    throw new UserError(`${name} exceeds the maximum size of ${MAX_PAYLOAD_BYTES} bytes.`)
  return Buffer.concat(chunks)
}

function parseInput(bytes: Buffer, name: string): unknown {
  if (bytes.length === 0) throw new UserError(`${name} is empty.`)
  try {
    return parseJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    if (error instanceof TypeError) throw new UserError(`${name} is not valid UTF-8.`)
    if (!(error instanceof JsonError)) throw error
    const location = error.names ? `, at ${toJsonPointer(error.names)}` : ''
    throw new UserError(`${name} ${error.message}${location}.`)
  }
}
