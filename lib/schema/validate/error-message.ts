import type { OutputUnit } from '@cfworker/json-schema'
import type { Json } from '../../core/json/json.ts'
import { joinWithOr, truncate, withArticle } from '../message-text.ts'
import { patternOfFormat } from '../patterns/schema-patterns.ts'

const MAX_CHOICES = 10

const FORMATS = new Map([
  ['date', 'a date such as 2026-01-31'],
  ['date-time', 'a date and time with an offset, such as 2026-01-31T12:00:00Z'],
  ['time', 'a time with an offset, such as 12:00:00Z'],
  ['email', 'an email address'],
  ['uri', 'a URI'],
  ['uuid', 'a UUID'],
])

type Unit = Pick<OutputUnit, 'keyword'> & Partial<OutputUnit>

/** The predicate of an error sentence. `expected` is the schema's value of the failed keyword. */
export function errorMessage({ keyword, error = '' }: Unit, expected: Json | undefined): string {
  return MESSAGES[keyword]?.(expected, error) ?? `does not match the schema: ${error}`
}

type Message = (expected: Json | undefined, error: string) => string

const IS_EMPTY = 'must not be empty.'
const count = (limit: Json | undefined, noun: string) => `${limit} ${noun}${limit === 1 ? '' : 's'}`
const atLeast = (min: Json | undefined, noun: string) => `must have at least ${count(min, noun)}.`
const atMost = (max: Json | undefined, noun: string) => `must have at most ${count(max, noun)}.`

const MESSAGES: Record<string, Message> = {
  type: (types, error) => `must be ${describeExpected('type', types)}${describeActualType(error)}.`,
  enum: (choices) => `must be ${describeExpected('enum', choices)}.`,
  const: (choice) => `must be ${describeExpected('const', choice)}.`,
  format: (format) => formatMessage(String(format)),
  pattern: (pattern) => patternMessage(String(pattern)),
  minLength: (min) => (min === 1 ? IS_EMPTY : atLeast(min, 'character')),
  maxLength: (max) => atMost(max, 'character'),
  minItems: (min) => (min === 1 ? IS_EMPTY : atLeast(min, 'item')),
  maxItems: (max) => atMost(max, 'item'),
  minProperties: (min) => atLeast(min, 'field'),
  maxProperties: (max) => atMost(max, 'field'),
  minimum: (min) => `must be at least ${min}.`,
  maximum: (max) => `must be at most ${max}.`,
  exclusiveMinimum: (min) => `must be greater than ${min}.`,
  exclusiveMaximum: (max) => `must be less than ${max}.`,
  multipleOf: (factor) => `must be a multiple of ${factor}.`,
  uniqueItems: () => 'must not contain duplicate items.',
  contains: () => 'must contain at least 1 item matching the schema of "contains".',
  minContains: (min) => `must contain at least ${count(min, 'item')} matching the schema of "contains".`,
  maxContains: (max) => `must contain at most ${count(max, 'item')} matching the schema of "contains".`,
  not: () => 'must not match the schema of "not".',
  false: () => 'is not allowed.',
  anyOf: () => 'must match at least one of the allowed schemas.',
  oneOf: (_, error) =>
    `must match exactly one of the allowed schemas, but matches ${error.includes('(0 matches)') ? 'none' : 'several'}.`,
}

function formatMessage(format: string): string {
  const pattern = patternOfFormat(format)
  if (pattern !== undefined) return patternMessage(pattern)
  return FORMATS.has(format) ? `must be ${FORMATS.get(format)}.` : `must match the format ${format}.`
}

const patternMessage = (pattern: string) => `must match the pattern ${truncate(pattern, 100)}.`

/** The value that `type`, `enum` or `const` requires. */
export function describeExpected(keyword: string, expected: Json | undefined): string {
  if (keyword === 'type') return joinWithOr([expected].flat().map((type) => withArticle(String(type))))
  const choices = keyword === 'enum' && Array.isArray(expected) ? expected : [expected ?? null]
  if (choices.length === 1) return describeChoice(choices[0] ?? null)
  const listed = choices.slice(0, MAX_CHOICES).map(describeChoice)
  const others = choices.length - listed.length
  return `one of ${listed.join(', ')}${others > 0 ? ` and ${others} more` : ''}`
}

/** `, not a string`, from the validator's message about a type. */
export function describeActualType(error: string): string {
  const actual = /^Instance type "(\w+)"/.exec(error)?.[1] ?? ''
  const isFraction = actual === 'number' && error.includes('"integer"')
  return `, not ${isFraction ? 'a fractional number' : withArticle(actual)}`
}

/** Strings are quoted only where they would be ambiguous in a list. */
function describeChoice(choice: Json): string {
  const isUnambiguous = typeof choice === 'string' && /^[^\s,"]+( [^\s,"]+)*$/.test(choice)
  return truncate(isUnambiguous ? choice : JSON.stringify(choice), 40)
}
