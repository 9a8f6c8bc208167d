import { createReadStream } from 'node:fs'
import { InvalidArgumentError } from 'commander'
import { isJsonObject, type Json, type JsonObject } from '../lib/core/json/json.ts'
import { JsonError, parseJson } from '../lib/core/json/parse-json.ts'
import { MAX_PAYLOAD_BYTES } from '../lib/core/limits.ts'
import { findMediaType, MEDIA_TYPES } from '../lib/core/media.ts'
import { toJsonPointer } from '../lib/schema/message-text.ts'
import { UserError } from './errors.ts'

type Files = [field: string, path: string][]

/** Parses `field=path`, and adds it to those before. */
export function parseFile(text: string, before: Files = []): Files {
  const [field = '', ...path] = text.split('=')
  if (field === '' || path.join('=') === '')
    throw new InvalidArgumentError('It must be a field and a path, such as invoice=invoice.pdf.')
  return [...before, [field, path.join('=')]]
}

/** The input with the files of its own options. Several of one field are a list. @throws UserError */
export async function readInputWithFiles({ input, file = [] }: { input?: string; file?: Files }) {
  const fields: JsonObject = input === undefined ? {} : await readInput(input)
  const given = Map.groupBy(file, ([field]) => field)
  for (const [field, files] of given) {
    if (Object.hasOwn(fields, field)) throw new UserError(`The input has the field ${field} already.`)
    const contents = await Promise.all(files.map(([, path]) => readFile(path)))
    fields[field] = contents.length === 1 ? (contents[0] ?? null) : contents
  }
  return fields
}

async function readFile(path: string): Promise<Json> {
  const data = (await readBytes(path, path)).toString('base64')
  const mediaType = findMediaType(data)
  if (mediaType) return { mediaType, data }
  throw new UserError(`${path} is none of ${MEDIA_TYPES.join(', ')}.`)
}

/**
 * Reads a JSON object from a file, or from standard input for `-`. The limits of a request body apply.
 * @throws UserError
 */
export async function readInput(source: string): Promise<JsonObject> {
  const value = await readJson(source, 'the input as a JSON object')
  if (isJsonObject(value)) return value
  throw new UserError(`${nameOf(source)} must contain a JSON object with the input fields.`)
}

/** Reads JSON in the same way. @throws UserError */
export async function readJson(source: string, what = 'JSON'): Promise<unknown> {
  const name = nameOf(source)
  if (source === '-' && process.stdin.isTTY)
    process.stderr.write(`Enter ${what}, then press Ctrl-D on an empty line.\n`)
  return parseInput(await readBytes(source, name), name)
}

/** The name to show for a file, or for standard input, which is `-`. */
export const nameOf = (source: string) => (source === '-' ? 'standard input' : source)

/** @throws UserError */
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
