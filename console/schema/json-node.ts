import { MAX_JSON_DEPTH } from '../../lib/core/json/json.ts'
import { shorten } from '../components/format.ts'

/** A JSON text with the position of every part, in UTF-16 code units, its numbers as typed, and where an error is. */
export type JsonNode = { start: number; end: number } & (
  | { type: 'object'; members: JsonMember[] }
  | { type: 'array'; items: JsonNode[] }
  | { type: 'string'; value: string }
  | { type: 'number'; source: string }
  | { type: 'boolean'; value: boolean }
  | { type: 'null' }
)

type JsonMember = { name: string; nameStart: number; value: JsonNode }

/** The message is a sentence. */
export class JsonSyntaxError extends Error {
  readonly offset: number

  constructor(message: string, offset: number) {
    super(message)
    this.offset = offset
  }
}

const SPACE = /[ \t\n\r]*/y
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const WORD = /[\w.+-]+/y
/** No flag `u`: without it, the engine needs no memory for each character of a long text. */
const PLAIN_TEXT = /[ !#-[\]-\uffff]*/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y

/** @throws JsonSyntaxError at the first mistake */
export function parseJsonTree(text: string): JsonNode {
  let at = text.charCodeAt(0) === 0xfeff ? 1 : 0

  const fail = (message: string, offset = at): never => {
    throw new JsonSyntaxError(message, offset)
  }

  /** Moves over what a sticky expression matches here; undefined, without moving, when nothing does. */
  function take(expression: RegExp): string | undefined {
    expression.lastIndex = at
    const matched = expression.exec(text)?.[0]
    if (matched !== undefined) at += matched.length
    return matched
  }

  function takeSign(sign: string): boolean {
    take(SPACE)
    if (text[at] !== sign) return false
    at += 1
    return true
  }

  function parseValue(depth: number): JsonNode {
    take(SPACE)
    const start = at
    if (depth > MAX_JSON_DEPTH && /[[{]/.test(text[at] ?? ''))
      fail(`The JSON is nested more than ${MAX_JSON_DEPTH} levels deep.`)
    if (takeSign('{')) return { type: 'object', start, members: parseMembers(depth), end: at }
    if (takeSign('[')) return { type: 'array', start, items: parseItems(depth), end: at }
    if (text[at] === '"') return { type: 'string', start, value: parseString(), end: at }
    return parseWord()
  }

  function parseMembers(depth: number): JsonMember[] {
    const members: JsonMember[] = []
    if (takeSign('}')) return members
    for (;;) {
      take(SPACE)
      if (text[at] === '}') fail('Remove the comma before the closing brace.', text.lastIndexOf(',', at))
      if (text[at] !== '"') fail('Expected a field name in double quotes.')
      const nameStart = at
      const name = parseString()
      if (!takeSign(':')) fail('Expected a colon after the field name.')
      members.push({ name, nameStart, value: parseValue(depth + 1) })
      if (takeSign('}')) return members
      if (!takeSign(',')) fail('Expected a comma or a closing brace.')
    }
  }

  function parseItems(depth: number): JsonNode[] {
    const items: JsonNode[] = []
    if (takeSign(']')) return items
    for (;;) {
      take(SPACE)
      if (text[at] === ']') fail('Remove the comma before the closing bracket.', text.lastIndexOf(',', at))
      items.push(parseValue(depth + 1))
      if (takeSign(']')) return items
      if (!takeSign(',')) fail('Expected a comma or a closing bracket.')
    }
  }

  function parseString(): string {
    const start = at
    at += 1
    for (;;) {
      take(PLAIN_TEXT)
      const next = text[at]
      if (next === '"') break
      if (next === undefined) fail('The text is not closed: expected a double quote.', start)
      if (next === '\n' || next === '\r') fail('A text cannot contain a line break. Write \\n.')
      if (next !== '\\')
        fail(`A text cannot contain a control character. Write ${JSON.stringify(next).slice(1, -1)}.`)
      if (take(ESCAPE) === undefined)
        fail('Invalid escape. Write \\\\ for a backslash; \\n, \\t, \\" and \\u00e9 are examples of escapes.')
    }
    at += 1
    return JSON.parse(text.slice(start, at))
  }

  function parseWord(): JsonNode {
    const start = at
    const word = take(WORD)
    if (word === undefined) return fail(at < text.length ? 'Expected a value.' : 'The JSON ends too early.')
    if (word === 'true' || word === 'false')
      return { type: 'boolean', start, value: word === 'true', end: at }
    if (word === 'null') return { type: 'null', start, end: at }
    if (!isJsonNumber(word))
      fail(
        /^[-+.\d]/.test(word) ? explainNumber(word) : `Expected a value, found ${shorten(word, 30)}.`,
        start,
      )
    if (!Number.isFinite(Number(word))) fail('The number is beyond the range of a double.', start)
    return { type: 'number', start, source: word, end: at }
  }

  const root = parseValue(1)
  take(SPACE)
  if (at < text.length) fail('Expected nothing after the value.')
  return root
}

export function tryParseTree(text: string): JsonNode | null {
  const read = readTree(text)
  return read instanceof JsonSyntaxError ? null : read
}

export function readTree(text: string): JsonNode | JsonSyntaxError {
  try {
    return parseJsonTree(text)
  } catch (error) {
    if (error instanceof JsonSyntaxError) return error
    throw error
  }
}

/** Whether a text is a number as JSON writes it (RFC 8259, section 6). */
export function isJsonNumber(text: string): boolean {
  NUMBER.lastIndex = 0
  return NUMBER.exec(text)?.[0] === text && text !== ''
}

function explainNumber(word: string): string {
  const example = /^-?0\d/.test(word) ? 'without leading zeros' : 'such as 12, -0.5 or 6e23'
  return `${shorten(word, 30)} is not a number of JSON: write it ${example}.`
}

/** From 1. Columns count UTF-16 code units. */
export type TextPosition = { line: number; column: number }

export class LineIndex {
  private readonly starts: number[] = [0]

  constructor(text: string) {
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) this.starts.push(at + 1)
  }

  get count(): number {
    return this.starts.length
  }

  positionOf(offset: number): TextPosition {
    let low = 0
    let high = this.starts.length
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if ((this.starts[middle] ?? 0) <= offset) low = middle
      else high = middle
    }
    return { line: low + 1, column: offset - (this.starts[low] ?? 0) + 1 }
  }
}
