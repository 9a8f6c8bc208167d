/** Names of the environment variables that the stack sets and the functions read. */
export const TABLE_NAME = 'TABLE_NAME'
/** `on` if the service is paused: no process reads or changes the table. Set together with the name of the table. */
export const PAUSED = 'PAUSED'
export const QUEUE_URL = 'QUEUE_URL'
/** The queue of runs that share a worker. If it is absent, they are in the other one. */
export const MODEL_QUEUE_URL = 'MODEL_QUEUE_URL'
/** The queue of events on their way to destinations. */
export const DELIVERY_QUEUE_URL = 'DELIVERY_QUEUE_URL'
/** `on` if invocations of the runner share a process. */
export const SHARED_WORKER = 'SHARED_WORKER'
/** Endpoints of emulators; absent on AWS. */
export const DYNAMODB_ENDPOINT = 'DYNAMODB_ENDPOINT'
export const SQS_ENDPOINT = 'SQS_ENDPOINT'
/** Name or ARN of the EventBridge event bus that gets the events of all organizations; absent without one. */
export const EVENT_BUS = 'EVENT_BUS'

/** `on` if API Gateway streams responses, `local` if the gateway of `npm start` does; absent if they are buffered. */
export const RESPONSE_STREAMING = 'RESPONSE_STREAMING'

/** Folder of the files of the console. On AWS they are part of the function. */
export const CONSOLE_FOLDER = 'CONSOLE_FOLDER'

/**
 * CloudWatch namespace of the metrics of `lib/metrics.ts`. Set if standard output goes to CloudWatch Logs, which
 * extracts them.
 */
export const METRICS_NAMESPACE = 'METRICS_NAMESPACE'

/** `off` if tokens may not publish agents. */
export const HTTP_PUBLISHING = 'HTTP_PUBLISHING'

/** Origins of web pages that may call the API: `*`, or a comma-separated list. CORS is off if it is absent. */
export const CORS_ORIGINS = 'CORS_ORIGINS'

/** Integers, in seconds: how long a lease lasts without a heartbeat, and how long a synchronous caller waits. */
export const LEASE_SECONDS = 'LEASE_SECONDS'
export const SYNC_DEADLINE_SECONDS = 'SYNC_DEADLINE_SECONDS'
/** An integer, in milliseconds: the first delay before a run is retried after a retryable error. */
export const RETRY_BACKOFF_MS = 'RETRY_BACKOFF_MS'
/** Maximum number of open executions of an organization. */
export const MAX_OPEN_EXECUTIONS = 'MAX_OPEN_EXECUTIONS'
/** Maximum number of suspended executions of an organization, and how many days the waits of one may last together. */
export const MAX_SUSPENDED_EXECUTIONS = 'MAX_SUSPENDED_EXECUTIONS'
export const MAX_WAIT_DAYS = 'MAX_WAIT_DAYS'

/** An integer: megabytes per minute of an organization in large bodies of requests. */
export const LARGE_BODY_MB_PER_MINUTE = 'LARGE_BODY_MB_PER_MINUTE'

/**
 * An integer: processes of this function that the open requests of one organization may occupy. Absent if nothing
 * limits them, and where a process has several requests at a time.
 */
export const ORGANIZATION_CONCURRENCY = 'ORGANIZATION_CONCURRENCY'

/** An integer: days after which executions are deleted. They are kept if it is absent. */
export const EXECUTION_RETENTION_DAYS = 'EXECUTION_RETENTION_DAYS'

/** An integer: days after which entries of the audit log are deleted. */
export const AUDIT_RETENTION_DAYS = 'AUDIT_RETENTION_DAYS'

/** The URL of the service for other systems, without a slash at its end. Absent: agents get no callback URLs. */
export const PUBLIC_URL = 'PUBLIC_URL'

/** The issuer of the JSON Web Tokens that are accepted beside API tokens. The others are absent without it. */
export const OIDC_ISSUER = 'OIDC_ISSUER'
/** The audiences of these tokens, separated by commas. */
export const OIDC_AUDIENCE = 'OIDC_AUDIENCE'
/** JSON: what they may do by their claims, as `lib/access/claims.ts` reads it. */
export const OIDC_MAPPING = 'OIDC_MAPPING'
/** The client of the identity provider as which the console signs in. Absent: it asks for an API token. */
export const OIDC_CLIENT_ID = 'OIDC_CLIENT_ID'
/** The scopes that the console asks the identity provider for, separated by spaces. */
export const OIDC_SCOPE = 'OIDC_SCOPE'
/** The origin of the token endpoint of the identity provider, if it is not that of the issuer. */
export const OIDC_TOKEN_ORIGIN = 'OIDC_TOKEN_ORIGIN'

/** Endpoint of an emulator of EventBridge; absent on AWS. */
export const EVENTBRIDGE_ENDPOINT = 'EVENTBRIDGE_ENDPOINT'
/** `on` if runs may name a URL that receives their events. */
export const WEBHOOK_URLS = 'WEBHOOK_URLS'
/** Hosts that clients may name although their addresses are not public, separated by commas. */
export const WEBHOOK_HOSTS = 'WEBHOOK_HOSTS'
/** The organization whose clients may name loopback addresses; absent on AWS. */
export const LOOPBACK_ORGANIZATION = 'LOOPBACK_ORGANIZATION'

/** Limit of the heap, and of the buffers, of a code agent's thread. */
export const AGENT_MEMORY_MB = 'AGENT_MEMORY_MB'

/** `{provider}/{model}` of agents without a model. */
export const DEFAULT_MODEL = 'DEFAULT_MODEL'
/** `{provider}/{model}` that finds similar inputs for dynamic learning. Absent: they are compared by their words. */
export const EMBEDDING_MODEL = 'EMBEDDING_MODEL'
/** JSON: prices that replace or complete those of `lib/models/prices/prices.json`. */
export const MODEL_PRICES = 'MODEL_PRICES'
/** JSON: servers of models by name, as `lib/models/endpoints` reads them. It contains no secret, only references. */
export const MODEL_ENDPOINTS = 'MODEL_ENDPOINTS'
/** SSM path of the secrets of tools and endpoints: the secret NAME is the parameter `<prefix>/NAME`. */
export const SECRETS_PREFIX = 'SECRETS_PREFIX'

export type Environment = Record<string, string | undefined>

/** @throws an Error that names the variable when it is missing or empty */
export function requireEnv(name: string, environment: Environment = process.env): string {
  const value = environment[name]
  if (!value) throw new Error(`The environment variable ${name} is not set.`)
  return value
}

/** The value in milliseconds of a variable in seconds. @throws an Error that names the variable when it is invalid */
export const readDurationMs = (name: string, defaultMs: number, environment?: Environment) =>
  readInteger(name, defaultMs / 1000, environment) * 1000

/** A positive integer. @throws an Error that names the variable when it is invalid */
export function readInteger(name: string, defaultValue: number, environment: Environment = process.env) {
  const value = environment[name] || String(defaultValue)
  if (/^[1-9][0-9]{0,6}$/.test(value)) return Number(value)
  throw new Error(`The environment variable ${name} is "${value}"; it must be an integer from 1 to 9999999.`)
}
