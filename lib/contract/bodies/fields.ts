import * as z from 'zod/mini'
import { isUuid } from '../../core/ids.ts'

export type Range = { min: number; max: number }

// Each of these values has one error, whatever is wrong with it.
export const numberIn = ({ min, max }: Range, error: string) =>
  z.number({ error }).check(z.minimum(min, { error }), z.maximum(max, { error }))
export const integerIn = ({ min, max }: Range, error: string) =>
  z.int({ error }).check(z.minimum(min, { error }), z.maximum(max, { error }))
export const uuid = (error: string) => z.string({ error }).check(z.refine(isUuid, { error }))
export const oneToMany = <Item extends z.ZodMiniType>(item: Item, max: number, error: string) =>
  z.array(item, { error }).check(z.minLength(1, { error }), z.maxLength(max, { error }))

export const flag = (description: string) =>
  z.optional(z.boolean({ error: 'must be true or false' })).check(z.describe(description))

export function within({ min, max }: Range, description: string, isInteger = true) {
  const error = `must be ${isInteger ? 'an integer' : 'a number'} from ${min} to ${max}`
  return z.optional((isInteger ? integerIn : numberIn)({ min, max }, error)).check(z.describe(description))
}
