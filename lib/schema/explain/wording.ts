import type { OutputUnit } from '@cfworker/json-schema'
import type { Json } from '../../core/json.ts'
import { shortened } from '../json-pointer.ts'
import { oneOfThese, typeName } from '../type-names.ts'

const MAX_CHOICES = 10

const FORMATS: Record<string, string> = {
  date: 'a date, such as 2026-01-31',
  'date-time': 'a date and time with its offset, such as 2026-01-31T12:00:00Z',
  time: 'a time with its offset, such as 12:00:00Z',
  email: 'an e-mail address',
  uri: 'a URI',
  uuid: 'a UUID',
}

/** What is wrong, said of a place: the predicate of a sentence. `wanted` is what the schema says under the keyword. */
export function sentence({ keyword, error }: OutputUnit, wanted: Json | undefined): string {
  const text = String(wanted)
  switch (keyword) {
    case 'type':
      return `must be ${expectation(keyword, wanted)}${actualType(error)}.`
    case 'enum':
    case 'const':
      return `must be ${expectation(keyword, wanted)}.`
    case 'format':
      return `must be ${FORMATS[text] ?? `of the format ${text}`}.`
    case 'pattern':
      return `must match the pattern ${shortened(text, 100)}.`
    case 'minLength':
      return wanted === 1 ? 'must not be empty.' : `must have at least ${count(wanted, 'character')}.`
    case 'maxLength':
      return `must have at most ${count(wanted, 'character')}.`
    case 'minItems':
      return wanted === 1 ? 'must not be empty.' : `must have at least ${count(wanted, 'item')}.`
    case 'maxItems':
      return `must have at most ${count(wanted, 'item')}.`
    case 'minProperties':
      return `must have at least ${count(wanted, 'field')}.`
    case 'maxProperties':
      return `must have at most ${count(wanted, 'field')}.`
    case 'minimum':
      return `must be at least ${text}.`
    case 'maximum':
      return `must be at most ${text}.`
    case 'exclusiveMinimum':
      return `must be more than ${text}.`
    case 'exclusiveMaximum':
      return `must be less than ${text}.`
    case 'multipleOf':
      return `must be a multiple of ${text}.`
    case 'uniqueItems':
      return 'must not hold an item twice.'
    case 'contains':
      return 'must hold an item of the kind that the schema asks for.'
    case 'minContains':
      return `must hold at least ${count(wanted, 'item')} of the kind that the schema asks for.`
    case 'maxContains':
      return `must hold at most ${count(wanted, 'item')} of the kind that the schema asks for.`
    case 'not':
      return 'must not be what the schema rules out.'
    case 'false':
      return 'is not allowed.'
    case 'anyOf':
      return 'fits none of the forms that the schema allows.'
    case 'oneOf':
      return error.includes('(0 matches)')
        ? 'fits none of the forms that the schema allows.'
        : 'fits several forms of which the schema allows one.'
    default:
      return `does not match the schema: ${error}`
  }
}

/** What a value must be according to `type`, `enum` or `const`. */
export function expectation(keyword: string, wanted: Json | undefined): string {
  if (keyword === 'type') return oneOfThese([wanted].flat().map((type) => typeName(String(type))))
  const choices = keyword === 'enum' && Array.isArray(wanted) ? wanted : [wanted ?? null]
  if (choices.length === 1) return choiceName(choices[0] ?? null)
  const names = choices.slice(0, MAX_CHOICES).map(choiceName)
  const others = choices.length - names.length
  return `one of ${names.join(', ')}${others > 0 ? ` and ${others} more` : ''}`
}

/** `, not a text`, from what the validator says of a value's type. */
export function actualType(error: string): string {
  const actual = /^Instance type "(\w+)"/.exec(error)?.[1] ?? ''
  if (actual === 'boolean') return ', not a boolean'
  return actual === 'number' && error.includes('"integer"')
    ? ', not a number with a fraction'
    : `, not ${typeName(actual)}`
}

/** A text stands as it is, unless it could be taken for something else in a list. */
function choiceName(choice: Json): string {
  const isPlain = typeof choice === 'string' && /^[^\s,"]+( [^\s,"]+)*$/.test(choice)
  return shortened(isPlain ? choice : JSON.stringify(choice), 40)
}

const count = (number: Json | undefined, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`
