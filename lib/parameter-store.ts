/** A rotated value may be used for this long. */
const CACHE_SECONDS = 60

/** A parameter or secret could not be read, although it may exist. `reason`: the name of the AWS error. */
export class ParameterReadError extends Error {
  readonly reason: string

  constructor(path: string, cause: Error) {
    super(`Could not read ${path} (${cause.name}).`, { cause })
    this.name = 'ParameterReadError'
    this.reason = cause.name
  }
}

/**
 * Reads and decrypts a parameter of SSM Parameter Store; null if it does not exist or is empty.
 * @throws ParameterReadError
 */
export async function readParameter(path: string): Promise<string | null> {
  parameters ??= import('@aws-lambda-powertools/parameters/ssm').then(({ SSMProvider }) => new SSMProvider())
  const provider = await parameters
  return read(path, provider.get(path, { decrypt: true, maxAge: CACHE_SECONDS }))
}

/**
 * Reads a secret of Secrets Manager; null if it does not exist or is empty.
 * @throws ParameterReadError
 */
export async function readManagedSecret(path: string): Promise<string | null> {
  secrets ??= import('@aws-lambda-powertools/parameters/secrets').then(
    ({ SecretsProvider }) => new SecretsProvider(),
  )
  const provider = await secrets
  return read(path, provider.get(path, { maxAge: CACHE_SECONDS }))
}

/** Loaded on first use and shared by the process, because the providers hold the cache. */
let parameters: Promise<import('@aws-lambda-powertools/parameters/ssm').SSMProvider> | undefined
let secrets: Promise<import('@aws-lambda-powertools/parameters/secrets').SecretsProvider> | undefined

async function read(path: string, reading: Promise<string | Uint8Array | undefined>): Promise<string | null> {
  try {
    const value = await reading
    return (typeof value === 'object' ? new TextDecoder().decode(value) : value) || null
  } catch (error) {
    const cause = ((error as Error).cause ?? error) as Error
    if (cause.name === 'ParameterNotFound' || cause.name === 'ResourceNotFoundException') return null
    throw new ParameterReadError(path, cause)
  }
}
