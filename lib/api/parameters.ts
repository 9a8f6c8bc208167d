import * as z from 'zod/mini'
import { isUuid } from '../core/ids.ts'
import { MAX_AGENT_STEPS, MAX_WAIT_SECONDS, PAGE_SIZE } from '../core/limits.ts'

/**
 * Query parameters and headers, which arrive as text. The same schemas validate requests and describe them in OpenAPI.
 * An error message continues a sentence that begins with the name of the parameter.
 *
 * `zod/mini` adds 7 ms of processor time to a cold start, an eighth of what `DynamoDBDocumentClient` takes. So only the
 * functions that have parameters import this file; `routes.ts` refers to the schemas by name.
 */

export const runParameters = z.object({
  execMode: describe(
    z._default(oneOf(['sync', 'async']), 'sync'),
    '`sync` waits and returns the output. `async` returns the execution record at once, for polling.',
  ),
  enforceInputSchema: describe(flag(), 'Reject input that does not exactly match the input schema.'),
  useCache: describe(
    flag(),
    'Reuse the result of an earlier execution with the same version, tenant and input.',
  ),
  maxAgentSteps: describe(integer(MAX_AGENT_STEPS), 'The maximum number of steps of the execution.'),
  version: describe(
    z.optional(
      z.string().check(z.refine(isUuid, { error: 'must be a version ID (a UUID)' }), z.toLowerCase()),
    ),
    'The ID of the version to run. Default: the current version of the agent.',
    { format: 'uuid' },
  ),
  tenantId: describe(tenantId(), 'The tenant of the execution.'),
  useDynamicLearning: describe(flag(), 'Show the model similar past executions as examples.'),
  model: describe(
    z.optional(z.string()),
    'Overrides the model of the version. Format: `{model}[:{reasoning}]`.',
  ),
})

export const pageParameters = z.object({
  limit: describe(integer(PAGE_SIZE), 'The maximum number of items to return.'),
  cursor: describe(
    z.optional(z.string()),
    'The position to continue from: the cursor in the `next` link of the previous page.',
  ),
})

export const executionPageParameters = z.extend(pageParameters, {
  status: describe(
    z.optional(oneOf(['IN_PROGRESS', 'SUCCESS', 'ERROR'])),
    'Return only executions with this status.',
  ),
  tenantId: describe(tenantId(), 'Return only executions of this tenant.'),
})

export const runHeaders = z.object({
  'Idempotency-Key': describe(
    z.optional(
      z.string().check(
        z.regex(/^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/, {
          error: 'must have 1 to 255 printable ASCII characters',
        }),
      ),
    ),
    'A unique value that the client chooses. For 24 hours, requests with the same key and body lead to the same execution.',
  ),
})

export const waitHeaders = z.object({
  Prefer: describe(
    z.pipe(z.optional(z.string()), z.transform(parseWait)),
    `\`wait=N\` responds when the execution is final, or after N seconds (at most ${MAX_WAIT_SECONDS}).`,
    { example: 'wait=20' },
  ),
})

/** By the names that `routes.ts` uses. */
export const parameterSchemas = {
  runParameters,
  pageParameters,
  executionPageParameters,
  runHeaders,
  waitHeaders,
}

/** The seconds to wait (RFC 7240, section 4.3); 0 by default. Unknown preferences are ignored. */
function parseWait(header = ''): number {
  const preferences = header.split(',').map((part) => part.split(';')[0]?.trim() ?? '')
  const wait = preferences.find((part) => /^wait\s*=/i.test(part))
  const seconds = /^wait\s*=\s*(?:(\d{1,9})|"(\d{1,9})")$/i.exec(wait ?? '')
  return Math.min(Number(seconds?.[1] ?? seconds?.[2] ?? 0), MAX_WAIT_SECONDS)
}

/** `metadata`: JSON Schema keywords that only OpenAPI needs. */
function describe<Schema extends z.ZodMiniType>(schema: Schema, description: string, metadata: object = {}) {
  z.globalRegistry.add(schema, { description, ...metadata })
  return schema
}

function oneOf<const Value extends string>(values: readonly Value[]) {
  return z.enum(values, { error: `must be ${values.slice(0, -1).join(', ')} or ${values.at(-1)}` })
}

function flag() {
  const toBoolean = (text: string) => (text === 'true' ? true : text === 'false' ? false : text)
  return z.optional(z.pipe(z.transform(toBoolean), z.boolean({ error: 'must be true or false' })))
}

/** The default is applied where the value is used: for `maxAgentSteps` the setting of the version comes first. */
function integer(range: { min: number; max: number; default: number }) {
  const error = `must be an integer from ${range.min} to ${range.max}`
  const toNumber = (text: string) => (/^[1-9][0-9]{0,3}$/.test(text) ? Number(text) : Number.NaN)
  const inRange = z.int({ error }).check(z.minimum(range.min, { error }), z.maximum(range.max, { error }))
  z.globalRegistry.add(inRange, { default: range.default })
  return z.optional(z.pipe(z.transform(toNumber), inRange))
}

function tenantId() {
  const error = 'must have 1 to 128 characters and no control characters'
  return z.optional(z.string().check(z.regex(/^[^\p{Cc}]{1,128}$/u, { error })))
}
