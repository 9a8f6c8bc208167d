import { isJsonObject, type Json } from '../../../core/json.ts'
import type { Shape } from '../shape.ts'
import { convertScalar } from './convert-scalar.ts'
import { fits, isValidScalar } from './fits.ts'
import { parseJsonText } from './parse-json-text.ts'
import { toList } from './to-list.ts'

/** Whether a value fits a shape, converted if necessary. */
export function canFit(shape: Shape, value: Json): boolean {
  return isValidScalar(shape, value) || convertValue(shape, value) !== undefined
}

/**
 * Converts a value that does not fit, or a scalar that fits and is invalid. Undefined when there is no conversion, or
 * more than one. A converted scalar is valid; the parts of an object or array are not converted. null stays null.
 */
export function convertValue(shape: Shape, value: Json): Json | undefined {
  if (value === null) return undefined
  const single = Array.isArray(value) ? toSingle(shape, value) : convertScalar(shape, value)
  const object = typeof value === 'string' && shape.types?.has('object') ? toObject(shape, value) : undefined
  const list = shape.types?.has('array') ? toList(shape, value) : undefined
  if (object === undefined && list === undefined) return single
  if (single !== undefined) return undefined
  return object === undefined || list === undefined ? (object ?? list) : undefined
}

function toObject(shape: Shape, text: string): Json | undefined {
  const parsed = fits(shape, text) ? undefined : parseJsonText(text)
  return isJsonObject(parsed) ? parsed : undefined
}

/** The item of a list of one, where the shape allows no list. */
function toSingle(shape: Shape, list: Json[]): Json | undefined {
  const [item = null] = list
  if (list.length !== 1 || item === null || !(shape.types || shape.choices) || fits(shape, list))
    return undefined
  return isValidScalar(shape, item) ? item : convertScalar(shape, item)
}
