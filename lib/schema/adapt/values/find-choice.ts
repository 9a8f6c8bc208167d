import { ExactNumber, parseNumber } from '../../../core/exact-number.ts'
import { isJsonObject, type Json } from '../../../core/json.ts'
import { foldCase, normalizeText } from '../../similar-names.ts'

/**
 * The only choice that a value can mean: first ignoring case and surrounding white space and reading numbers and
 * booleans from strings (and the reverse), then also ignoring separators. An option of a form (`{value, label}`) means
 * its value, unless its label means another choice.
 */
export function findChoice(choices: readonly Json[], value: Json): Json | undefined {
  if (isJsonObject(value)) return isOption(value) ? findOption(choices, value) : undefined
  if (Array.isArray(value) || value === null) return undefined
  const text = String(value)
  const strings = choices.filter((choice) => typeof choice === 'string')
  const sameText: Json[] = strings.filter((choice) => foldCase(choice) === foldCase(text))
  const sameValue = choices.find((choice) => typeof value === 'string' && isWrittenAs(choice, value))
  const matches = sameValue === undefined ? sameText : [...sameText, sameValue]
  if (matches.length > 0) return matches.length === 1 ? matches[0] : undefined
  const normalized = normalizeText(text)
  const similar = strings.filter((choice) => normalized !== '' && normalizeText(choice) === normalized)
  return similar.length === 1 ? similar[0] : undefined
}

type Option = { value: Json; label: Json }

const isOption = (value: Json): value is Option =>
  isJsonObject(value) && Object.keys(value).sort().join() === 'label,value'

function findOption(choices: readonly Json[], { value, label }: Option): Json | undefined {
  const [byValue, byLabel] = [value, label].map((part) => chooseScalar(choices, part))
  return byLabel === undefined || byLabel === byValue ? byValue : undefined
}

function chooseScalar(choices: readonly Json[], value: Json): Json | undefined {
  if (typeof value === 'object' && !(value instanceof ExactNumber)) return undefined
  return choices.includes(value) ? value : findChoice(choices, value)
}

function isWrittenAs(choice: Json, text: string): boolean {
  if (typeof choice === 'number') return parseNumber(text) === choice
  return typeof choice === 'boolean' && text.toLowerCase() === String(choice)
}
