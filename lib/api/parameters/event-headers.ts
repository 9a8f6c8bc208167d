import * as z from 'zod/mini'
import { describe } from './parameter.ts'

const ERROR = 'must be the id of an event that was received: the number of a step'

export const eventHeaders = z.object({
  'Last-Event-ID': describe(
    z.optional(
      z.pipe(
        z.string().check(z.regex(/^(?:0|[1-9]\d{0,4})?$/, { error: ERROR })),
        z.transform((text) => Number(text)),
      ),
    ),
    'The number of the last step that was received. The stream continues after it.',
    { example: '3' },
  ),
})
