import { isJsonObject, type JsonObject, tryParseJson } from '../../core/json/json.ts'
import { CONTEXT_WINDOW } from '../../core/limits.ts'
import { ModelConfigurationError } from '../../core/model.ts'
import { type Environment, readSetting } from '../../environment.ts'
import {
  areSecretsVariables,
  getSecretNames,
  ONLY_SECRET_REFERENCE,
  SECRET_REFERENCE,
} from '../../secret-store.ts'
import { findRatesProblem, type Rates } from '../prices/rates.ts'
import {
  ALL_LEVELS,
  type Capability,
  type Level,
  PROVIDERS,
  type Provider,
} from '../providers/provider-traits.ts'

/** The providers whose formats an endpoint can have. Requests to Bedrock are signed, for which it has no key. */
const FORMATS = ['openai-compatible', 'openai', 'anthropic'] as const satisfies Provider[]

/** What its models can do, in place of what the provider of the format says about models with their names. */
export type EndpointTraits = { [capability in Capability]?: boolean } & {
  reasoningLevels?: Level[]
  /** The output limit of models whose document sets none. By default the server's own. */
  maxOutputTokens?: number
  /** Tokens of input and output together, in place of the table by the names of models. */
  contextWindow?: number
}

/** A server that offers models in the format of a provider: one entry of `MODEL_ENDPOINTS`. */
export type ModelEndpoint = {
  name: string
  baseUrl: string
  format: (typeof FORMATS)[number]
  /** A secret reference. */
  apiKey?: string
  /** Values can contain secret references. */
  headers: Record<string, string>
  traits: EndpointTraits
  /** By model; a `*` at the end matches any rest. */
  prices: Record<string, Rates>
}

const MAX_ENDPOINTS = 32
const NAME = /^[a-z][a-z0-9-]{0,39}$/
const FIELDS = ['baseUrl', 'format', 'apiKey', 'headers', 'traits', 'prices']
const CAPABILITIES: { [capability in Capability]: true } = {
  forcedTool: true,
  json: true,
  images: true,
  inputImages: true,
  inputPdfs: true,
  cachePoints: true,
  strictTools: true,
  structured: true,
  reasoning: true,
  webSearch: true,
  temperature: true,
}
const TOKEN_TRAITS = { maxOutputTokens: { min: 1, max: 1_000_000 }, contextWindow: CONTEXT_WINDOW }
const TRAITS = [...Object.keys(CAPABILITIES), 'reasoningLevels', ...Object.keys(TOKEN_TRAITS)]

const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/
const HEADER_VALUE = /^[\t\x20-\x7e]*$/
const RESERVED_HEADER =
  /^(accept-encoding|connection|content-.*|expect|host|keep-alive|te|trailer|transfer-encoding|upgrade)$/i
/** Their values are secrets, which belong in a secret store. */
const SECRET_HEADER = /^(authorization|cookie|proxy-authorization)$|(^|-)(key|token|secret)$/i

let parsed: { text: string; endpoints: Record<string, ModelEndpoint> } = { text: '', endpoints: {} }

/**
 * The endpoints of an environment, by name.
 * @throws ModelConfigurationError if the setting is invalid
 */
export function endpointsOf(environment: Environment): Record<string, ModelEndpoint> {
  const text = readSetting('modelEndpoints', environment) ?? ''
  if (parsed.text !== text) parsed = { text, endpoints: parseModelEndpoints(text) }
  return parsed.endpoints
}

/**
 * Parses the value of `MODEL_ENDPOINTS`; an empty one has no endpoints.
 * @throws ModelConfigurationError
 */
export function parseModelEndpoints(text: string): Record<string, ModelEndpoint> {
  if (text === '') return {}
  const values = tryParseJson(text)
  const example = `{"groq": {"baseUrl": "https://api.groq.com/openai/v1", "apiKey": "\${secret:GROQ_API_KEY}"}}`
  if (!isJsonObject(values)) return fail(`it must be a JSON object such as ${example}.`)
  const names = Object.keys(values)
  if (names.length > MAX_ENDPOINTS) fail(`it must have at most ${MAX_ENDPOINTS} endpoints.`)
  return Object.fromEntries(names.map((name) => [name, toEndpoint(name, values[name])]))
}

function toEndpoint(name: string, value: unknown): ModelEndpoint {
  if (!NAME.test(name))
    fail(`"${name}" must be a name of at most 40 lowercase letters, digits and "-", starting with a letter.`)
  if (PROVIDERS.some((provider) => provider === name)) fail(`"${name}" is the name of a provider.`)
  const at = (field: string, problem: string): never => fail(`"${name}.${field}" ${problem}`)
  if (!isJsonObject(value)) return fail(`"${name}" must be an object with a "baseUrl".`)
  checkKnown(value, FIELDS, (field) => at(field, `is unknown; allowed: ${FIELDS.join(', ')}.`))
  const { baseUrl, format = FORMATS[0], apiKey, headers = {}, traits = {}, prices = {} } = value
  if (!isBaseUrl(baseUrl))
    at('baseUrl', 'must be an http or https URL without credentials, query or fragment.')
  if (!FORMATS.some((known) => known === format)) at('format', `must be one of ${FORMATS.join(', ')}.`)
  if (apiKey !== undefined && !(typeof apiKey === 'string' && ONLY_SECRET_REFERENCE.test(apiKey)))
    at('apiKey', `must be a secret reference such as \${secret:GROQ_API_KEY}.`)
  if (!isJsonObject(headers)) at('headers', 'must be an object.')
  for (const [header, text] of Object.entries(headers as JsonObject)) {
    const problem = findHeaderProblem(header, text)
    if (problem) at(`headers.${header}`, problem)
  }
  if (!isJsonObject(traits)) return at('traits', 'must be an object.')
  checkKnown(traits, TRAITS, (trait) => at(`traits.${trait}`, `is unknown; allowed: ${TRAITS.join(', ')}.`))
  for (const [trait, given] of Object.entries(traits)) {
    const problem = findTraitProblem(trait, given)
    if (problem) at(`traits.${trait}`, problem)
  }
  if (!isJsonObject(prices)) return at('prices', 'must be an object with prices by model.')
  for (const [model, rates] of Object.entries(prices)) {
    const problem = findRatesProblem(rates)
    if (problem) at(`prices.${model}`, problem)
  }
  return { ...value, name, format, headers, traits, prices } as ModelEndpoint
}

function checkKnown(value: JsonObject, known: string[], report: (field: string) => never): void {
  const unknown = Object.keys(value).find((field) => !known.includes(field))
  if (unknown !== undefined) report(unknown)
}

/** No error shows a URL, because it may contain a password. */
function isBaseUrl(value: unknown): boolean {
  const url = typeof value === 'string' ? URL.parse(value) : null
  if (!url || !/^https?:$/.test(url.protocol)) return false
  return !url.username && !url.password && !url.search && !url.hash
}

function findHeaderProblem(name: string, value: unknown): string | null {
  if (!HEADER_NAME.test(name)) return 'is not a valid header name.'
  if (RESERVED_HEADER.test(name)) return 'is reserved: the service sets it.'
  if (typeof value !== 'string' || !HEADER_VALUE.test(value))
    return 'must be a text of printable ASCII characters.'
  if (value.replace(SECRET_REFERENCE, '').includes('${'))
    return `contains a "\${" that is not a secret reference such as \${secret:GATEWAY_KEY}.`
  if (SECRET_HEADER.test(name) && getSecretNames(value).length === 0)
    return `must contain a secret reference such as \${secret:GATEWAY_KEY}.`
  return null
}

function findTraitProblem(trait: string, value: unknown): string | null {
  if (trait in TOKEN_TRAITS) {
    const { min, max } = TOKEN_TRAITS[trait as keyof typeof TOKEN_TRAITS]
    const isValid = Number.isInteger(value) && Number(value) >= min && Number(value) <= max
    return isValid ? null : `must be an integer from ${min} to ${max}.`
  }
  if (trait !== 'reasoningLevels') return typeof value === 'boolean' ? null : 'must be true or false.'
  const isValid = Array.isArray(value) && value.every((level) => ALL_LEVELS.some((known) => known === level))
  return isValid ? null : `must be a list of ${ALL_LEVELS.join(', ')}.`
}

function fail(problem: string): never {
  throw new ModelConfigurationError(`Invalid MODEL_ENDPOINTS: ${problem}`)
}

/** The names of the secrets of an endpoint. */
export const secretsOf = ({ apiKey = '', headers }: ModelEndpoint): string[] => [
  ...new Set([apiKey, ...Object.values(headers)].flatMap(getSecretNames)),
]

/** The first of its secrets that is not set, where secrets are environment variables. */
export const findMissingSecret = (endpoint: ModelEndpoint, environment: Environment): string | undefined =>
  areSecretsVariables(environment)
    ? secretsOf(endpoint).find((name) => !environment[name]?.trim())
    : undefined

/** The values of its secrets to mask in messages, where secrets are environment variables. */
export const getEndpointSecrets = (endpoint: ModelEndpoint, environment: Environment): string[] =>
  secretsOf(endpoint).flatMap((name) => environment[name]?.trim() || [])
