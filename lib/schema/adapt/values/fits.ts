import { ExactNumber } from '../../../core/exact-number.ts'
import type { Json } from '../../../core/json.ts'
import { jsonTypeOf } from '../../message-text.ts'
import type { Shape } from '../shape.ts'

/** Whether a value has a type, or is one of the choices, of a shape. Does not look at the parts of the value. */
export function fits({ choices, types }: Shape, value: Json): boolean {
  if (value instanceof ExactNumber) return false
  if (choices) return choices.includes(value) || (isContainer(value) && choices.some(isContainer))
  if (!types) return true
  if (typeof value === 'number')
    return types.has('number') || (types.has('integer') && Number.isInteger(value))
  return types.has(jsonTypeOf(value))
}

/** Whether a value fits, and is valid if it is a scalar. */
export const isValidScalar = (shape: Shape, value: Json): boolean =>
  fits(shape, value) && (!shape.restrictsScalars || typeof value === 'object' || shape.accepts(value))

const isContainer = (value: Json) => typeof value === 'object' && value !== null
