import * as z from 'zod'
import { FIELD_TYPES, type Field, FORMATS } from './field-map.ts'

const count = z.int().min(0).optional()
const limit = z.number().optional()

/** Used when publishing only. Separate from `field-map.ts`, so that the functions that run agents do not load zod. */
export const fieldSchema: z.ZodType<Field> = z.lazy(() =>
  z.strictObject({
    type: z.enum(FIELD_TYPES),
    description: z.string().optional(),
    /** Default: true, unless the field has a default. */
    required: z.boolean().optional(),
    enum: z.array(z.unknown()).min(1).optional(),
    items: fieldSchema.optional(),
    properties: z.record(z.string(), fieldSchema).optional(),
    default: z.unknown().optional(),
    minLength: count,
    maxLength: count,
    pattern: z.string().optional(),
    format: z.enum(FORMATS).optional(),
    minimum: limit,
    maximum: limit,
    minItems: count,
    maxItems: count,
  }),
)

export const fieldMapSchema = z.record(z.string().min(1), fieldSchema)
