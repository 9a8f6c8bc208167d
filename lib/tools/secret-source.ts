import { type Environment, SECRETS_PREFIX } from '../environment.ts'
import { ToolError } from './tool.ts'

const DEFAULT_PREFIX = '/aes/secrets'

/** How long a rotated secret may still be used. */
const CACHE_SECONDS = 60

/**
 * Reads a secret; null when there is none. On AWS, which is where `SECRETS_PREFIX` is set or a Lambda function runs,
 * from SSM Parameter Store, then Secrets Manager, under the same name in both: `<prefix>/NAME`. A function's environment
 * is never read: it holds its role's keys. Elsewhere from the environment variable NAME.
 * @throws ToolError when it cannot be said whether there is one
 */
export async function readSecret(name: string, environment: Environment): Promise<string | null> {
  const prefix = environment[SECRETS_PREFIX]
  if (!prefix && !environment.AWS_LAMBDA_FUNCTION_NAME) return environment[name] || null
  const path = `${(prefix || DEFAULT_PREFIX).replace(/\/+$/, '')}/${name}`
  const { parameters, secrets } = await stores()
  const parameter = await found(name, () => parameters.get(path, { decrypt: true, maxAge: CACHE_SECONDS }))
  return parameter ?? (await found(name, () => secrets.get(path, { maxAge: CACHE_SECONDS })))
}

let opened: ReturnType<typeof openStores> | undefined

/** One pair a process: they hold the cache. */
function stores() {
  opened ??= openStores()
  return opened
}

async function openStores() {
  const [{ SSMProvider }, { SecretsProvider }] = await Promise.all([
    import('@aws-lambda-powertools/parameters/ssm'),
    import('@aws-lambda-powertools/parameters/secrets'),
  ])
  return { parameters: new SSMProvider(), secrets: new SecretsProvider() }
}

async function found(
  name: string,
  get: () => Promise<string | Uint8Array | undefined>,
): Promise<string | null> {
  try {
    const value = await get()
    return (typeof value === 'object' ? new TextDecoder().decode(value) : value) || null
  } catch (error) {
    const cause = ((error as Error).cause ?? error) as Error
    if (cause.name === 'ParameterNotFound' || cause.name === 'ResourceNotFoundException') return null
    const message = `The secret ${name} could not be read (${cause.name}).`
    throw new ToolError(message, { isTransient: true, cause: error })
  }
}
