import { ExactNumber, fitsDouble } from './exact-number.ts'
import { containsExactNumber, type Json, MAX_JSON_DEPTH } from './json.ts'

/** A text that is not accepted as JSON. The message is a predicate, such as `is not valid JSON: …`. */
export class JsonError extends Error {
  /** The path of the member that is wrong, if it is one member. */
  readonly names: readonly string[] | undefined

  constructor(message: string, names?: readonly string[]) {
    super(message)
    this.names = names
  }
}

/**
 * Parses a JSON text that a client wrote. Unlike `JSON.parse`, reports everything it cannot represent: a number that a
 * double would change becomes an `ExactNumber`, and duplicate keys are rejected.
 * @throws JsonError for invalid JSON, a duplicate key, a number beyond the range of a double, or too deep nesting
 */
export function parseJson(text: string, maxDepth = MAX_JSON_DEPTH): Json {
  const value = parse(text)
  const members = countMembers(value, maxDepth)
  if (Number.isNaN(members)) throw new JsonError(`is nested more than ${maxDepth} levels deep`)
  const contents = scan(text)
  if (contents.members !== members) {
    const names = findDuplicateKey(text)
    throw new JsonError(
      `contains the key ${JSON.stringify(shorten(names.at(-1) ?? ''))} more than once`,
      names,
    )
  }
  return contents.isExact ? value : parseExactNumbers(text, { isLimited: true })
}

/** A string, which is kept even if it has no end, or a trailing comma. */
const TRAILING_COMMA = /("[^"\\]*(?:\\[\s\S][^"\\]*)*(?:"|\\?$))|,(?=\s*[}\]])/g

/**
 * Parses a JSON text that a model wrote; trailing commas are ignored. A model can write it again, so that a number that
 * a double would change is an error.
 * @throws JsonError as `parseJson`, and for such a number
 */
export function parseModelJson(text: string): Json {
  const value = parseJson(text.replace(TRAILING_COMMA, '$1'))
  if (!containsExactNumber(value)) return value
  throw new JsonError(
    `contains a number with more digits than a double holds; use at most ${SAFE_CHARACTERS}, or text`,
  )
}

/** Parses a JSON text of our own that may contain exact numbers. */
export function parseStoredJson(text: string): Json {
  return fitsDoubles(text) ? JSON.parse(text) : parseExactNumbers(text, { isLimited: false })
}

/**
 * The value of a JSON text that a partner wrote, such as a tool or a model server, with exact numbers. Nobody can
 * correct it: of duplicate keys, the last one counts. Undefined if it is no JSON.
 */
export function parsePartnerJson(text: string): Json | undefined {
  try {
    const value: Json = JSON.parse(text)
    return fitsDoubles(text) ? value : parseExactNumbers(text, { isLimited: false })
  } catch {
    return undefined
  }
}

/** Whether doubles hold all numbers of a valid JSON text: `JSON.parse` then loses nothing. */
export const fitsDoubles = (text: string): boolean => scan(text).isExact

function parse(text: string): Json {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new JsonError(`is not valid JSON: ${(error as Error).message}`)
  }
}

type Reviver = (key: string, value: Json, context: { source?: string }) => unknown

function parseExactNumbers(text: string, { isLimited }: { isLimited: boolean }): Json {
  const reviver: Reviver = (_, value, { source = '' }) => {
    if (typeof value !== 'number' || fitsDouble(source)) return value
    if (Number.isFinite(value) || !isLimited) return new ExactNumber(source)
    throw new JsonError(`contains a number beyond the range of a double: ${shorten(source)}`)
  }
  return JSON.parse(text, reviver as (key: string, value: Json) => unknown)
}

const shorten = (text: string) => (text.length > 40 ? `${text.slice(0, 40).toWellFormed()}…` : text)

/** The number of members of all objects in a value; NaN when it is nested deeper than the limit. */
function countMembers(value: Json, limit: number): number {
  if (typeof value !== 'object' || value === null) return 0
  if (limit === 0) return Number.NaN
  let count = 0
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object') count += countMembers(item, limit - 1)
  } else {
    for (const name in value) {
      const member = value[name] ?? null
      count += typeof member === 'object' ? 1 + countMembers(member, limit - 1) : 1
    }
  }
  return count
}

const QUOTE = 0x22
const COLON = 0x3a
const BACKSLASH = 0x5c

/** A double holds every number with this many characters and no exponent. */
const SAFE_CHARACTERS = 15

/**
 * Reads a valid JSON text once: the number of its members, duplicates included, and whether doubles hold all of its
 * numbers. Much faster than a parser in JavaScript, so that ordinary texts only need `JSON.parse`.
 */
function scan(text: string): { members: number; isExact: boolean } {
  let members = 0
  let isExact = true
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if (code === COLON) members += 1
    else if (isNumberStart(code)) {
      const start = at
      at = endOfDecimal(text, at)
      const hasExponent = isExponent(text.charCodeAt(at))
      if (hasExponent) at = endOfDecimal(text, at + 1)
      if (hasExponent || at - start > SAFE_CHARACTERS) isExact &&= fitsDouble(text.slice(start, at))
      at -= 1
    }
  }
  return { members, isExact }
}

const isNumberStart = (code: number) => (code >= 0x30 && code <= 0x39) || code === 0x2d
const isExponent = (code: number) => code === 0x65 || code === 0x45

/** The index after digits, signs and decimal points: the only characters of JSON in this range, except for `/`. */
function endOfDecimal(text: string, start: number): number {
  let at = start + 1
  for (
    let code = text.charCodeAt(at);
    code >= 0x2b && code <= 0x39 && code !== 0x2c;
    code = text.charCodeAt(at)
  )
    at += 1
  return at
}

/** Strings longer than this are skipped with a native search, shorter ones faster without. */
const LONG_STRING = 32

/** The index of the closing quote of a string that opens at an index. */
function endOfString(text: string, open: number): number {
  for (let at = open + 1; at < open + LONG_STRING; at += 1) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at
    if (code === BACKSLASH) at += 1
  }
  for (let at = open; ; ) {
    at = text.indexOf('"', at + 1)
    let backslashes = 0
    while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes += 1
    if (backslashes % 2 === 0) return at
  }
}

const COLON_NEXT = /\s*:/y

/** The path of the first duplicate key in a valid JSON text that has one. */
function findDuplicateKey(text: string): string[] {
  const parents: { keys: Set<string> | null; name: string; index: number }[] = []
  for (let at = 0; at < text.length; at += 1) {
    const parent = parents.at(-1)
    const character = text[at]
    if (character === '{' || character === '[')
      parents.push({ keys: character === '{' ? new Set() : null, name: '0', index: 0 })
    else if (character === '}' || character === ']') parents.pop()
    else if (character === ',' && parent?.keys === null) parent.name = String(++parent.index)
    else if (character === '"') {
      const end = endOfString(text, at)
      COLON_NEXT.lastIndex = end + 1
      if (parent?.keys && COLON_NEXT.test(text)) {
        parent.name = JSON.parse(text.slice(at, end + 1))
        if (parent.keys.has(parent.name)) return parents.map(({ name }) => name)
        parent.keys.add(parent.name)
      }
      at = end
    }
  }
  return []
}
