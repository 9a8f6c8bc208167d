import { InvalidArgumentError } from 'commander'
import type { Json, JsonObject } from '../lib/core/json/json.ts'
import { findMediaType, MEDIA_TYPES } from '../lib/core/media.ts'
import { UserError } from './errors.ts'
import { readBytes, readInput } from './options.ts'

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
