/** Names of the environment variables that the stack sets and the functions read. */
export const TABLE_NAME = 'TABLE_NAME'
export const QUEUE_URL = 'QUEUE_URL'
/** Other emulators than the embedded ones; absent on AWS. */
export const DYNAMODB_ENDPOINT = 'DYNAMODB_ENDPOINT'
export const SQS_ENDPOINT = 'SQS_ENDPOINT'
/** 'on' where API Gateway takes streamed responses. */
export const RESPONSE_STREAMING = 'RESPONSE_STREAMING'

/** 'on' where standard output goes to CloudWatch, which makes metrics of what `lib/metrics.ts` writes. */
export const METRICS = 'METRICS'

/** Seconds, each a whole number. How long a lease lasts without a heartbeat, and how long a sync caller waits. */
export const LEASE_SECONDS = 'LEASE_SECONDS'
export const SYNC_DEADLINE_SECONDS = 'SYNC_DEADLINE_SECONDS'
/** Open executions that an organization may have. */
export const MAX_OPEN_EXECUTIONS = 'MAX_OPEN_EXECUTIONS'

/** Days that executions are kept after they began, a whole number; for ever when absent. */
export const EXECUTION_RETENTION_DAYS = 'EXECUTION_RETENTION_DAYS'

/** `{provider}/{model}` for agents that name none. */
export const DEFAULT_MODEL = 'DEFAULT_MODEL'
/** Names of the SSM parameters that hold API keys, for `lib/models/providers/provider-keys.ts` to read. */
export const OPENAI_API_KEY_PARAMETER = 'OPENAI_API_KEY_PARAMETER'
export const ANTHROPIC_API_KEY_PARAMETER = 'ANTHROPIC_API_KEY_PARAMETER'
/** Path under which an AWS account keeps the secrets of tools: `<prefix>/NAME` is the secret NAME. */
export const SECRETS_PREFIX = 'SECRETS_PREFIX'

export type Environment = Record<string, string | undefined>

/** @throws an Error that names the variable when it is missing or empty. */
export function requireEnv(name: string, environment: Environment = process.env): string {
  const value = environment[name]
  if (!value) throw new Error(`The environment variable ${name} is not set.`)
  return value
}

/** Milliseconds, of a variable that is in seconds. @throws an Error that names the variable */
export function millisecondsOf(
  name: string,
  otherwise: number,
  environment: Environment = process.env,
): number {
  return numberOf(name, otherwise / 1000, environment) * 1000
}

/** A whole number from 1 up, or `otherwise` when the variable is not set. @throws an Error that names the variable */
export function numberOf(name: string, otherwise: number, environment: Environment = process.env): number {
  const value = environment[name] || String(otherwise)
  if (/^[1-9][0-9]{0,6}$/.test(value)) return Number(value)
  throw new Error(`The environment variable ${name} is "${value}"; it must be a whole number from 1 up.`)
}
