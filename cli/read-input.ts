import { createReadStream } from 'node:fs'
import { isJsonObject, isWithinDepth, type JsonObject, MAX_JSON_DEPTH } from '../lib/core/json.ts'
import { MAX_PAYLOAD_BYTES } from '../lib/core/limits.ts'
import { UserError } from './user-error.ts'

/**
 * Reads a JSON object from a file, or from standard input for `-`, within the limits of a request's body.
 * @throws UserError that names the file and what is wrong
 */
export async function readInput(source: string): Promise<JsonObject> {
  const name = source === '-' ? 'standard input' : source
  if (source === '-' && process.stdin.isTTY) {
    process.stderr.write('Type the input as a JSON object; end it with Ctrl-D on a line of its own.\n')
  }
  const bytes = await readBytes(source, name)
  const value = parse(bytes, name)
  if (!isJsonObject(value)) throw new UserError(`${name}: must hold a JSON object with the input fields.`)
  if (!isWithinDepth(value)) throw new UserError(`${name}: nests deeper than ${MAX_JSON_DEPTH} levels.`)
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
    throw new UserError(
      `${name}: ${code === 'ENOENT' ? 'there is no such file.' : `cannot be read: ${message}`}`,
    )
  }
  if (length > MAX_PAYLOAD_BYTES) throw new UserError(`${name}: is larger than ${MAX_PAYLOAD_BYTES} bytes.`)
  return Buffer.concat(chunks)
}

function parse(bytes: Buffer, name: string): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    if (error instanceof TypeError) throw new UserError(`${name}: is not UTF-8 text.`)
    const why = bytes.length === 0 ? 'it is empty' : (error as Error).message
    throw new UserError(`${name}: is not JSON: ${why}`)
  }
}
