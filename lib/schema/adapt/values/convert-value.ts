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
  const results = [
    convertScalar(shape, value),
    shape.types?.has('object') && !fits(shape, value) ? toObject(value) : undefined,
    shape.types?.has('array') ? toList(shape, value) : undefined,
    toSingle(shape, value),
  ].filter((result) => result !== undefined)
  return results.length === 1 ? results[0] : undefined
}

function toObject(value: Json): Json | undefined {
  const parsed = typeof value === 'string' ? parseJsonText(value) : undefined
  return isJsonObject(parsed) ? parsed : undefined
}

/** The item of a list of one, where the shape allows no list. */
function toSingle(shape: Shape, value: Json): Json | undefined {
  if (!Array.isArray(value) || value.length !== 1 || !(shape.types || shape.choices)) return undefined
  const [item = null] = value
  if (fits(shape, value) || item === null) return undefined
  return isValidScalar(shape, item) ? item : convertScalar(shape, item)
}
