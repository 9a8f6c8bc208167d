import * as z from 'zod/mini'
import {
  MAX_TOKEN_AGENTS,
  MAX_TOKEN_NAME,
  MAX_TOKEN_RATE,
  SCOPES,
  TOKEN_LIFETIME_DAYS,
} from '../../core/access.ts'
import { MAX_CONCURRENCY } from '../../core/batch.ts'
import { isSlug, isUuid, namePattern } from '../../core/ids.ts'
import { isJsonPointer } from '../../core/json/pointer.ts'
import {
  MAX_AGENT_STEPS,
  MAX_CODE_STEPS,
  MAX_COST_INCREASE,
  MAX_COST_USD,
  MAX_TOKENS,
  MAX_WEBHOOK_SELECTED,
  MAX_WEBHOOK_URL,
  ROLLOUT_MIN_RUNS,
  ROLLOUT_PERCENT,
  RUNS_PER_MINUTE,
  TENANT_OPEN_EXECUTIONS,
} from '../../core/limits.ts'
import { EVENT_SOURCES, EVENT_TYPES } from '../../core/notification.ts'
import { ROLLOUT_KEYS } from '../../core/rollout.ts'
import { CATCH_UP_SECONDS, OVERLAPS } from '../../core/schedule.ts'
import { MAX_IGNORED, MAX_TRIAL_RUNS, REPLAY_SOURCES, TRIAL_FEEDBACK, TRIAL_RUNS } from '../../core/trial.ts'
import { tenant } from '../parameter-types.ts'
import { schema } from './fields.ts'

type Range = { min: number; max: number }

// Whatever is wrong with such a value, the error is the same.
const numberIn = ({ min, max }: Range, error: string) =>
  z.number({ error }).check(z.minimum(min, { error }), z.maximum(max, { error }))
const integerIn = ({ min, max }: Range, error: string) =>
  z.int({ error }).check(z.minimum(min, { error }), z.maximum(max, { error }))
const uuid = (error: string) => z.string({ error }).check(z.refine(isUuid, { error }))
const oneToMany = <Item extends z.ZodMiniType>(item: Item, max: number, error: string) =>
  z.array(item, { error }).check(z.minLength(1, { error }), z.maxLength(max, { error }))

export const MAX_NOTE_CHARACTERS = 2_000

const NOTE_ERROR = `must be a string of at most ${MAX_NOTE_CHARACTERS} characters, or null`
const OUTPUT_ERROR = 'must be a JSON object that matches the output schema, or null'

/** Replaces the previous feedback on the execution. */
export const feedbackBody = /* @__PURE__ */ schema(() =>
  z
    .strictObject({
      rating: z
        .literal([1, -1], { error: 'must be 1 or -1' })
        .check(z.meta({ description: '1 for a good result, -1 for a bad one.', type: 'integer' })),
      correctedOutput: z
        .nullish(z.record(z.string(), z.unknown(), { error: OUTPUT_ERROR }))
        .check(z.describe('The correct output. It must match the output schema of the version that ran.')),
      note: z
        .nullish(
          z.string({ error: NOTE_ERROR }).check(z.maxLength(MAX_NOTE_CHARACTERS, { error: NOTE_ERROR })),
        )
        .check(z.describe('A comment for people. It is never shown to a model.')),
    })
    .check(z.meta({ id: 'FeedbackBody' })),
)

/** A decision on an approval. */
export const decisionBody = /* @__PURE__ */ schema(() =>
  z
    .strictObject({
      decision: z.enum(['approve', 'reject'], { error: 'must be "approve" or "reject"' }),
      input: z
        .nullish(z.record(z.string(), z.unknown(), { error: 'must be a JSON object, or null' }))
        .check(
          z.describe(
            'Replaces the arguments of the call, and must match the input schema of the tool; of a code agent, the data. Only with `approve`.',
          ),
        ),
      note: z
        .nullish(
          z.string({ error: NOTE_ERROR }).check(
            z.maxLength(MAX_NOTE_CHARACTERS, { error: NOTE_ERROR }),
            z.refine((text) => text.isWellFormed(), { error: NOTE_ERROR }),
          ),
        )
        .check(z.describe('A comment, which the model or the code agent gets.')),
    })
    .check(z.meta({ id: 'DecisionBody' })),
)

export const MAX_MESSAGE_CHARACTERS = 1_000

/** Tabs and line breaks are the only control characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: `\p{Cc}` is unknown to many clients that read OpenAPI.
const MESSAGE = /^[^\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]*$/u
const MESSAGE_ERROR = `must be a string of at most ${MAX_MESSAGE_CHARACTERS} characters without control characters, or null`

/** What the author of a version says about it. */
export const messageSchema = /* @__PURE__ */ schema(() =>
  z.string({ error: MESSAGE_ERROR }).check(
    z.maxLength(MAX_MESSAGE_CHARACTERS, { error: MESSAGE_ERROR }),
    z.regex(MESSAGE, { error: MESSAGE_ERROR }),
    z.refine((text) => text.isWellFormed(), { error: MESSAGE_ERROR }),
  ),
)

export const publishBody = /* @__PURE__ */ schema(() =>
  z
    .strictObject({
      document: z
        .string({ error: 'is required and must be a string: the text of an agent.md' })
        .check(z.describe('The text of an `agent.md`.')),
      slug: z
        .optional(z.string({ error: 'must be a string' }))
        .check(z.describe('The slug if the document has none, like the name of the folder.')),
      code: z
        .nullish(z.string({ error: 'must be a string: the code as one ES module, or null' }))
        .check(
          z.describe('The code of a code agent, bundled into one ES module. `agents publish` does that.'),
        ),
      draft: z
        .optional(z.boolean({ error: 'must be true or false' }))
        .check(z.describe('Publish a draft, which runs only when a request names it.')),
      message: z.nullish(messageSchema).check(z.describe('What the author says about the version.')),
    })
    .check(z.meta({ id: 'PublishBody' })),
)

const HOST = /^(\[[0-9a-fA-F:.]+\]|[a-zA-Z0-9._-]+)(:\d{1,5})?$/
const MAX_ALLOWED_HOSTS = 16

/** What selects events: null for all of them. */
function selection<Item extends z.ZodMiniType>(item: Item, items: string, description: string) {
  const error = `must be a list of 1 to ${MAX_WEBHOOK_SELECTED} ${items}, or null for all`
  return z.nullable(oneToMany(item, MAX_WEBHOOK_SELECTED, error)).check(z.describe(description))
}

const webhookFields = () => {
  const urlError = `must be a URL of at most ${MAX_WEBHOOK_URL} characters`
  const sourcesError = `must be ${EVENT_SOURCES.map((source) => `"${source}"`).join(' or ')}`
  const hostError = 'must be a host such as "localhost:8080"'
  const hostsError = `must be a list of at most ${MAX_ALLOWED_HOSTS} hosts`
  return {
    url: z
      .string({ error: urlError })
      .check(
        z.minLength(1, { error: urlError }),
        z.maxLength(MAX_WEBHOOK_URL, { error: urlError }),
        z.describe(
          'Where events are sent. It must begin with `https://` and must not have a private address.',
        ),
      ),
    types: oneToMany(
      z.enum(EVENT_TYPES, { error: `must be one of ${EVENT_TYPES.join(', ')}` }),
      EVENT_TYPES.length,
      `must be a list of ${EVENT_TYPES.join(', ')}`,
    ).check(z.describe('The types of the events. By default those of executions.')),
    agents: selection(
      z.string({ error: 'must be the slug or ID of an agent' }),
      'slugs or IDs of agents',
      'Only events of these agents (slugs or IDs). Null: of all agents.',
    ),
    tenants: selection(
      tenant(),
      'tenants',
      'Only events of these tenants. Null: of all, with or without a tenant.',
    ),
    sources: selection(
      z.enum(EVENT_SOURCES, { error: sourcesError }),
      'sources',
      'Only events of executions from these sources, and of batches with `BATCH`. Null: from all.',
    ),
    allowedHosts: z
      .array(z.string({ error: hostError }).check(z.regex(HOST, { error: hostError })), { error: hostsError })
      .check(
        z.maxLength(MAX_ALLOWED_HOSTS, { error: hostsError }),
        z.describe(
          'Hosts that may have a private address or use plain HTTP, with the port unless it is the default.',
        ),
      ),
    enabled: z
      .boolean({ error: 'must be true or false' })
      .check(z.describe('Whether it receives events. Enabling one that the service has disabled resets it.')),
  }
}

export const webhookChanges = /* @__PURE__ */ schema(() =>
  z.partial(z.strictObject(webhookFields())).check(z.meta({ id: 'WebhookChanges' })),
)

export const webhookBody = /* @__PURE__ */ schema(() => {
  const { url, ...others } = webhookFields()
  return z.strictObject({ url, ...z.partial(z.object(others)).shape }).check(z.meta({ id: 'WebhookBody' }))
})

const truth = (description: string) =>
  z.optional(z.boolean({ error: 'must be true or false' })).check(z.describe(description))

function within({ min, max }: Range, description: string, isInteger = true) {
  const error = `must be ${isInteger ? 'an integer' : 'a number'} from ${min} to ${max}`
  return z.optional((isInteger ? integerIn : numberIn)({ min, max }, error)).check(z.describe(description))
}

/** The query parameters of a run that are stored with what starts it later. */
const storedOptions = () =>
  z.strictObject(
    {
      enforceInputSchema: truth(
        'Reject input that does not exactly match the input schema. Default: as the version.',
      ),
      maxAgentSteps: within(MAX_AGENT_STEPS, 'The maximum number of steps of the execution.'),
      maxTokens: within(MAX_TOKENS, 'The maximum number of input and output tokens.'),
      maxCostUsd: within(MAX_COST_USD, 'The maximum price of the model responses in US dollars.', false),
      model: z
        .optional(z.string({ error: 'must be a string such as "{model}[:{reasoning}]"' }))
        .check(z.describe('Overrides the model of the version.')),
      useCache: truth('Overrides the setting of the version.'),
      useDynamicLearning: truth('Overrides the setting of the version.'),
    },
    { error: 'must be a JSON object with query parameters of runs' },
  )

/** Replaces a schedule. */
export const scheduleBody = /* @__PURE__ */ schema(() => {
  const cronError = 'must be a string of five fields, such as "30 9 * * 1-5", or a form such as "@daily"'
  const zoneError = 'must be an IANA time zone, such as "Europe/Berlin"'
  const versionError = 'must be a version ID (a UUID), or null for the current version of the time'
  return z
    .strictObject({
      cron: z
        .string({ error: `is required and ${cronError}` })
        .check(z.describe('Minute, hour, day of the month, month, day of the week; or `@daily` and others.')),
      timezone: z
        .optional(z.string({ error: zoneError }))
        .check(z.describe('The IANA time zone of `cron`. Default: `UTC`.')),
      input: z
        .optional(z.record(z.string(), z.unknown(), { error: 'must be a JSON object' }))
        .check(z.describe('The input of each execution. Default: `{}`.')),
      tenantId: z.nullish(tenant()).check(z.describe('The tenant of the executions.')),
      options: z.optional(storedOptions()).check(z.describe('Query parameters of the runs.')),
      version: z
        .nullish(uuid(versionError))
        .check(z.describe('The version that runs. Default: null, the current version of the time.')),
      enabled: truth('Whether it fires. Default: true.'),
      overlap: z
        .optional(z.enum(OVERLAPS, { error: `must be ${OVERLAPS.map((each) => `"${each}"`).join(' or ')}` }))
        .check(
          z.describe(
            'What happens when it is due and its last execution is in progress. Default: `skip`, no execution starts.',
          ),
        ),
      catchUpSeconds: within(
        CATCH_UP_SECONDS,
        `After an outage, the latest time that was missed starts an execution if it is at most so long ago. Default: ${CATCH_UP_SECONDS.default}.`,
      ),
    })
    .check(z.meta({ id: 'ScheduleBody' }))
})

/** Replaces the limits of a tenant or an agent. */
export const limitsBody = /* @__PURE__ */ schema(() => {
  const { min, max } = MAX_COST_USD
  const costError = `must be a number from ${min.toFixed(6)} to ${max}, or null for no limit`
  const cost = (description: string) =>
    z.nullish(numberIn(MAX_COST_USD, costError)).check(z.describe(description))
  const count = (range: Range, description: string) => {
    const error = `must be an integer from ${range.min} to ${range.max}, or null for no limit`
    return z.nullish(integerIn(range, error)).check(z.describe(description))
  }
  return z
    .strictObject({
      maxOpenExecutions: count(
        TENANT_OPEN_EXECUTIONS,
        'How many executions may be in progress at the same time, from their acceptance to their end; also while they are suspended.',
      ),
      maxRunsPerMinute: count(RUNS_PER_MINUTE, 'How many runs are accepted in a minute of the clock.'),
      maxCostUsd: z
        .nullish(
          z.strictObject(
            { day: cost('Per calendar day in UTC.'), month: cost('Per calendar month in UTC.') },
            { error: 'must be a JSON object with day and month, or null for no limit' },
          ),
        )
        .check(z.describe('The price of model responses in US dollars.')),
      warnAt: z
        .nullish(numberIn({ min: 0.0001, max: 1 }, 'must be a number from 0.0001 to 1, or null'))
        .check(z.describe('The share of each cost limit at which `limit.warning` is sent.')),
      queueWhenFull: truth(
        'Whether asynchronous runs above `maxOpenExecutions` wait for their turn instead of being refused. Default: false.',
      ),
    })
    .check(z.meta({ id: 'LimitsBody' }))
})

/** A new API token. */
export const tokenBody = /* @__PURE__ */ schema(() => {
  const nameError = `is required and must be a string of 1 to ${MAX_TOKEN_NAME} characters without control characters`
  const scopesError = `must be a list of ${SCOPES.join(', ')}, each at most once`
  const agentError = 'must be the slug or ID of an agent'
  const agentsError = `must be a list of 1 to ${MAX_TOKEN_AGENTS} slugs or IDs of agents, or null for all`
  const rateError = `must be an integer from 1 to ${MAX_TOKEN_RATE}, or null for no limit`
  const expiryError = 'must be a date and time with a time zone, such as 2027-11-22T09:30:00Z, or null'
  const agent = z.string({ error: agentError }).check(
    z.refine((text) => isUuid(text) || isSlug(text), { error: agentError }),
    z.toLowerCase(),
  )
  return z
    .strictObject({
      name: z.string({ error: nameError }).check(
        z.trim(),
        z.regex(namePattern(MAX_TOKEN_NAME), { error: nameError }),
        z.refine((text) => text.isWellFormed(), { error: nameError }),
        z.describe('What lists show it by.'),
      ),
      scopes: z
        .optional(
          z
            .array(z.enum(SCOPES, { error: `must be one of ${SCOPES.join(', ')}` }), { error: scopesError })
            .check(
              z.minLength(1, { error: scopesError }),
              z.refine((scopes) => new Set(scopes).size === scopes.length, { error: scopesError }),
            ),
        )
        .check(z.describe('What it may do. Default: `run` and `read`.')),
      agents: z
        .nullish(oneToMany(agent, MAX_TOKEN_AGENTS, agentsError))
        .check(
          z.describe(
            'Slugs or IDs of the only agents that it may use; they need not exist yet. Null: all. Default: those of your token.',
          ),
        ),
      tenantId: z
        .nullish(tenant())
        .check(z.describe('The only tenant that it may use. Null: any. Default: that of your token.')),
      rate: z
        .nullish(integerIn({ min: 1, max: MAX_TOKEN_RATE }, rateError))
        .check(z.describe('Its maximum requests per second. Null: no limit. Default: that of your token.')),
      expiresAt: z
        .nullish(z.iso.datetime({ offset: true, error: expiryError }))
        .check(
          z.describe(
            `When it expires (RFC 3339): at most ${TOKEN_LIFETIME_DAYS.max} days from now. Null: never. Default: in ${TOKEN_LIFETIME_DAYS.default} days. If your token expires: at most its own lifetime from now, for people ${TOKEN_LIFETIME_DAYS.maxOfPerson} days, also by default; not null.`,
          ),
        ),
    })
    .check(z.meta({ id: 'TokenBody' }))
})

/** `recorded` or `live`. */
const replaySource = (description: string) =>
  z.optional(z.enum(REPLAY_SOURCES, { error: SOURCE_ERROR })).check(z.describe(description))

const SOURCE_ERROR = `must be ${REPLAY_SOURCES.map((each) => `"${each}"`).join(' or ')}`
const MAX_POINTER = 1_000

/** What a replay takes from the recording of its original. */
const replayFields = (defaults: { tools: string; models: string; steps: string; only?: string }) => {
  const pointerError = `must be a JSON Pointer (RFC 6901) of at most ${MAX_POINTER} characters, such as "/date"`
  const rootError =
    'must not be the empty JSON Pointer: that is the whole value, so nothing would be compared'
  const ignoreError = `must be a list of at most ${MAX_IGNORED} JSON Pointers`
  const pointer = z.string({ error: pointerError }).check(
    z.maxLength(MAX_POINTER, { error: pointerError }),
    z.refine((text) => isJsonPointer(text) && text.isWellFormed(), { error: pointerError }),
    z.refine((text) => text !== '', { error: rootError }),
  )
  return {
    tools: z
      .optional(
        z.record(z.string(), z.enum(REPLAY_SOURCES, { error: SOURCE_ERROR }), {
          error: `must be a JSON object by the names of tools, whose values are ${REPLAY_SOURCES.join(' or ')}`,
        }),
      )
      .check(
        z.describe(
          `By the name of a tool, or \`default\` for all others. \`recorded\`: calls get the results that the original got. \`live\`: they are made${defaults.only ?? ''}. Default: ${defaults.tools}.`,
        ),
      ),
    models: replaySource(
      `\`recorded\`: responses of the original, up to the first request that differs. \`live\`: models are called. Default: ${defaults.models}.`,
    ),
    steps: replaySource(
      `Of code agents. \`recorded\`: steps and waits have the values of the original. \`live\`: they are executed, with all that they do. Default: ${defaults.steps}.`,
    ),
    ignore: z
      .optional(
        z.array(pointer, { error: ignoreError }).check(z.maxLength(MAX_IGNORED, { error: ignoreError })),
      )
      .check(z.describe('JSON Pointers into arguments of tools and into outputs: what is not compared.')),
  }
}

/** A trial of a version. */
export const trialBody = /* @__PURE__ */ schema(() => {
  const timeError = 'must be a date and time with a time zone, such as 2026-11-22T09:30:00Z, or null'
  const time = (description: string) =>
    z.nullish(z.iso.datetime({ offset: true, error: timeError })).check(z.describe(description))
  const idsError = `must be a list of 1 to ${MAX_TRIAL_RUNS} IDs of executions`
  const ids = oneToMany(uuid('must be the ID of an execution (a UUID)'), MAX_TRIAL_RUNS, idsError)
  const feedbackError = `must be ${TRIAL_FEEDBACK.map((each) => `"${each}"`).join(' or ')}, or null`
  return z
    .strictObject({
      from: time('Only executions that were created at this time or later (RFC 3339).'),
      to: time('Only executions that were created before this time (RFC 3339).'),
      limit: within(
        TRIAL_RUNS,
        `How many executions it repeats at most: the newest ones. Default: ${TRIAL_RUNS.default}.`,
      ),
      tenantId: z.nullish(tenant()).check(z.describe('Only executions of this tenant.')),
      feedback: z
        .nullish(z.enum(TRIAL_FEEDBACK, { error: feedbackError }))
        .check(z.describe('Only executions that a reviewer has corrected, or rated.')),
      executions: z
        .optional(ids)
        .check(z.describe('These executions, instead of those that the other fields select.')),
      ...replayFields({
        tools: '`recorded`',
        models: '`live`',
        steps: '`recorded`',
        only: ', only of tools that the document marks with `readOnly: true`',
      }),
      maxTrialCostUsd: within(
        MAX_COST_USD,
        'The maximum price in US dollars of all model responses together. Required if models are live. If they are recorded and it is missing, no model is called: runs end where they would.',
        false,
      ),
      maxConcurrency: within(MAX_CONCURRENCY, 'How many executions are in progress at the same time.'),
    })
    .check(z.meta({ id: 'TrialBody' }))
})

/** A rerun of an execution. */
export const rerunBody = /* @__PURE__ */ schema(() => {
  const rest = '`live`'
  return z
    .strictObject({
      versionId: z
        .optional(uuid('must be a version ID (a UUID)').check(z.toLowerCase()))
        .check(z.describe('The version that runs. Default: the one that a new run would get.')),
      ...replayFields({ tools: rest, models: '`live`', steps: rest }),
      fromStep: within(
        { min: 1, max: MAX_CODE_STEPS },
        'Steps before this one are taken from the original as they are.',
      ),
    })
    .check(z.meta({ id: 'RerunBody' }))
})

export type TrialBody = z.output<typeof trialBody>

/** When the service ends a rollout by itself. */
export const abortRules = /* @__PURE__ */ schema(() => {
  const fraction = (highest: number, description: string) => {
    const error = `must be a number from 0 to ${highest}, or null`
    return z.nullish(numberIn({ min: 0, max: highest }, error)).check(z.describe(description))
  }
  const error = 'must be a JSON object with maxErrorRate or maxCostIncrease, or null'
  return z
    .strictObject(
      {
        maxErrorRate: fraction(1, 'The share of the runs that may fail.'),
        maxCostIncrease: fraction(
          MAX_COST_INCREASE,
          'How much more a run may cost than one of the current version in the same time: 0.5 for half as much again.',
        ),
        minRuns: within(
          ROLLOUT_MIN_RUNS,
          `How many runs of the version there have to be before. Default: ${ROLLOUT_MIN_RUNS.default}.`,
        ),
      },
      { error },
    )
    .check(
      z.refine(
        ({ maxErrorRate = null, maxCostIncrease = null }) =>
          maxErrorRate !== null || maxCostIncrease !== null,
        { error },
      ),
    )
})

/** Starts or changes the rollout of an agent. */
export const rolloutBody = /* @__PURE__ */ schema(() => {
  const { min, max } = ROLLOUT_PERCENT
  const percentError = `must be a number from ${min} to ${max} with at most two decimals`
  const keyError = `must be ${ROLLOUT_KEYS.map((key) => `"${key}"`).join(' or ')}`
  return z
    .strictObject({
      versionId: uuid('is required and must be the ID of a version').check(
        z.toLowerCase(),
        z.meta({ format: 'uuid', description: 'The version, which is not the current one.' }),
      ),
      percent: numberIn(ROLLOUT_PERCENT, percentError).check(
        z.refine((percent) => Math.round(percent * 100) / 100 === percent, { error: percentError }),
        z.describe('The share of the runs that get the version, with at most two decimals.'),
      ),
      key: z
        .optional(z.enum(ROLLOUT_KEYS, { error: keyError }))
        .check(
          z.describe(
            'Default: as it is, for a new rollout `tenant`: all runs of a tenant get the same version. `execution`: each run is on its own, as are runs without a tenant.',
          ),
        ),
      abort: z
        .nullish(abortRules)
        .check(
          z.describe('When the service ends the rollout by itself. Null: never. Default: as it is, or null.'),
        ),
      trial: z
        .nullish(
          uuid('must be the ID of a trial, or null').check(z.toLowerCase(), z.meta({ format: 'uuid' })),
        )
        .check(z.describe('The trial of the version, where the current version requires one of a draft.')),
    })
    .check(z.meta({ id: 'RolloutBody' }))
})

export type RolloutBody = z.output<typeof rolloutBody>
export type ScheduleBody = z.output<typeof scheduleBody>
