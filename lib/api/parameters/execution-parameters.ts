import * as z from 'zod/mini'
import { describe, flag } from './parameter.ts'

export const executionParameters = z.object({
  adaptedInput: describe(
    flag(),
    'Add the input that the agent received as `adaptedInput`, if it differs from the one that was sent.',
  ),
})
