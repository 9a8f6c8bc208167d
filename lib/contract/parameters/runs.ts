import * as z from 'zod/mini'
import { MAX_CONCURRENCY } from '../../core/batch.ts'
import { MAX_AGENT_STEPS, MAX_COST_USD, MAX_TOKENS, MAX_WEBHOOK_URL } from '../../core/limits.ts'
import {
  decimal,
  deltas,
  describe,
  flag,
  idOf,
  integer,
  oneOf,
  parameters,
  tenantId,
} from './parameter-types.ts'

/** @param event what is sent there */
function webhookUrl(event: string) {
  const error = `must be a URL of at most ${MAX_WEBHOOK_URL} characters`
  const isUrl = (text: string) => text !== '' && text.length <= MAX_WEBHOOK_URL
  return describe(
    z.optional(z.string().check(z.refine(isUrl, { error }))),
    `Where ${event} sent, beside the webhooks of the organization; signed with its default secret. Only where operators have turned on the setting \`webhookUrls\`.`,
    { format: 'uri', minLength: 1, maxLength: MAX_WEBHOOK_URL },
  )
}

export const runParameters = /* @__PURE__ */ parameters(() => ({
  execMode: describe(
    z._default(oneOf(['sync', 'async']), 'sync'),
    '`sync` waits and returns the output. `async` returns the execution record at once, for polling.',
  ),
  enforceInputSchema: describe(
    flag(),
    'Reject input that does not exactly match the input schema, or adapt it (`false`). Default: the setting of the version (`execution.enforceInputSchema`), which is `false` unless its document says otherwise.',
  ),
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
  version: idOf('a version', 'The ID of the version to run. Default: the current version of the agent.'),
  tenantId: describe(tenantId(), 'The tenant of the execution.'),
  useDynamicLearning: describe(
    flag(),
    'Show the model similar past executions as examples. Default: the setting of the version.',
  ),
  model: describe(
    z.optional(z.string()),
    'Overrides the model of the version. Format: `{model}[:{reasoning}]`. Allowed are the models that the version lists; by default, those of the provider of its own model.',
    { minLength: 1 },
  ),
  webhookUrl: webhookUrl('the events of the execution are'),
  deltas: deltas(),
}))

const idempotencyKey = () =>
  z.optional(
    z.string().check(
      z.regex(/^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/, {
        error: 'must have 1 to 255 printable ASCII characters',
      }),
    ),
  )

export const idempotencyHeaders = /* @__PURE__ */ parameters(() => ({
  'Idempotency-Key': describe(
    idempotencyKey(),
    'A unique value, chosen by the client. For 24 hours, requests with the same key and body lead to the same execution.',
  ),
}))

export const runHeaders = /* @__PURE__ */ parameters(() => ({
  ...idempotencyHeaders.shape,
  traceparent: describe(
    z.optional(z.string()),
    'The W3C trace context of the caller, which becomes the parent of the run. A malformed one is ignored.',
  ),
}))

export const batchParameters = /* @__PURE__ */ parameters(() => ({
  ...runParameters.shape,
  execMode: describe(
    z.optional(
      z.never({ error: 'is not accepted: the lines of a batch are always executed asynchronously' }),
    ),
    'Not accepted.',
  ),
  deltas: describe(
    z.optional(z.never({ error: 'is not accepted: the events of a batch have no deltas' })),
    'Not accepted.',
  ),
  maxBatchCostUsd: describe(
    decimal(MAX_COST_USD),
    'The maximum price in US dollars of all lines together. No line is started once those that have ended reach it; those in progress then are completed.',
  ),
  maxConcurrency: describe(integer(MAX_CONCURRENCY), 'How many lines are in progress at the same time.'),
  validateOnly: describe(flag(), 'Check the request and all lines, and start nothing.'),
  webhookUrl: webhookUrl('the event `batch.ended` is'),
}))

export const retryParameters = /* @__PURE__ */ parameters(() => ({
  version: idOf('a version', 'The ID of the version to run. Default: the version of the batch.'),
}))

export const signalHeaders = /* @__PURE__ */ parameters(() => ({
  'Idempotency-Key': describe(
    idempotencyKey(),
    'A unique value, chosen by the client. Requests with the same key, name and body send one signal.',
  ),
}))
