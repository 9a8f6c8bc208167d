import { ExactNumber } from './json/exact-number.ts'
import { isJsonObject, type Json, type JsonObject } from './json/json.ts'
import { parseJsonPointer } from './json/pointer.ts'
import { MAX_KEY_CHARACTERS } from './limits.ts'

export const KEY_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/

/** A value of the input or the output by which people search for executions. `pointer`: a JSON Pointer (RFC 6901). */
export type DeclaredKey = { name: string; from: 'input' | 'output'; pointer: string }

/** As `toKeyText` returns it. */
export type SearchKey = { name: string; value: string }

/** Executions whose key has this value, or begins with it. `text`: as `toKeyText` returns it; a prefix can be empty. */
export type KeyFilter = { name: string; text: string; isPrefix: boolean }

/** The keys of a version that the input, as its agent receives it, or the output has. `sent`: the input as sent. */
export function readKeys(
  declared: DeclaredKey[] | undefined,
  from: DeclaredKey['from'],
  value: JsonObject,
  sent: JsonObject = value,
): SearchKey[] {
  return (declared ?? []).flatMap((key) => {
    if (key.from !== from) return []
    const path = parseJsonPointer(key.pointer)
    // Adaptation replaces it by the nearest double.
    const exact = valueAt(sent, path)
    const text = toKeyText(exact instanceof ExactNumber ? exact : valueAt(value, path))
    return text ? [{ name: key.name, value: text }] : []
  })
}

function valueAt(value: Json, path: string[]): Json | undefined {
  let part: Json | undefined = value
  for (const name of path) {
    if (!isJsonObject(part) && !Array.isArray(part)) return undefined
    // Not the length of a list.
    part = Object.prototype.propertyIsEnumerable.call(part, name) ? (part as JsonObject)[name] : undefined
  }
  return part
}

/**
 * A text, number or boolean as a key: NFC, without white space around it, and cut after `MAX_KEY_CHARACTERS` code
 * points. Control characters become spaces, so that stores can use one as a separator. '' for any other value.
 */
function toKeyText(value: Json | undefined): string {
  const isScalar = typeof value === 'number' || typeof value === 'boolean' || value instanceof ExactNumber
  if (typeof value !== 'string' && !isScalar) return ''
  const text = normalize(String(value)).trim()
  return [...text.slice(0, 2 * MAX_KEY_CHARACTERS)].slice(0, MAX_KEY_CHARACTERS).join('').trimEnd()
}

const normalize = (text: string): string =>
  text
    .toWellFormed()
    .normalize()
    .replace(/\p{Cc}+/gu, ' ')

export const KEY_FILTER_RULE = `must be {name}:{value}, or {name}:{prefix}*, with the name of a key and at most ${MAX_KEY_CHARACTERS} characters, such as orderId:O-1300; \\* at the end is an asterisk`

/** The filter that a request means; null if the text is none. */
export function parseKeyFilter(filter: string): KeyFilter | null {
  const [, name = '', value = '', asterisk = ''] = /^([^:]*):(.*?)(\\?\*)?$/su.exec(filter) ?? []
  const isPrefix = asterisk === '*'
  const text = normalize(isPrefix ? value : value + asterisk.slice(1)).trimStart()
  const searched = isPrefix ? text : text.trimEnd()
  const isValid = KEY_NAME.test(name) && (isPrefix || searched !== '')
  return isValid && [...searched].length <= MAX_KEY_CHARACTERS ? { name, text: searched, isPrefix } : null
}

export const hasKey = (keys: SearchKey[], { name, text, isPrefix }: KeyFilter): boolean =>
  keys.some((key) => key.name === name && (isPrefix ? key.value.startsWith(text) : key.value === text))
