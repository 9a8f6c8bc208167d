import * as z from 'zod'
import { isSlug } from '../core/ids.ts'
import { isJsonObject, type JsonObject } from '../core/json.ts'
import { MAX_AGENT_STEPS } from '../core/limits.ts'
import { fieldMapSchema, isJsonSchema } from '../schema/field-map.ts'

const MAX_TEXT = 2_000
const DAY_SECONDS = 24 * 60 * 60

/** A field map, or a whole JSON Schema of an object; what a JSON Schema says is checked by `checkSchemas`. */
const declaredSchema = z
  .custom<JsonObject>(isJsonObject, 'must map each field name to { type, description }')
  .check((context) => {
    const { value, issues } = context
    if (!isJsonSchema(value)) {
      const { error } = fieldMapSchema.safeParse(value)
      issues.push(
        ...(error?.issues ?? []).map((issue) => ({ ...issue, input: value }) as z.core.$ZodRawIssue),
      )
    } else if (value.type !== 'object') {
      issues.push({
        code: 'custom',
        input: value,
        path: ['type'],
        message: 'must be "object" for a whole JSON Schema',
      })
    }
  })

const settingsSchema = z.strictObject({
  useCache: z.boolean().default(false),
  cacheTtlSeconds: z
    .int()
    .min(1)
    .max(365 * DAY_SECONDS)
    .nullable()
    .default(null),
  maxAgentSteps: z
    .int()
    .min(MAX_AGENT_STEPS.least)
    .max(MAX_AGENT_STEPS.most)
    .default(MAX_AGENT_STEPS.default),
  timeoutSeconds: z.int().min(1).max(DAY_SECONDS).nullable().default(null),
})

/** The front matter of an `agent.md`. */
export const documentSchema = z.strictObject({
  title: z.string().trim().min(1).max(200),
  description: z.string().max(MAX_TEXT).nullable().default(null),
  slug: z
    .string()
    .refine(isSlug, 'must be lowercase words joined by hyphens, at most 64 characters, and not a UUID')
    .optional(),
  input: declaredSchema,
  output: declaredSchema,
  model: z.string().min(1).max(200).nullable().default(null),
  tools: z.array(z.unknown()).default([]),
  code: z.boolean().default(false),
  execution: settingsSchema.prefault({}),
})

/** An agent as its folder describes it: the front matter with defaults filled in, its slug, and the instructions. */
export type AgentDocument = Omit<z.infer<typeof documentSchema>, 'slug'> & {
  slug: string
  instructions: string
}
