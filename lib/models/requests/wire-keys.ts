import { isJsonObject, type Json, type JsonObject } from '../../core/json/json.ts'

/** Anthropic rejects a request in which a tool's schema has other property keys. */
const ALLOWED_KEY = /^[a-zA-Z0-9_.-]{1,64}$/
const MAX_KEY_CHARACTERS = 64
/** Room for a number that makes a key unique. */
const MAX_BASE_CHARACTERS = 60

/** Keywords whose value maps property keys to something. */
export const KEYED_KEYWORDS = ['properties', 'dependentSchemas', 'dependentRequired']

/** Maps each key of a schema that providers reject to the key that is sent instead. */
export function toWireKeys(schema: JsonObject): ReadonlyMap<string, string> {
  const keys = new Set<string>()
  collectKeys(schema, keys)
  const rejected = [...keys].filter((key) => !ALLOWED_KEY.test(key))
  const taken = new Set([...keys].filter((key) => ALLOWED_KEY.test(key)))
  return new Map(
    rejected.map((key) => {
      const wireKey = toUniqueKey(key, taken)
      taken.add(wireKey)
      return [key, wireKey]
    }),
  )
}

/** Stays readable: letters lose their accents, other characters become `_`. */
function toUniqueKey(key: string, taken: ReadonlySet<string>): string {
  const plain = key
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^a-zA-Z0-9_.-]/gu, '_')
  if (plain !== '' && plain.length <= MAX_KEY_CHARACTERS && !taken.has(plain)) return plain
  const base = plain.slice(0, MAX_BASE_CHARACTERS) || 'key'
  for (let number = 2; ; number++) if (!taken.has(`${base}_${number}`)) return `${base}_${number}`
}

/** Includes keys of values such as defaults, whose members look like keywords: an extra key is harmless. */
function collectKeys(value: Json, keys: Set<string>): void {
  if (Array.isArray(value)) for (const item of value) collectKeys(item, keys)
  if (!isJsonObject(value)) return
  for (const [keyword, child] of Object.entries(value)) {
    if (KEYED_KEYWORDS.includes(keyword) && isJsonObject(child))
      for (const key of Object.keys(child)) keys.add(key)
    if (keyword === 'required' && Array.isArray(child))
      for (const key of child) if (typeof key === 'string') keys.add(key)
    collectKeys(child, keys)
  }
}

/** A value with its keys renamed, at every level. */
export function renameKeys(value: Json, names: ReadonlyMap<string, string>): Json {
  if (names.size === 0) return value
  if (Array.isArray(value)) return value.map((item) => renameKeys(item, names))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [names.get(key) ?? key, renameKeys(child, names)]),
  )
}
