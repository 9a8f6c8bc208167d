import * as z from 'zod/mini'
import { isUuid } from '../../core/ids.ts'
import { MAX_AGENT_STEPS, MAX_COST_USD, MAX_TOKENS } from '../../core/limits.ts'
import { decimal, describe, flag, integer, oneOf, tenantId } from './parameter.ts'

export const runParameters = z.object({
  execMode: describe(
    z._default(oneOf(['sync', 'async']), 'sync'),
    '`sync` waits and returns the output. `async` returns the execution record at once, for polling.',
  ),
  enforceInputSchema: describe(flag(), 'Reject input that does not exactly match the input schema.'),
  useCache: describe(
    flag(),
    'Reuse the result of an earlier execution with the same version, tenant and input. Overrides the setting of the version.',
  ),
  // Without the default in OpenAPI: generated clients send defaults, which would override the setting of the version.
  maxAgentSteps: describe(
    integer({ min: MAX_AGENT_STEPS.min, max: MAX_AGENT_STEPS.max }),
    `The maximum number of steps of the execution. A version that sets it sets the default and the highest value; otherwise, the default is ${MAX_AGENT_STEPS.default}.`,
  ),
  maxTokens: describe(
    integer(MAX_TOKENS),
    'The maximum number of input and output tokens of the execution and of the agents that it calls as tools. The smaller one of this and the setting of the version counts.',
  ),
  maxCostUsd: describe(
    decimal(MAX_COST_USD),
    'The maximum price in US dollars of the model responses of the execution and of the agents that it calls as tools. The smaller one of this and the setting of the version counts.',
  ),
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
    'Overrides the model of the version. Format: `{model}[:{reasoning}]`. Allowed are the models that the version lists; by default, those of the provider of its own model.',
    { minLength: 1 },
  ),
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
    'A unique value, chosen by the client. For 24 hours, requests with the same key and body lead to the same execution.',
  ),
})
