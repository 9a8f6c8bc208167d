import type { JsonObject } from '../../core/json/json.ts'
import { MEDIA_TYPES } from '../../core/media.ts'
import { readShape } from '../adapt/shape.ts'
import { toJsonSchema } from '../field-map.ts'
import { mapSubschemas } from '../subschemas.ts'
import { MAX_FILE_BYTES, readFileLimits } from './file-schema.ts'

const UNREACHED =
  'describes a file (contentEncoding: base64) that the service would not find: it follows properties, items and $ref, but no alternatives'

type Problem = { path: PropertyKey[]; message: string }

/** What is wrong with the files of a JSON Schema, which are objects with `mediaType` and `data` in base64. */
export function checkFileSchemas(schema: JsonObject): Problem[] {
  const problems: Problem[] = []
  const paths: (readonly string[])[] = []
  mapSubschemas(schema, (part, path) => {
    const limits = readFileLimits(part)
    if (limits) paths.push(path)
    if (limits?.mediaTypes.length === 0)
      problems.push({
        path: [...path, 'properties', 'mediaType'],
        message: `must allow one of ${MEDIA_TYPES.join(', ')}`,
      })
    if (limits && !(limits.maxBytes >= 1 && limits.maxBytes <= MAX_FILE_BYTES))
      problems.push({
        path: [...path, 'properties', 'data', 'maxBytes'],
        message: `must be from 1 to ${MAX_FILE_BYTES}`,
      })
    return part
  })
  const found = readShape(structuredClone(schema)).shapes.filter(({ file }) => file).length
  const [path] = paths
  if (path && found < paths.length) problems.push({ path: [...path], message: UNREACHED })
  return problems
}

/** The types of all files that a declared schema describes. */
export function listMediaTypes(declared: JsonObject): string[] {
  const mediaTypes = new Set<string>()
  mapSubschemas(toJsonSchema(declared), (part) => {
    for (const mediaType of readFileLimits(part)?.mediaTypes ?? []) mediaTypes.add(mediaType)
    return part
  })
  return [...mediaTypes]
}
