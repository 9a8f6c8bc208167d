import { sha256 } from './json/hash-json.ts'
import { isJsonObject, type Json, type JsonObject } from './json/json.ts'
import { isMedia, parseDataUrl, sizeOfBase64 } from './media.ts'

const HASH_CHARACTERS = 16

/** Stands for a file in texts: for models, and in comparisons of inputs. The same for the same file only. */
export function describeFile(file: Json): Json {
  if (!isJsonObject(file) || typeof file.data !== 'string') return file
  const { data, ...others } = file
  return { ...others, bytes: sizeOfBase64(data), sha256: sha256(data).slice(0, HASH_CHARACTERS) }
}

/** A copy of a value that describes whatever looks like a file, also a data URL: for readers without its schema. */
export function describeMedia(value: JsonObject): JsonObject
export function describeMedia(value: Json): Json
export function describeMedia(value: Json): Json {
  if (typeof value === 'string') return describeFile(parseDataUrl(value) ?? value)
  if (Array.isArray(value)) return value.map((item) => describeMedia(item))
  if (!isJsonObject(value)) return value
  if (isMedia(value)) return describeFile(value)
  return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, describeMedia(child)]))
}
