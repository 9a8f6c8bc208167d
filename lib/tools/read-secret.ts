import { type Environment, SECRETS_PREFIX } from '../environment.ts'
import { ToolError } from './tool.ts'

const DEFAULT_PREFIX = '/aes/secrets'

/** A rotated secret may be used for this long. */
const CACHE_SECONDS = 60

/**
 * Reads a secret; null if it does not exist. On AWS (where `SECRETS_PREFIX` is set or a Lambda function runs), the name
 * `<prefix>/NAME` is looked up in SSM Parameter Store, then in Secrets Manager. The environment of a function is never
 * read, because it contains the credentials of its role. Elsewhere, reads the environment variable NAME.
 * @throws ToolError if the secret cannot be read
 */
export async function readSecret(name: string, environment: Environment): Promise<string | null> {
  const prefix = environment[SECRETS_PREFIX]
  if (!prefix && !environment.AWS_LAMBDA_FUNCTION_NAME) return environment[name] || null
  const path = `${(prefix || DEFAULT_PREFIX).replace(/\/+$/, '')}/${name}`
  const { parameters, secrets } = await getProviders()
  const parameter = await read(name, () => parameters.get(path, { decrypt: true, maxAge: CACHE_SECONDS }))
  return parameter ?? (await read(name, () => secrets.get(path, { maxAge: CACHE_SECONDS })))
}

let providers: ReturnType<typeof loadProviders> | undefined

/** Shared by the process, because the providers hold the cache. */
function getProviders() {
  providers ??= loadProviders()
  return providers
}

async function loadProviders() {
  const [{ SSMProvider }, { SecretsProvider }] = await Promise.all([
    import('@aws-lambda-powertools/parameters/ssm'),
    import('@aws-lambda-powertools/parameters/secrets'),
  ])
  return { parameters: new SSMProvider(), secrets: new SecretsProvider() }
}

async function read(
  name: string,
  get: () => Promise<string | Uint8Array | undefined>,
): Promise<string | null> {
  try {
    const value = await get()
    return (typeof value === 'object' ? new TextDecoder().decode(value) : value) || null
  } catch (error) {
    const cause = ((error as Error).cause ?? error) as Error
    if (cause.name === 'ParameterNotFound' || cause.name === 'ResourceNotFoundException') return null
    const message = `Could not read the secret ${name} (${cause.name}).`
    throw new ToolError(message, { isTransient: true, cause: error })
  }
}
