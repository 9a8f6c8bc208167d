/** Names of the environment variables that the stack sets and the functions read. */
export const TABLE_NAME = 'TABLE_NAME'
export const QUEUE_URL = 'QUEUE_URL'
/** Other emulators than the embedded ones; absent on AWS. */
export const DYNAMODB_ENDPOINT = 'DYNAMODB_ENDPOINT'
export const SQS_ENDPOINT = 'SQS_ENDPOINT'
/** 'on' where API Gateway takes streamed responses. */
export const RESPONSE_STREAMING = 'RESPONSE_STREAMING'

/** `{provider}/{model}` for agents that name none. */
export const DEFAULT_MODEL = 'DEFAULT_MODEL'
/** Path under which an AWS account keeps the secrets of tools: `<prefix>/NAME` is the secret NAME. */
export const SECRETS_PREFIX = 'SECRETS_PREFIX'

export type Environment = Record<string, string | undefined>

/** @throws an Error that names the variable when it is missing or empty. */
export function requireEnv(name: string, environment: Environment = process.env): string {
  const value = environment[name]
  if (!value) throw new Error(`The environment variable ${name} is not set.`)
  return value
}
