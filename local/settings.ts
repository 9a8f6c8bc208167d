import type { LeaseTimes } from '../lib/core/lease-times.ts'
import { readTimes } from '../lib/engine/engine.ts'
import {
  AGENT_MEMORY_MB,
  CORS_ORIGINS,
  DEFAULT_MODEL,
  DYNAMODB_ENDPOINT,
  type Environment,
  EXECUTION_RETENTION_DAYS,
  LARGE_BODY_MB_PER_MINUTE,
  LEASE_SECONDS,
  MAX_OPEN_EXECUTIONS,
  MODEL_PRICES,
  RETRY_BACKOFF_MS,
  readInteger,
  SQS_ENDPOINT,
  SYNC_DEADLINE_SECONDS,
} from '../lib/environment.ts'
import { type CorsOrigins, parseCorsOrigins, readCorsOrigins } from '../lib/http/cors.ts'
import type { logger } from '../lib/logger.ts'
import { checkModel } from '../lib/models/check-model.ts'
import { parseModelPrices } from '../lib/models/prices/price-table.ts'
import { PROVIDERS, type Provider, traitsOf } from '../lib/models/providers/providers.ts'
import { isTokenFormat } from '../lib/tokens/token.ts'

type LogLevel = Parameters<typeof logger.setLogLevel>[0]

const POWERTOOLS_LOG_LEVEL = 'POWERTOOLS_LOG_LEVEL'

/** Shorter than on AWS: a developer who kills a worker waits for its runs. */
const LOCAL_LEASE_SECONDS = '10'

/** The settings of `npm start` that are not read by the functions themselves. */
export type LocalSettings = {
  host: string
  port: number
  devToken: string | undefined
  corsOrigins: CorsOrigins
  times: LeaseTimes
  logLevel: LogLevel
  /** What is allowed, but not safe. */
  warnings: string[]
  /** Variables of the functions whose defaults differ from those on AWS. */
  defaults: Environment
}

/**
 * Checks every variable of `docs/configuration.md` that `npm start` or a function reads, before anything is opened.
 * @throws an Error with one line for each invalid variable
 */
export function readLocalSettings(given: Environment): LocalSettings {
  const defaults = {
    [LEASE_SECONDS]: given[LEASE_SECONDS] || LOCAL_LEASE_SECONDS,
    [POWERTOOLS_LOG_LEVEL]: given[POWERTOOLS_LOG_LEVEL] || 'WARN',
  }
  const environment: Environment = { ...given, ...defaults }
  const problems = Object.entries(CHECKS).flatMap(([name, check]) => {
    const value = environment[name]
    try {
      if (value) check(value, environment, name)
      return []
    } catch (error) {
      return (error as Error).message
    }
  })
  if (problems.length > 0) throw new Error(problems.join('\n'))
  const host = given.HOST || '127.0.0.1'
  return {
    host,
    port: parsePort(given.PORT || '3000'),
    devToken: given.DEV_TOKEN || undefined,
    corsOrigins: readCorsOrigins(environment),
    times: readTimes(environment),
    logLevel: defaults[POWERTOOLS_LOG_LEVEL].toUpperCase() as LogLevel,
    warnings: findWarnings(host, given.DEV_TOKEN),
    defaults,
  }
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1)$/

/** As many characters as 128 random bits have in base64. */
const MIN_TOKEN_CHARACTERS = 22
const MIN_DISTINCT_CHARACTERS = 10

function findWarnings(host: string, token: string | undefined): string[] {
  const isPublic = !LOOPBACK.test(host)
  return [
    ...(isPublic
      ? [
          `HOST is ${host}: every machine that can reach this one can send requests, without TLS. Anyone who has a token with the scope manage can run code here.`,
        ]
      : []),
    ...(token && isWeak(token)
      ? [
          `DEV_TOKEN can be guessed, and it has every scope. Use at least ${MIN_TOKEN_CHARACTERS} random letters and digits, or leave it out: a random one is created.`,
        ]
      : []),
  ]
}

/** Random text of this length nearly always has letters, digits and so many different characters. */
const isWeak = (token: string): boolean =>
  token.length < MIN_TOKEN_CHARACTERS ||
  new Set(token).size < MIN_DISTINCT_CHARACTERS ||
  !/\d/.test(token) ||
  !/[a-z]/i.test(token)

/** Throws an Error that names the variable. */
type Check = (value: string, environment: Environment, name: string) => unknown

const checkNumber: Check = (_value, environment, name) => readInteger(name, 1, environment)

/** The message does not contain the URL, because it may contain a password. */
const checkUrl: Check = (value, _environment, name) => {
  const url = URL.parse(value)
  if (!url || !/^https?:$/.test(url.protocol)) throw new Error(`${name} must be an http or https URL.`)
}

function checksOf(provider: Provider): Record<string, Check> {
  const { baseUrl, outputLimit } = traitsOf(provider).variables
  return { [baseUrl]: checkUrl, ...(outputLimit && { [outputLimit.name]: checkNumber }) }
}

const LOG_LEVELS = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'CRITICAL', 'SILENT']

const CHECKS: Record<string, Check> = {
  PORT: parsePort,
  DEV_TOKEN: (value) => {
    if (!isTokenFormat(value))
      throw new Error('DEV_TOKEN may contain only letters, digits and ._~+/=-, at most 200 characters.')
  },
  [CORS_ORIGINS]: (value) => {
    try {
      parseCorsOrigins(value)
    } catch (error) {
      throw new Error(`${CORS_ORIGINS} ${(error as Error).message}`)
    }
  },
  [DYNAMODB_ENDPOINT]: checkUrl,
  [SQS_ENDPOINT]: checkUrl,
  LAMBDA_ENDPOINT: checkUrl,
  ...Object.assign({}, ...PROVIDERS.map(checksOf)),
  [DEFAULT_MODEL]: (value, environment) => {
    try {
      checkModel(value, environment)
    } catch (error) {
      throw new Error(`${DEFAULT_MODEL}: ${(error as Error).message}`)
    }
  },
  [MODEL_PRICES]: parseModelPrices,
  [AGENT_MEMORY_MB]: checkNumber,
  [MAX_OPEN_EXECUTIONS]: checkNumber,
  [LARGE_BODY_MB_PER_MINUTE]: checkNumber,
  [SYNC_DEADLINE_SECONDS]: checkNumber,
  [LEASE_SECONDS]: checkNumber,
  [RETRY_BACKOFF_MS]: checkNumber,
  [EXECUTION_RETENTION_DAYS]: checkNumber,
  [POWERTOOLS_LOG_LEVEL]: (value) => {
    if (!LOG_LEVELS.includes(value.toUpperCase()))
      throw new Error(`${POWERTOOLS_LOG_LEVEL} is "${value}"; it must be one of ${LOG_LEVELS.join(', ')}.`)
  },
}

function parsePort(text: string): number {
  const port = Number(text)
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port
  throw new Error(`PORT is "${text}"; it must be an integer between 0 and 65535 (0 selects any free port).`)
}
