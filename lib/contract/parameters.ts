import * as z from 'zod/mini'
import { MAX_OVERLAP_SECONDS } from '../core/access.ts'
import { AUDIT_ACTIONS } from '../core/audit.ts'
import { MAX_CONCURRENCY } from '../core/batch.ts'
import { CURSOR } from '../core/cursor.ts'
import { SOURCES } from '../core/execution.ts'
import { isUuid } from '../core/ids.ts'
import {
  MAX_AGENT_STEPS,
  MAX_COST_USD,
  MAX_FILTER,
  MAX_SEARCHED,
  MAX_TOKENS,
  MAX_WAIT_SECONDS,
  MAX_WEBHOOK_URL,
  PAGE_SIZE,
  RESULT_PAGE_SIZE,
  USAGE_PAGE_SIZE,
  VALUE_BYTES,
} from '../core/limits.ts'
import { KEY_FILTER_RULE, parseKeyFilter } from '../core/search-keys.ts'
import { VERDICTS } from '../core/trial.ts'
import { USAGE_DIMENSIONS, USAGE_INTERVALS } from '../core/usage.ts'
import { LIMITED } from '../core/usage-limits.ts'
import {
  dateTime,
  decimal,
  describe,
  flag,
  integer,
  listOf,
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

/** @param what of the thing that has the ID: `a version` */
function idOf(what: string, description: string) {
  const text = z.string().check(z.refine(isUuid, { error: `must be ${what} ID (a UUID)` }), z.toLowerCase())
  return describe(z.optional(text), description, { format: 'uuid' })
}

const deltas = () =>
  describe(
    flag(),
    'Also send what models are writing, as events `delta` (pieces of text, or of the arguments of a tool call) and `reset` (the deltas of a try are void). An event `step` supersedes the deltas of its number. Only with `Accept: text/event-stream`. A reader that has not started the run gets them once a second, from the next heartbeat of its worker on.',
  )

const time = (description: string) => describe(dateTime(), description, { format: 'date-time' })

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

export const versionParameters = /* @__PURE__ */ parameters(() => ({
  frontMatter: describe(flag(), 'Add the front matter of the document as `frontMatter`.'),
  sourceCode: describe(flag(), 'Add the code of a code agent as `sourceCode`.'),
}))

export const promotionParameters = /* @__PURE__ */ parameters(() => ({
  trial: idOf(
    'a trial',
    'The ID of a trial of this version. It has to meet the limits of the version that is current.',
  ),
}))

export const signalHeaders = /* @__PURE__ */ parameters(() => ({
  'Idempotency-Key': describe(
    idempotencyKey(),
    'A unique value, chosen by the client. Requests with the same key, name and body send one signal.',
  ),
}))

function fields() {
  return describe(
    z.optional(oneOf(['all', 'summary'])),
    '`summary` leaves out the payloads: `input`, `inputAdaptations`, `output`, `feedback` and `logs`.',
  )
}

const SEARCH = `A page looks at ${MAX_SEARCHED.toLocaleString('en-US')} executions at most: see \`X-Searched-Until\` (in MCP, \`searchedUntil\`).`

function finishedRange(note = '') {
  return {
    finishedFrom: time(`Return only executions that ended at this time or later (RFC 3339).${note}`),
    finishedTo: time(`Return only executions that ended before this time (RFC 3339).${note}`),
  }
}

function searchText(description: string, max: number) {
  const error = `must have 1 to ${max} characters`
  const text = z.optional(z.string().check(z.minLength(1, { error }), z.maxLength(max, { error })))
  return describe(text, description, { minLength: 1, maxLength: max })
}

function keyFilter() {
  return describe(
    z.optional(
      z.string().check(z.refine((text) => parseKeyFilter(text) !== null, { error: KEY_FILTER_RULE })),
    ),
    `Return only executions with this value of a key that their version declares: \`{name}:{value}\`, or \`{name}:{prefix}*\`. A \`\\*\` at the end is an asterisk. With a prefix that thousands of executions have, a page looks at ${MAX_SEARCHED.toLocaleString('en-US')} at most.`,
    { pattern: '^[A-Za-z][A-Za-z0-9_-]{0,63}:' },
  )
}

function agentName(description: string) {
  const text = z.string().check(z.minLength(1, { error: 'must not be empty' }))
  return describe(z.optional(text), description, { minLength: 1 })
}

export const pageParameters = /* @__PURE__ */ parameters(() => ({
  limit: describe(integer(PAGE_SIZE), 'The maximum number of items to return.'),
  cursor: describe(
    z.optional(z.string()),
    'The position to continue from: the cursor in the `next` link of the previous page.',
    { pattern: CURSOR.source },
  ),
}))

export const batchPageParameters = /* @__PURE__ */ parameters(() => ({
  ...pageParameters.shape,
  agent: agentName('Return only batches of this agent (ID or slug).'),
  tenantId: describe(tenantId(), 'Return only batches of this tenant.'),
}))

export const trialPageParameters = /* @__PURE__ */ parameters(() => ({
  ...pageParameters.shape,
  agent: agentName('Return only trials of this agent (ID or slug).'),
  version: idOf('a version', 'Return only trials of this version.'),
}))

export const trialItemPageParameters = /* @__PURE__ */ parameters(() => ({
  ...pageParameters.shape,
  verdict: describe(z.optional(oneOf(VERDICTS)), 'Return only executions with this verdict.'),
}))

/** Absent and without a cursor, all results are streamed. */
export const resultPageParameters = /* @__PURE__ */ parameters(() => ({
  ...pageParameters.shape,
  limit: describe(
    integer({ min: RESULT_PAGE_SIZE.min, max: RESULT_PAGE_SIZE.max }),
    'Return a page of at most so many results, and the `next` link. By default, all results are returned, if the setting `responseStreaming` is on; otherwise, pages.',
  ),
}))

export const lineExecutionPageParameters = /* @__PURE__ */ parameters(() => ({
  ...pageParameters.shape,
  status: describe(
    z.optional(oneOf(['IN_PROGRESS', 'SUCCESS', 'ERROR'])),
    'Return only executions with this status. Pages can be short, also empty, before the last one.',
  ),
  ...finishedRange(),
  fields: fields(),
}))

export const batchHeaders = /* @__PURE__ */ parameters(() => ({
  'Last-Event-ID': describe(
    z.optional(z.string().check(z.maxLength(100, { error: 'must be the id of an event that was received' }))),
    'Of an event stream: the ID of the last event that was received. The stream begins with the next change.',
  ),
}))

export const agentPageParameters = /* @__PURE__ */ parameters(() => ({
  ...pageParameters.shape,
  archived: describe(flag(), 'Also return archived agents.'),
}))

export const executionPageParameters = /* @__PURE__ */ parameters(() => ({
  ...pageParameters.shape,
  status: describe(
    z.optional(oneOf(['IN_PROGRESS', 'SUCCESS', 'ERROR'])),
    'Return only executions with this status.',
  ),
  waiting: describe(
    flag(),
    'With true, return only suspended executions, which wait for an approval, a signal or a time. With false, return only the others.',
  ),
  tenantId: describe(tenantId(), 'Return only executions of this tenant.'),
  key: keyFilter(),
  scores: describe(
    z.optional(oneOf(['low'])),
    '`low`: return only executions with a score below the minimum of its scorer that nobody has reviewed. Reviews are feedback of tokens with the scope `review`.',
  ),
  from: time('Return only executions created at this time or later (RFC 3339).'),
  to: time('Return only executions created before this time (RFC 3339).'),
  fields: fields(),
  errorCode: searchText(`Return only executions that failed with this code. ${SEARCH}`, MAX_FILTER.errorCode),
  errorText: searchText(
    `Return only executions that failed with an error whose code or message contains this text; upper and lower case are the same. ${SEARCH}`,
    MAX_FILTER.errorText,
  ),
  version: idOf('a version', `Return only executions of this version (ID). ${SEARCH}`),
  source: describe(
    z.optional(oneOf(SOURCES)),
    `Return only executions with this source. Executions of a trial are in no list but that of the trial: with TRIAL, reruns are listed that take something from a recording. ${SEARCH}`,
  ),
  model: searchText(`Return only executions whose record has this model. ${SEARCH}`, MAX_FILTER.model),
  ...finishedRange(` ${SEARCH}`),
}))

export const revocationParameters = /* @__PURE__ */ parameters(() => ({
  afterSeconds: describe(
    integer({ min: 1, max: MAX_OVERLAP_SECONDS }),
    'How many seconds the token stays valid, for clients that change to another one: at most 30 days, and never longer than it would have been. By default, it is revoked at once.',
  ),
}))

export const limitsPageParameters = /* @__PURE__ */ parameters(() => ({
  ...pageParameters.shape,
  kind: describe(z.optional(oneOf(LIMITED)), 'Return only limits of tenants, or only limits of agents.'),
}))

export const approvalPageParameters = /* @__PURE__ */ parameters(() => ({
  ...pageParameters.shape,
  agent: agentName('Return only approvals of this agent (ID or slug).'),
  tenantId: describe(tenantId(), 'Return only approvals of executions of this tenant.'),
  decided: describe(
    flag(),
    'With true, return what people have decided, the latest decision first, instead of what is open. Pages can be short, also empty, before the last one.',
  ),
  fields: describe(
    z.optional(oneOf(['all', 'summary'])),
    '`summary` leaves out `input` and `inputSchema`, which can be large.',
  ),
}))

export const auditParameters = /* @__PURE__ */ parameters(() => ({
  ...pageParameters.shape,
  from: time('Return only changes that started at this time or later (RFC 3339).'),
  to: time('Return only changes that started before this time (RFC 3339).'),
  action: describe(z.optional(oneOf(AUDIT_ACTIONS)), 'Return only changes of this kind.'),
  actor: searchText(
    'Return only changes by this actor: its ID, such as that of a token, or its subject.',
    MAX_FILTER.actor,
  ),
  target: searchText(
    'Return only changes of what has this ID: of an agent, also those of its versions and schedules; of an execution, also those of its approvals. Pages of filtered lists can be short, also empty, before the last one.',
    MAX_FILTER.target,
  ),
}))

export const usageParameters = /* @__PURE__ */ parameters(() => ({
  ...pageParameters.shape,
  groupBy: describe(
    listOf(USAGE_DIMENSIONS),
    'What the rows of an interval are grouped by, separated by commas. By default, an interval has one row.',
    { uniqueItems: true, param: { style: 'form', explode: false } },
  ),
  interval: describe(
    z.optional(oneOf(USAGE_INTERVALS)),
    'How long the intervals are: `hour` by default. A request can read 3 hours of the last 2 days by minute, 31 days of the last 100 days by hour, and 800 days by day.',
  ),
  from: time(
    'Return only intervals that end after this time (RFC 3339). By default, 24 hours before `to`; by minute, 1 hour.',
  ),
  to: time('Return only intervals that begin before this time (RFC 3339). Default: now.'),
  tenantId: describe(tenantId(), 'Return only the usage of this tenant.'),
  agent: agentName('Return only the usage of this agent (ID or slug).'),
  limit: describe(integer(USAGE_PAGE_SIZE), 'The maximum number of rows to return.'),
}))

export const agreementParameters = /* @__PURE__ */ parameters(() => ({
  agent: agentName('Return only what scorers say about this agent (ID or slug).'),
  scorer: agentName('Return only this scorer (slug).'),
  tenantId: describe(tenantId(), 'Return only what they say about runs of this tenant.'),
}))

export const scoreParameters = /* @__PURE__ */ parameters(() => {
  const { groupBy: _, ...shape } = usageParameters.shape
  return {
    ...shape,
    ...agreementParameters.shape,
    version: idOf('a version', 'Return only scores of this version (ID).'),
    interval: describe(
      z.optional(oneOf(USAGE_INTERVALS)),
      'How long the intervals are: `day` by default. The ranges of a request are those of `GET /v1/usage`.',
    ),
    from: time('Return only intervals that end after this time (RFC 3339). By default, 30 days before `to`.'),
  }
})

/** For clients that show a value of megabytes only on request. */
const maxValueBytes = () =>
  describe(
    integer(VALUE_BYTES),
    'Leave out each input, output, result and text that has more bytes of JSON. `omitted` of the record has their sizes.',
  )

export const executionParameters = /* @__PURE__ */ parameters(() => ({
  adaptedInput: describe(
    flag(),
    'Add the input that the agent received as `adaptedInput`, if it differs from the one that was sent.',
  ),
  maxValueBytes: maxValueBytes(),
  requestedOptions: describe(
    flag(),
    'Add what the request chose in place of the settings of the version as `requestedOptions`.',
  ),
}))

export const stepPageParameters = /* @__PURE__ */ parameters(() => ({
  ...pageParameters.shape,
  maxValueBytes: maxValueBytes(),
}))

export const eventParameters = /* @__PURE__ */ parameters(() => ({
  maxValueBytes: maxValueBytes(),
  deltas: deltas(),
}))

export const waitHeaders = /* @__PURE__ */ parameters(() => ({
  Prefer: describe(
    z.pipe(z.optional(z.string()), z.transform(parseWait)),
    `\`wait=N\` responds when the execution is final or is suspended, but not for the suspension that it is in when the request arrives, or after N seconds (at most ${MAX_WAIT_SECONDS}).`,
    { example: 'wait=20' },
  ),
}))

/** The seconds to wait (RFC 7240, section 4.3); 0 by default. Unknown preferences are ignored. */
function parseWait(header = ''): number {
  const preferences = header.split(',').map((part) => part.split(';')[0]?.trim() ?? '')
  const wait = preferences.find((part) => /^wait\s*=/i.test(part))
  const seconds = /^wait\s*=\s*(?:(\d{1,9})|"(\d{1,9})")$/i.exec(wait ?? '')
  return Math.min(Number(seconds?.[1] ?? seconds?.[2] ?? 0), MAX_WAIT_SECONDS)
}

export const eventHeaders = /* @__PURE__ */ parameters(() => ({
  'Last-Event-ID': describe(
    z.optional(
      z.pipe(
        z.string().check(
          z.regex(/^(?:0|[1-9]\d{0,4})?$/, {
            error: 'must be the id of an event that was received: the number of a step',
          }),
        ),
        z.transform((text) => Number(text)),
      ),
    ),
    'The number of the last step that was received. The stream continues after it.',
    { example: '3' },
  ),
}))

/** By the names that `routes.ts` uses. For OpenAPI and types: a function imports only its own schemas. */
export const parameterSchemas = {
  stepPageParameters,
  eventParameters,
  batchParameters,
  batchPageParameters,
  batchHeaders,
  retryParameters,
  resultPageParameters,
  lineExecutionPageParameters,
  trialPageParameters,
  trialItemPageParameters,
  runParameters,
  pageParameters,
  versionParameters,
  promotionParameters,
  agentPageParameters,
  approvalPageParameters,
  auditParameters,
  limitsPageParameters,
  revocationParameters,
  executionPageParameters,
  executionParameters,
  usageParameters,
  scoreParameters,
  agreementParameters,
  eventHeaders,
  idempotencyHeaders,
  runHeaders,
  signalHeaders,
  waitHeaders,
}
