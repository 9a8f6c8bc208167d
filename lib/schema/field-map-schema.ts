import * as z from 'zod'
import { FIELD_TYPES, type Field } from './field-map.ts'

/** A field that has a default may be left out; every other one is required unless it says `required: false`. */
export const fieldSchema: z.ZodType<Field> = z.lazy(() =>
  z.strictObject({
    type: z.enum(FIELD_TYPES),
    description: z.string().optional(),
    required: z.boolean().optional(),
    enum: z.array(z.unknown()).min(1).optional(),
    items: fieldSchema.optional(),
    properties: z.record(z.string(), fieldSchema).optional(),
    default: z.unknown().optional(),
  }),
)

export const fieldMapSchema = z.record(z.string().min(1), fieldSchema)
