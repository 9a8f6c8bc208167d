import type { Json } from '../../core/json.ts'
import { folded, looseText } from '../spelling.ts'
import { exactNumber } from './exact-number.ts'

/**
 * The one choice that a value means: a text without regard to case and surrounding blanks, or a number or boolean that
 * was written as text (or the other way round); if there is none, a text without regard to separators either.
 */
export function matchChoice(choices: readonly Json[], value: Json): Json | undefined {
  if (value === null || typeof value === 'object') return undefined
  const text = String(value)
  const texts = choices.filter((choice) => typeof choice === 'string')
  const alike = texts.filter((choice) => folded(choice) === folded(text))
  const read = choices.find((choice) => typeof value === 'string' && isReadAs(choice, value))
  const near: Json[] = read === undefined ? alike : [...alike, read]
  if (near.length > 0) return near.length === 1 ? near[0] : undefined
  const loose = looseText(text)
  const looselyAlike = texts.filter((choice) => loose !== '' && looseText(choice) === loose)
  return looselyAlike.length === 1 ? looselyAlike[0] : undefined
}

function isReadAs(choice: Json, text: string): boolean {
  if (typeof choice === 'number') return exactNumber(text) === choice
  return typeof choice === 'boolean' && text.toLowerCase() === String(choice)
}
