import { type Environment, SECRETS_PREFIX } from './environment.ts'
import { readManagedSecret, readParameter } from './parameter-store.ts'

/** `${secret:NAME}` in a text. */
export const SECRET_REFERENCE = /\$\{secret:([A-Za-z_][A-Za-z0-9_]*)\}/g

/** A text that is a secret reference and nothing else. */
export const ONLY_SECRET_REFERENCE = new RegExp(`^${SECRET_REFERENCE.source}$`)

const DEFAULT_PREFIX = '/aes/secrets'

/** The names of the secrets that a text refers to. */
export const getSecretNames = (text: string): string[] =>
  [...text.matchAll(SECRET_REFERENCE)].map(([, name]) => name ?? '')

/** Whether secrets are environment variables: not on AWS, where `SECRETS_PREFIX` is set or a Lambda function runs. */
export const areSecretsVariables = (environment: Environment): boolean =>
  !environment[SECRETS_PREFIX] && !environment.AWS_LAMBDA_FUNCTION_NAME

/**
 * Reads a secret; null if it does not exist. On AWS, the name `<prefix>/NAME` is looked up in SSM Parameter Store, then
 * in Secrets Manager. The environment of a function is never read, because it contains the credentials of its role.
 * Elsewhere, reads the environment variable NAME.
 * @throws ParameterReadError
 */
export async function readSecret(name: string, environment: Environment): Promise<string | null> {
  if (areSecretsVariables(environment)) return environment[name]?.trim() || null
  const path = `${(environment[SECRETS_PREFIX] || DEFAULT_PREFIX).replace(/\/+$/, '')}/${name}`
  const value = (await readParameter(path)) ?? (await readManagedSecret(path))
  return value?.trim() || null
}
