import { isJsonObject, type Json, type JsonObject } from '../../core/json/json.ts'
import { readShape, type Shape } from '../adapt/shape.ts'
import { toJsonSchema } from '../field-map.ts'
import type { FoundFile } from './check-files.ts'
import { mayHaveFiles } from './file-schema.ts'

/** Copies an input with a function applied to each value in the position of a file. */
export type FileMapper = (input: JsonObject, map: (file: FoundFile) => Json) => JsonObject

export function compileFileMapper(declared: JsonObject): FileMapper {
  if (!mayHaveFiles(declared)) return (input) => input
  const { root } = readShape(toJsonSchema(declared))
  return (input, map) => mapFiles(root, input, [], map) as JsonObject
}

function mapFiles(shape: Shape, value: Json, path: string[], map: (file: FoundFile) => Json): Json {
  if (value === null) return value
  const limits = shape.file ?? (Array.isArray(value) ? undefined : shape.items?.file)
  if (limits) return map({ path, value, limits })
  if (Array.isArray(value))
    return value.map((item, index) => {
      const part = shape.firstItems[index] ?? shape.items
      return part ? mapFiles(part, item, [...path, `${index}`], map) : item
    })
  if (!isJsonObject(value)) return value
  const entries = Object.entries(value).map(([name, child]): [string, Json] => {
    const part = shape.fields.get(name)?.shape ?? shape.others
    return [name, part ? mapFiles(part, child, [...path, name], map) : child]
  })
  return Object.fromEntries(entries)
}

/** The values in the positions of files. */
export function findFiles(mapFiles: FileMapper, input: JsonObject): FoundFile[] {
  const files: FoundFile[] = []
  mapFiles(input, (file) => {
    files.push(file)
    return file.value
  })
  return files
}
