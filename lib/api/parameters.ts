import * as z from 'zod'
import { isUuid } from '../core/ids.ts'
import { MAX_AGENT_STEPS, PAGE_SIZE } from '../core/limits.ts'

/** Query parameters arrive as text; each schema says in its error what is allowed instead. */

type JsonSchema = Record<string, unknown>

/** What OpenAPI says of a parameter, instead of the checks on its text. */
const documented =
  (schema: JsonSchema) =>
  ({ jsonSchema }: { jsonSchema: JsonSchema }) => {
    const { description } = jsonSchema
    for (const keyword of Object.keys(jsonSchema)) delete jsonSchema[keyword]
    Object.assign(jsonSchema, schema, { description })
  }

const flag = (description: string) =>
  z
    .enum(['true', 'false'], { error: 'must be true or false' })
    .transform((text) => text === 'true')
    .optional()
    .meta({ description, override: documented({ type: 'boolean' }) })

function wholeNumber(range: { least: number; most: number; default: number }, description: string) {
  const error = `must be a whole number from ${range.least} to ${range.most}`
  return z
    .string()
    .regex(/^[1-9][0-9]{0,3}$/, { error })
    .transform(Number)
    .refine((value) => value >= range.least && value <= range.most, { error })
    .optional()
    .meta({
      description,
      override: documented({
        type: 'integer',
        minimum: range.least,
        maximum: range.most,
        default: range.default,
      }),
    })
}

const tenantId = z
  .string()
  .regex(/^[^\p{Cc}]{1,128}$/u, { error: 'must have 1 to 128 characters and no control characters' })
  .optional()

/** Of a request that takes no parameters: any is refused, so that a misspelt one is not ignored. */
export const noParameters = z.strictObject({})

export const runParameters = z.strictObject({
  execMode: z
    .enum(['sync', 'async'], { error: 'must be sync or async' })
    .default('sync')
    .meta({ description: 'sync answers with the output; async with the execution record, to be polled.' }),
  enforceInputSchema: flag('Refuse input that does not precisely match the input schema.'),
  useCache: flag('Reuse the result of an earlier execution of the same version, tenant and input.'),
  maxAgentSteps: wholeNumber(MAX_AGENT_STEPS, 'The most steps that the execution may take.'),
  version: z
    .string()
    .refine(isUuid, { error: 'must be a version id, a UUID' })
    .transform((id) => id.toLowerCase())
    .optional()
    .meta({
      description: 'The version to run instead of the current one.',
      override: documented({ type: 'string', format: 'uuid' }),
    }),
  tenantId: tenantId.meta({ description: 'The customer that the execution belongs to.' }),
  useDynamicLearning: flag('Let similar past executions guide the model.'),
  model: z
    .string()
    .optional()
    .meta({ description: 'A model instead of the version’s own, as {model}[:{reasoning}].' }),
})

const limit = wholeNumber(PAGE_SIZE, 'The most entries that a page may have.')

const cursor = z
  .string()
  .optional()
  .meta({ description: 'Where the page begins: taken from the `next` link of the page before.' })

export const pageParameters = z.strictObject({ limit, cursor })

export const executionPageParameters = z.strictObject({
  limit,
  cursor,
  status: z
    .enum(['IN_PROGRESS', 'SUCCESS', 'ERROR'], { error: 'must be IN_PROGRESS, SUCCESS or ERROR' })
    .optional()
    .meta({ description: 'Only executions in this state.' }),
  tenantId: tenantId.meta({ description: 'Only executions of this tenant.' }),
})
