import { findMissingSetting } from '../lib/access/identity-settings.ts'
import { type Problem, parseSettings, type ValuesOf } from '../lib/contract/parse-settings.ts'
import type { Setting } from '../lib/contract/settings/setting.ts'
import { SETTINGS, type SettingName } from '../lib/contract/settings/table.ts'
import { MIN_RETENTION_DAYS } from '../lib/core/limits.ts'
import { readTimes } from '../lib/engine/engine.ts'
import { type Environment, variableOf } from '../lib/environment.ts'
import { readCorsOrigins } from '../lib/http/cors.ts'
import type { logger } from '../lib/logger.ts'
import { checkModel } from '../lib/models/check-model.ts'
import { checkEmbeddingModel } from '../lib/models/embed-text.ts'
import { endpointsOf, findMissingSecret } from '../lib/models/endpoints/model-endpoints.ts'
import { PROVIDERS, traitsOf } from '../lib/models/providers/providers.ts'
import { parsePublicUrl } from '../lib/public-url.ts'

type Table = typeof SETTINGS

type LocalSettings = {
  [Name in SettingName as Table[Name]['where'] extends 'stack' ? never : Name]: Table[Name]
}

/** A row as it holds for `npm start`, where flags are `on` or `off`. */
function toLocalRow(
  name: string,
  { local, maxLength: _, ...row }: Setting & { maxLength?: number },
): Setting {
  const description = row.where === 'both' ? `As \`${name}\`.` : row.description
  const localRow = { ...row, description, ...local } as Setting
  if (localRow.type !== 'flag') return localRow
  const values = ['on', 'off'] as const
  return {
    ...localRow,
    type: 'choice',
    values,
    default: localRow.default ? 'on' : 'off',
    allowed: '`on` or `off`',
  }
}

/** The rows of the table of `npm start` in `docs/settings.md`. */
export const LOCAL_SETTINGS = Object.fromEntries(
  Object.entries(SETTINGS as Record<string, Setting>)
    .filter(([, { where }]) => where !== 'stack')
    .map(([name, row]) => [name, toLocalRow(name, row)]),
) as LocalSettings

/** Rows by variables, which `docs/models.md` documents. */
const PROVIDER_SETTINGS = Object.fromEntries(
  PROVIDERS.flatMap((provider) => {
    const { baseUrl, outputLimit } = traitsOf(provider).variables
    const url: Setting = {
      where: 'local',
      type: 'httpUrl',
      default: null,
      description: `Endpoint of ${provider}.`,
    }
    const limit = outputLimit && {
      where: 'local' as const,
      type: 'integer' as const,
      default: outputLimit.default,
      description: `Output limit of ${provider}.`,
    }
    return [[baseUrl, url], ...(outputLimit ? [[outputLimit.name, limit]] : [])]
  }),
) as Record<string, Setting>

/** A parser says what is wrong; its error follows the name of the variable. */
function explain({ name, value, allowed, reason }: Problem): string {
  if (!reason) return `${name} is "${value}"; it must be ${allowed}.`
  if (reason.startsWith('Invalid ')) return reason
  return /^(must|may|contains)\b/.test(reason) ? `${name} ${reason}` : `${name}: ${reason}`
}

/**
 * The settings of `npm start` that are not read by the functions themselves. Checks every variable of
 * `npm start` in `docs/settings.md` that it or a function reads, before anything is opened.
 * @throws an Error with one line for each invalid variable
 */
export function readLocalSettings(given: Environment) {
  const nameOf = (name: string) => (name in LOCAL_SETTINGS ? variableOf(name as SettingName) : name)
  const values: ValuesOf<LocalSettings> = parseSettings(
    { ...LOCAL_SETTINGS, ...(PROVIDER_SETTINGS as object) },
    (name) => given[nameOf(name)],
    ({ name, ...problem }) => explain({ name: nameOf(name), ...problem }),
    { environment: given, parsers: { modelName: checkModel, embeddingModel: checkEmbeddingModel } },
  )
  const { host, port, devToken, publicUrl, executionRetentionDays, powertoolsLogLevel } = values
  const delivered = values.eventBus ? 'EVENT_BUS' : values.otelExporterOtlpEndpoint ? OTLP_ENDPOINT : null
  if (delivered && (executionRetentionDays ?? MIN_RETENTION_DAYS) < MIN_RETENTION_DAYS)
    throw new Error(
      `${delivered} requires EXECUTION_RETENTION_DAYS to be at least ${MIN_RETENTION_DAYS}, or unset: deliveries are retried for three days.`,
    )
  const missing = findMissingSetting(values, variableOf)
  if (missing) throw new Error(`Invalid settings: ${missing}`)
  // Variables of the functions whose defaults differ from those on AWS.
  const defaults: Environment = {
    [variableOf('leaseSeconds')]: String(values.leaseSeconds),
    [variableOf('powertoolsLogLevel')]: powertoolsLogLevel,
    ...(publicUrl && { [variableOf('publicUrl')]: parsePublicUrl(publicUrl) }),
    ...toTraceSettings(values),
  }
  const environment = { ...given, ...defaults }
  return {
    host,
    port,
    devToken: devToken ?? undefined,
    corsOrigins: readCorsOrigins(environment),
    times: readTimes(environment),
    logLevel: powertoolsLogLevel as Parameters<typeof logger.setLogLevel>[0],
    warnings: [...findWarnings(host, devToken), ...findUnusableEndpoints(environment)],
    defaults,
  }
}

const OTLP_ENDPOINT = variableOf('otelExporterOtlpEndpoint')

/** The settings of traces, as the functions read them, by the variables of the OpenTelemetry SDKs. */
function toTraceSettings(values: ValuesOf<LocalSettings>): Environment {
  const { otelExporterOtlpEndpoint: endpoint, otelExporterOtlpHeaders: headers } = values
  const percent = Math.ceil(Number(values.otelTracesSamplerArg ?? 1) * 100)
  if (!endpoint || percent === 0) return {}
  return {
    [variableOf('otlpEndpoint')]: endpoint,
    [variableOf('otlpProtocol')]: values.otelExporterOtlpProtocol,
    [variableOf('otlpSamplePercent')]: String(percent),
    // Secrets are variables here.
    ...(headers && { [variableOf('otlpHeaders')]: variableOf('otelExporterOtlpHeaders') }),
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

const findUnusableEndpoints = (environment: Environment): string[] =>
  Object.values(endpointsOf(environment)).flatMap((endpoint) => {
    const secret = findMissingSecret(endpoint, environment)
    return secret
      ? [`MODEL_ENDPOINTS: the models of ${endpoint.name} cannot be used: the secret ${secret} is not set.`]
      : []
  })
