import type { OutputUnit } from '@cfworker/json-schema'
import type { Json } from '../../core/json.ts'
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
  const text = String(expected)
  switch (keyword) {
    case 'type':
      return `must be ${describeExpected(keyword, expected)}${describeActualType(error)}.`
    case 'enum':
    case 'const':
      return `must be ${describeExpected(keyword, expected)}.`
    case 'format':
      return formatMessage(text)
    case 'pattern':
      return patternMessage(text)
    case 'minLength':
      return expected === 1 ? 'must not be empty.' : `must have at least ${count(expected, 'character')}.`
    case 'maxLength':
      return `must have at most ${count(expected, 'character')}.`
    case 'minItems':
      return expected === 1 ? 'must not be empty.' : `must have at least ${count(expected, 'item')}.`
    case 'maxItems':
      return `must have at most ${count(expected, 'item')}.`
    case 'minProperties':
      return `must have at least ${count(expected, 'field')}.`
    case 'maxProperties':
      return `must have at most ${count(expected, 'field')}.`
    case 'minimum':
      return `must be at least ${text}.`
    case 'maximum':
      return `must be at most ${text}.`
    case 'exclusiveMinimum':
      return `must be greater than ${text}.`
    case 'exclusiveMaximum':
      return `must be less than ${text}.`
    case 'multipleOf':
      return `must be a multiple of ${text}.`
    case 'uniqueItems':
      return 'must not contain duplicate items.'
    case 'contains':
      return 'must contain at least 1 item matching the schema of "contains".'
    case 'minContains':
      return `must contain at least ${count(expected, 'item')} matching the schema of "contains".`
    case 'maxContains':
      return `must contain at most ${count(expected, 'item')} matching the schema of "contains".`
    case 'not':
      return 'must not match the schema of "not".'
    case 'false':
      return 'is not allowed.'
    case 'anyOf':
      return 'must match at least one of the allowed schemas.'
    case 'oneOf':
      return error.includes('(0 matches)')
        ? 'must match exactly one of the allowed schemas, but matches none.'
        : 'must match exactly one of the allowed schemas, but matches several.'
    default:
      return `does not match the schema: ${error}`
  }
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

const count = (number: Json | undefined, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`
