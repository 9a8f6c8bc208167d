import * as z from 'zod'
import { MAPPING_RULE, parseMapping } from '../lib/access/claims.ts'
import {
  AUDIENCES_RULE,
  CLIENT_ID_RULE,
  findMissingSetting,
  ISSUER_RULE,
  ORIGIN_RULE,
  parseAudiences,
  parseClientId,
  parseIssuer,
  parseOrigin,
  parseScope,
  SCOPE_RULE,
} from '../lib/access/identity-settings.ts'
import { SHOWN_SIGN_IN_SCOPE } from '../lib/access/protected-resource.ts'
import { isTokenFormat } from '../lib/access/tokens.ts'
import * as limits from '../lib/core/limits.ts'
import { readTimes } from '../lib/engine/engine.ts'
import * as variables from '../lib/environment.ts'
import { HOST_LIST_RULE, parseHosts } from '../lib/host-list.ts'
import { parseCorsOrigins, readCorsOrigins } from '../lib/http/cors.ts'
import type { logger } from '../lib/logger.ts'
import { checkModel } from '../lib/models/check-model.ts'
import { checkEmbeddingModel } from '../lib/models/embed-text.ts'
import {
  endpointsOf,
  findMissingSecret,
  parseModelEndpoints,
} from '../lib/models/endpoints/model-endpoints.ts'
import { parseModelPrices } from '../lib/models/prices/price-table.ts'
import { PROVIDERS, traitsOf } from '../lib/models/providers/providers.ts'
import { PUBLIC_URL_RULE, parsePublicUrl } from '../lib/public-url.ts'
import { checked, integer, optional, parseSettings, setting } from '../lib/settings.ts'

const POWERTOOLS_LOG_LEVEL = 'POWERTOOLS_LOG_LEVEL'
const LOG_LEVELS = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'CRITICAL', 'SILENT']

const isHttpUrl = (text: string) => /^https?:$/.test(URL.parse(text)?.protocol ?? '')

/** The error does not contain the URL, because it may contain a password. */
const url = (name: string) => z.string().refine(isHttpUrl, `${name} must be an http or https URL.`)

const endpoint = (name: string, service: string) =>
  optional(url(name), {
    shownDefault: 'embedded emulator',
    allowed: 'an http or https URL',
    description: `Another emulator of ${service}: see [Running the stack locally](proof.md).`,
  })

function parseEventBus(text: string): void {
  if (!/^(arn:aws[\w-]*:events:[\w-]+:\d{12}:event-bus\/)?[\w.-]{1,256}$/.test(text))
    throw new Error('must be the name or the ARN of an event bus.')
}

const TOKEN_FORMAT = 'letters, digits and ._~+/=-, at most 200 characters'

/** The rows of the table in `docs/configuration.md`. @param environment which checks of models read */
export const localSettings = (environment: variables.Environment) => ({
  PORT: integer({
    default: 3000,
    min: 0,
    max: 65_535,
    allowed: 'an integer between 0 and 65535 (0 selects any free port)',
    description: 'Port of the API.',
  }),
  HOST: setting(z.string(), {
    default: '127.0.0.1',
    allowed: 'an address or a host name',
    description: 'Address of the API.',
  }),
  [variables.CORS_ORIGINS]: optional(checked(parseCorsOrigins, variables.CORS_ORIGINS), {
    allowed: '`*`, or origins separated by commas, such as `https://app.example,http://localhost:5173`',
    description: 'Origins of web pages that may call the API.',
  }),
  [variables.HTTP_PUBLISHING]: setting(z.enum(['on', 'off']), {
    default: 'on',
    allowed: '`on` or `off`',
    description:
      'When off, `POST /v1/agents` is rejected with 403 ([lifecycle](lifecycle.md#publish-from-a-pipeline)).',
  }),
  [variables.PUBLIC_URL]: optional(checked(parsePublicUrl, variables.PUBLIC_URL), {
    shownDefault: 'that of `HOST` and `PORT`',
    allowed: PUBLIC_URL_RULE,
    description: 'The URL of the service for other systems: [callbacks](signals.md#callbacks) begin with it.',
  }),
  DATA_DIR: setting(z.string(), {
    default: '.local',
    allowed: 'a path',
    description: 'Folder for agents, tokens and executions.',
  }),
  DEV_TOKEN: optional(z.string().refine(isTokenFormat, `DEV_TOKEN may contain only ${TOKEN_FORMAT}.`), {
    shownDefault: 'generated',
    allowed: 'letters, digits and `._~+/=-`, at most 200 characters',
    description: 'Token of the development organization. A generated one is stored in `DATA_DIR/dev-token`.',
  }),
  [variables.OIDC_ISSUER]: optional(checked(parseIssuer, variables.OIDC_ISSUER), {
    allowed: ISSUER_RULE,
    description:
      'The [identity provider](identity.md) whose JSON Web Tokens are accepted beside API tokens, together with `OIDC_AUDIENCE` and `OIDC_MAPPING`.',
  }),
  [variables.OIDC_AUDIENCE]: optional(checked(parseAudiences, variables.OIDC_AUDIENCE), {
    allowed: AUDIENCES_RULE,
    description: 'The audiences of these tokens: each token must be for one of them.',
  }),
  [variables.OIDC_MAPPING]: optional(checked(parseMapping, `${variables.OIDC_MAPPING}:`), {
    allowed: MAPPING_RULE,
    description:
      'The organization, the tenant, the scopes and the agents of a token by its [claims](identity.md#mapping).',
  }),
  [variables.OIDC_CLIENT_ID]: optional(checked(parseClientId, variables.OIDC_CLIENT_ID), {
    allowed: CLIENT_ID_RULE,
    description:
      'The public client as which the [console](console.md) signs in at the identity provider. If unset, the console asks for an API token.',
  }),
  [variables.OIDC_SCOPE]: optional(checked(parseScope, variables.OIDC_SCOPE), {
    allowed: SCOPE_RULE,
    shownDefault: SHOWN_SIGN_IN_SCOPE,
    description: 'The scopes that the console asks the identity provider for.',
  }),
  [variables.OIDC_TOKEN_ORIGIN]: optional(checked(parseOrigin, variables.OIDC_TOKEN_ORIGIN), {
    allowed: ORIGIN_RULE,
    description:
      "The origin of the provider's token endpoint, if it is another one than the issuer's. The console may then send requests to it.",
  }),
  [variables.DYNAMODB_ENDPOINT]: endpoint(variables.DYNAMODB_ENDPOINT, 'DynamoDB'),
  [variables.SQS_ENDPOINT]: endpoint(variables.SQS_ENDPOINT, 'SQS'),
  LAMBDA_ENDPOINT: optional(url('LAMBDA_ENDPOINT'), {
    shownDefault: 'AWS',
    allowed: 'an http or https URL',
    description: 'Replaces AWS Lambda for tools of kind `lambda`.',
  }),
  [variables.DEFAULT_MODEL]: optional(
    checked((text) => checkModel(text, environment), `${variables.DEFAULT_MODEL}:`),
    {
      allowed: '`{provider}/{model}` or `{provider}/{model}:{reasoning}`',
      description: 'The model of agents that name none.',
    },
  ),
  [variables.EMBEDDING_MODEL]: optional(
    checked((text) => checkEmbeddingModel(text, environment), `${variables.EMBEDDING_MODEL}:`),
    {
      allowed: '`{provider}/{model}`',
      description:
        'The embedding model by which runs find similar inputs to [learn](learning.md#search) from. If unset, they compare words.',
    },
  ),
  [variables.MODEL_PRICES]: optional(
    checked((text) => parseModelPrices(text, environment)),
    {
      allowed: 'JSON such as `{"openai-compatible/my-model": {"input": 0.5, "output": 1.5}}`',
      description: '[Prices](models.md#budgets) of models in US dollars per million tokens.',
    },
  ),
  [variables.MODEL_ENDPOINTS]: optional(checked(parseModelEndpoints), {
    allowed: 'JSON such as `{"groq": {"baseUrl": "https://api.groq.com/openai/v1"}}`',
    description: 'Other servers of models, by name: [endpoints](endpoints.md).',
  }),
  [variables.MAX_OPEN_EXECUTIONS]: integer({
    default: limits.MAX_OPEN_EXECUTIONS,
    description:
      'Maximum executions in progress per organization, without [suspended](waiting.md) ones. Further runs get 429.',
  }),
  [variables.MAX_SUSPENDED_EXECUTIONS]: integer({
    default: limits.MAX_SUSPENDED_EXECUTIONS,
    description:
      'Maximum [suspended](waiting.md#limits) executions per organization. A further run that would wait ends in ERROR `WaitLimitExceeded`.',
  }),
  [variables.MAX_WAIT_DAYS]: integer({
    ...limits.MAX_WAIT_DAYS,
    description: 'Days that all waits of a run may last [together](waiting.md#limits).',
  }),
  [variables.LARGE_BODY_MB_PER_MINUTE]: integer({
    default: limits.LARGE_BODY_MB_PER_MINUTE,
    description:
      'Megabytes per minute that an organization may send in request bodies of more than 256 kB. Further ones get 429.',
  }),
  [variables.SYNC_DEADLINE_SECONDS]: integer({
    default: limits.SYNC_DEADLINE_MS.streamed / 1000,
    description:
      'After this time a synchronous call gets 504 and its run continues. A call of an [MCP tool](mcp.md) waits for at most 45 s.',
  }),
  [variables.LEASE_SECONDS]: integer({
    // Shorter than on AWS: a developer who kills a worker waits for its runs.
    default: 10,
    description:
      'How long an execution stays with a worker that does not respond; then another one resumes it. On AWS 60.',
  }),
  [variables.RETRY_BACKOFF_MS]: integer({
    default: limits.RETRY_BACKOFF_MS,
    description:
      'First delay before a run is retried after a transient error of a model, a tool or the database, where it triples each time, and before an event is sent again.',
  }),
  [variables.AGENT_MEMORY_MB]: integer({
    // As in the engine, which is not loaded yet.
    default: 512,
    description: "Limit of the heap and of the buffers of a code agent's run.",
  }),
  [variables.EXECUTION_RETENTION_DAYS]: integer({
    default: null,
    description:
      'Days from the end of an execution until it expires. If unset, executions are kept. Commands that work on the local table read it, too.',
  }),
  [variables.AUDIT_RETENTION_DAYS]: integer({
    ...limits.AUDIT_RETENTION_DAYS,
    description:
      'Days for which the [audit log](identity.md#audit-log) keeps changes. Commands that work on the local table read it, too.',
  }),
  [variables.EVENT_BUS]: optional(checked(parseEventBus, variables.EVENT_BUS), {
    allowed: 'the name or the ARN of an event bus',
    description:
      'Receives the [events](webhooks.md#eventbridge) of all organizations. `EXECUTION_RETENTION_DAYS` must then be at least 5, or unset.',
  }),
  [variables.EVENTBRIDGE_ENDPOINT]: optional(url(variables.EVENTBRIDGE_ENDPOINT), {
    shownDefault: 'AWS',
    allowed: 'an http or https URL',
    description: 'An emulator of EventBridge.',
  }),
  [variables.WEBHOOK_URLS]: setting(z.enum(['on', 'off']), {
    default: 'off',
    allowed: '`on` or `off`',
    description:
      'When on, every token that may run an agent can name a [URL](webhooks.md#one-run) that receives the events of the run.',
  }),
  [variables.WEBHOOK_HOSTS]: optional(checked(parseHosts, variables.WEBHOOK_HOSTS), {
    allowed: HOST_LIST_RULE,
    description:
      'Hosts with private addresses that [webhooks](webhooks.md), and tools of documents that are published over HTTP, may reach. If unset, only public addresses; for the organization of the development token, also loopback addresses.',
  }),
  [POWERTOOLS_LOG_LEVEL]: setting(z.string().toUpperCase().pipe(z.enum(LOG_LEVELS)), {
    default: 'WARN',
    allowed: `one of ${LOG_LEVELS.join(', ')}`,
    description: '`INFO` logs one line of JSON per request.',
  }),
})

/** `docs/models.md` documents them. */
const PROVIDER_SETTINGS = Object.fromEntries(
  PROVIDERS.flatMap((provider) => {
    const { baseUrl, outputLimit } = traitsOf(provider).variables
    const doc = { allowed: 'an http or https URL', description: `Endpoint of ${provider}.` }
    const limit = outputLimit && { ...outputLimit, description: `Output limit of ${provider}.` }
    return [[baseUrl, optional(url(baseUrl), doc)], ...(limit ? [[limit.name, integer(limit)]] : [])]
  }),
)

/**
 * The settings of `npm start` that are not read by the functions themselves. Checks every variable of
 * `docs/configuration.md` that `npm start` or a function reads, before anything is opened.
 * @throws an Error with one line for each invalid variable
 */
export function readLocalSettings(given: variables.Environment) {
  const {
    HOST,
    PORT,
    DEV_TOKEN,
    PUBLIC_URL: publicUrl,
    ...values
  } = parseSettings(
    { ...localSettings(given), ...(PROVIDER_SETTINGS as object) },
    (name) => given[name],
    ({ name, value, allowed, reason }) => reason ?? `${name} is "${value}"; it must be ${allowed}.`,
  )
  const retentionDays = values[variables.EXECUTION_RETENTION_DAYS]
  if (values[variables.EVENT_BUS] && (retentionDays ?? limits.MIN_RETENTION_DAYS) < limits.MIN_RETENTION_DAYS)
    throw new Error(
      `${variables.EVENT_BUS} requires ${variables.EXECUTION_RETENTION_DAYS} to be at least ${limits.MIN_RETENTION_DAYS}, or unset: deliveries are retried for three days.`,
    )
  const missing = findMissingSetting(
    {
      issuer: values[variables.OIDC_ISSUER],
      audience: values[variables.OIDC_AUDIENCE],
      mapping: values[variables.OIDC_MAPPING],
      clientId: values[variables.OIDC_CLIENT_ID],
      scope: values[variables.OIDC_SCOPE],
      tokenOrigin: values[variables.OIDC_TOKEN_ORIGIN],
    },
    {
      issuer: variables.OIDC_ISSUER,
      audience: variables.OIDC_AUDIENCE,
      mapping: variables.OIDC_MAPPING,
      clientId: variables.OIDC_CLIENT_ID,
      scope: variables.OIDC_SCOPE,
      tokenOrigin: variables.OIDC_TOKEN_ORIGIN,
    },
  )
  if (missing) throw new Error(`Invalid settings: ${missing}`)
  // Variables of the functions whose defaults differ from those on AWS.
  const defaults: variables.Environment = {
    [variables.LEASE_SECONDS]: String(values[variables.LEASE_SECONDS]),
    [POWERTOOLS_LOG_LEVEL]: values[POWERTOOLS_LOG_LEVEL],
    ...(publicUrl && { [variables.PUBLIC_URL]: parsePublicUrl(publicUrl) }),
  }
  const environment = { ...given, ...defaults }
  return {
    host: HOST,
    port: PORT,
    devToken: DEV_TOKEN ?? undefined,
    corsOrigins: readCorsOrigins(environment),
    times: readTimes(environment),
    logLevel: values[POWERTOOLS_LOG_LEVEL] as Parameters<typeof logger.setLogLevel>[0],
    warnings: [...findWarnings(HOST, DEV_TOKEN), ...findUnusableEndpoints(environment)],
    defaults,
  }
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1)$/

/** As many characters as 128 random bits have in base64. */
const MIN_TOKEN_CHARACTERS = 22
const MIN_DISTINCT_CHARACTERS = 10

/** What is allowed, but not safe. */
function findWarnings(host: string, token: string | null): string[] {
  const warnings: string[] = []
  if (!LOOPBACK.test(host))
    warnings.push(
      `HOST is ${host}: every machine that can reach this one can send requests, without TLS. Anyone who has a token with the scope manage can run code here.`,
    )
  if (token && isWeak(token))
    warnings.push(
      `DEV_TOKEN can be guessed, and it has every scope. Use at least ${MIN_TOKEN_CHARACTERS} random letters and digits, or leave it out: a random one is created.`,
    )
  return warnings
}

/** Random text of this length nearly always has letters, digits and so many different characters. */
const isWeak = (token: string): boolean =>
  token.length < MIN_TOKEN_CHARACTERS ||
  new Set(token).size < MIN_DISTINCT_CHARACTERS ||
  !/\d/.test(token) ||
  !/[a-z]/i.test(token)

const findUnusableEndpoints = (environment: variables.Environment): string[] =>
  Object.values(endpointsOf(environment)).flatMap((endpoint) => {
    const secret = findMissingSecret(endpoint, environment)
    return secret
      ? [
          `${variables.MODEL_ENDPOINTS}: the models of ${endpoint.name} cannot be used: the secret ${secret} is not set.`,
        ]
      : []
  })
