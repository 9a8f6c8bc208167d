import type { Json } from '../../core/json.ts'
import { typeOf } from '../type-names.ts'
import { exactJson } from './exact-json.ts'
import { exactNumber } from './exact-number.ts'
import { matchChoice } from './match-choice.ts'
import type { Shape } from './shape.ts'

/** Whether a value is of a type, or among the choices, that a shape wants. Its parts are not looked at. */
export function fits({ choices, types }: Shape, value: Json): boolean {
  if (choices) return (typeof value === 'object' && value !== null) || choices.includes(value)
  if (!types) return true
  if (typeof value === 'number')
    return types.has('number') || (types.has('integer') && Number.isInteger(value))
  return types.has(typeOf(value))
}

/** Whether a value fits a shape as it is or converted. */
export function canFit(shape: Shape, value: Json): boolean {
  return fits(shape, value) || convertValue(shape, value) !== undefined
}

/**
 * What a value that does not fit becomes in order to fit; undefined when there is nothing, or more than one thing, that
 * it certainly means. Nothing is lost on the way: a list of one is never taken for its item, and null stays null.
 */
export function convertValue(shape: Shape, value: Json): Json | undefined {
  if (value === null) return undefined
  const { choices, types } = shape
  if (choices) return matchChoice(choices, value)
  const results: Json[] = []
  for (const type of types ?? []) {
    if (type === 'integer' && types?.has('number')) continue
    const result = type === 'array' ? toList(shape, value) : toType(type, value)
    if (result !== undefined) results.push(result)
  }
  return results.length === 1 ? results[0] : undefined
}

function toType(type: string, value: Json): Json | undefined {
  if (type === 'string' && (typeof value === 'number' || typeof value === 'boolean')) return String(value)
  if (typeof value !== 'string') return undefined
  if (type === 'number') return exactNumber(value)
  if (type === 'integer') return exactInteger(value)
  if (type === 'object') return exactJson(value, '{')
  if (type === 'boolean' && /^(true|false)$/i.test(value)) return value.toLowerCase() === 'true'
  return undefined
}

function exactInteger(text: string): number | undefined {
  const number = exactNumber(text)
  return Number.isInteger(number) ? number : undefined
}

/** A JSON text of a list, or a list of the one value, if the list may hold it: but no list of a list. */
function toList({ items, firstItems }: Shape, value: Json): Json | undefined {
  const parsed = typeof value === 'string' ? exactJson(value, '[') : undefined
  if (parsed !== undefined) return parsed
  if (Array.isArray(value) || firstItems.length > 0) return undefined
  if (!items || fits(items, value)) return [value]
  const item = items.types?.has('array') ? undefined : convertValue(items, value)
  return item === undefined ? undefined : [value]
}
