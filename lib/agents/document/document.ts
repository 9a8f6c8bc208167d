import * as z from 'zod'
import { MAX_BATCH_LINES } from '../../core/batch.ts'
import { isSlug } from '../../core/ids.ts'
import { isJsonObject, type JsonObject } from '../../core/json/json.ts'
import {
  CONTEXT_WINDOW,
  KEPT_RESULTS,
  MAX_AGENT_STEPS,
  MAX_CHILDREN,
  MAX_COST_USD,
  MAX_PARALLEL_TOOL_CALLS,
  MAX_TOKENS,
} from '../../core/limits.ts'
import { ModelConfigurationError } from '../../core/model.ts'
import { MAX_TRIAL_RUNS } from '../../core/trial.ts'
import { parseModelName } from '../../models/model-name.ts'
import { checkWireSchema } from '../../models/requests/wire-schema.ts'
import { checkDeclaredSchema, fieldMapSchema } from '../../schema/check-declared-schema.ts'
import { isJsonSchema } from '../../schema/field-map.ts'
import { withNullableTypes } from '../../schema/openapi.ts'
import { hostSchema } from '../../tools/document/tool-fields.ts'
import { toolsSchema } from '../../tools/document/tools-schema.ts'
import { keysSchema } from './keys-schema.ts'
import { remoteSchema } from './remote-schema.ts'
import { schedulesSchema } from './schedules-schema.ts'
import { scorersSchema } from './scorers-schema.ts'

/** Credentials of the service's own role and account are never passed to an agent. */
const ENV_NAME = /^(?!AWS_|LAMBDA_|_)[A-Za-z][A-Za-z0-9_]{0,63}$/
const ENV_NAME_ERROR = 'must be the name of an environment variable that does not start with AWS_ or LAMBDA_'
const MAX_ENV_NAMES = 64

const SLUG_ERROR = 'must be lowercase words joined by hyphens, at most 64 characters, and not a UUID'

const MAX_DESCRIPTION_CHARACTERS = 2_000
const DAY_SECONDS = 24 * 60 * 60
const YEAR_SECONDS = 365 * DAY_SECONDS

const ROOT_REFERENCE =
  'must not be alone at the top level: write `type: object` beside it, so that it is known to be an object'

const declaredSchema = (options: { allowsFiles?: boolean } = {}) =>
  z
    .custom<JsonObject>(isJsonObject, 'must be an object that maps field names to { type, description }')
    .check((context) => {
      const { value, issues } = context
      const add = (...found: object[]) => void issues.push(...(found as z.core.$ZodRawIssue[]))
      if (isJsonSchema(value)) {
        if (value.type !== 'object') {
          if (typeof value.$ref === 'string')
            return add({ code: 'custom', path: ['$ref'], message: ROOT_REFERENCE })
          const message = 'must be "object" at the top level of a JSON Schema'
          return add({ code: 'custom', input: value.type, path: ['type'], message })
        }
      } else {
        if (typeof value.$ref === 'string')
          return add({ code: 'custom', path: ['$ref'], message: ROOT_REFERENCE })
        const { error } = fieldMapSchema.safeParse(value, { reportInput: true })
        if (error) return add(...error.issues)
      }
      const problems = checkDeclaredSchema(value, options)
      if (problems.length === 0) problems.push(...checkWireSchema(value))
      add(...problems.map((problem) => ({ code: 'custom', input: value, ...problem })))
    })
    .transform(withNullableTypes)

const modelNameSchema = z.string().superRefine((text, context) => {
  try {
    parseModelName(text)
  } catch (error) {
    if (!(error instanceof ModelConfigurationError)) throw error
    context.addIssue({ code: 'custom', message: error.message })
  }
})

/** Output limits of today's models are below a million tokens. */
const MAX_OUTPUT_TOKENS = 1_000_000

const MAX_MODELS = 50
const MAX_FALLBACKS = 5

/** A model with settings; without a name, the default model. */
export const modelObjectSchema = z.strictObject({
  name: modelNameSchema.optional(),
  fallbacks: z.array(modelNameSchema).min(1).max(MAX_FALLBACKS).optional(),
  maxOutputTokens: z.int().min(1).max(MAX_OUTPUT_TOKENS).optional(),
  temperature: z.number().min(0).max(2).optional(),
})

const MODEL_ERROR =
  'must be "{provider}/{model}", a list of such names, or an object such as { name: "{provider}/{model}", maxOutputTokens: 4000 }'

const modelListSchema = z
  .array(modelNameSchema)
  .min(1)
  .max(1 + MAX_FALLBACKS)

type ModelObject = z.infer<typeof modelObjectSchema>

/** A name, a list, or an object. Not a union, whose issues would not say which of them is meant. */
const modelSchema = z
  .custom<string | string[] | ModelObject>(
    (value) => typeof value === 'string' || Array.isArray(value) || isJsonObject(value),
    { error: MODEL_ERROR, abort: true },
  )
  .check(({ value, issues }) => {
    const schema =
      typeof value === 'string' ? modelNameSchema : Array.isArray(value) ? modelListSchema : modelObjectSchema
    const { error } = schema.safeParse(value, { reportInput: true })
    issues.push(...((error?.issues ?? []) as z.core.$ZodRawIssue[]))
  })
  .transform((value): string | ModelObject => {
    if (!Array.isArray(value)) return value
    const [name = '', ...fallbacks] = value
    return fallbacks.length > 0 ? { name, fallbacks } : name
  })

const count = () => z.int().min(0).max(MAX_BATCH_LINES).optional()

/** What the mean score of a trial has to meet. */
export const scoreGateSchema = z
  .strictObject({
    min: z.number().min(0).max(1).optional(),
    maxDrop: z.number().min(0).max(1).optional(),
  })
  .refine((gate) => Object.keys(gate).length > 0, 'must have min or maxDrop, such as { maxDrop: 0.02 }')

/** What a trial has to meet before the version that follows becomes current. */
export const promotionSchema = z.strictObject({
  require: z.literal('trial').optional(),
  maxRegressed: count(),
  maxChanged: count(),
  maxError: count(),
  maxCostIncrease: z.number().min(0).max(1_000).optional(),
  scores: z.record(z.string(), scoreGateSchema).optional(),
  minRuns: z.int().min(1).max(MAX_TRIAL_RUNS).optional(),
})

export const settingsSchema = z.strictObject({
  useCache: z.boolean().default(false),
  enforceInputSchema: z.boolean().optional(),
  cacheTtlSeconds: z.int().min(1).max(YEAR_SECONDS).nullable().default(null),
  timeoutSeconds: z.int().min(1).max(DAY_SECONDS).nullable().default(null),
  // No defaults below: only limits that the document sets restrict callers.
  maxTokens: z.int().min(MAX_TOKENS.min).max(MAX_TOKENS.max).nullish(),
  maxCostUsd: z.number().min(MAX_COST_USD.min).max(MAX_COST_USD.max).nullish(),
  maxAgentSteps: z.int().min(MAX_AGENT_STEPS.min).max(MAX_AGENT_STEPS.max).optional(),
  models: z.array(modelNameSchema).max(MAX_MODELS).optional(),
  maxParallelToolCalls: z.int().min(MAX_PARALLEL_TOOL_CALLS.min).max(MAX_PARALLEL_TOOL_CALLS.max).optional(),
  maxChildren: z.int().min(MAX_CHILDREN.min).max(MAX_CHILDREN.max).optional(),
  allowedHosts: z.array(hostSchema).max(16).optional(),
  promotion: promotionSchema.optional(),
})

export const contextSchema = z.strictObject({
  window: z.int().min(CONTEXT_WINDOW.min).max(CONTEXT_WINDOW.max).optional(),
  keep: z.int().min(KEPT_RESULTS.min).max(KEPT_RESULTS.max).optional(),
})

export const learningSchema = z.strictObject({
  feedback: z.enum(['reviewed', 'all']).optional(),
  unrated: z.boolean().optional(),
})

/** The front matter of an `agent.md`. */
export const documentSchema = z.strictObject({
  title: z.string().trim().min(1).max(200),
  description: z.string().max(MAX_DESCRIPTION_CHARACTERS).nullable().default(null),
  slug: z.string().refine(isSlug, SLUG_ERROR).optional(),
  input: declaredSchema({ allowsFiles: true }),
  output: declaredSchema(),
  model: modelSchema.nullable().default(null),
  tools: toolsSchema.default([]),
  requireTools: z.boolean().optional(),
  context: contextSchema.optional(),
  code: z.boolean().default(false),
  remote: remoteSchema.optional(),
  env: z.array(z.string().regex(ENV_NAME, ENV_NAME_ERROR)).max(MAX_ENV_NAMES).default([]),
  execution: settingsSchema.prefault({}),
  useDynamicLearning: z.boolean().optional(),
  learning: learningSchema.optional(),
  // No defaults: the hash of a document without them stays what it is.
  schedules: schedulesSchema.optional(),
  keys: keysSchema.optional(),
  scorers: scorersSchema.optional(),
})

/** The contents of an `agent.md`: the front matter with its defaults, and the instructions. */
export type AgentDocument = Omit<z.infer<typeof documentSchema>, 'slug'> & {
  slug: string
  instructions: string
}
