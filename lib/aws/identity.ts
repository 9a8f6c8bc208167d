import { type Environment, requireEnv } from '../environment.ts'

export type Credentials = { accessKeyId: string; secretAccessKey: string; sessionToken?: string }

/** Who calls which AWS. */
export type Identity = {
  region: string
  credentials: () => Credentials | Promise<Credentials>
  endpointOf: (service: string) => string
}

/** Emulators take any credentials and region. */
const OF_EMULATOR = { accessKeyId: 'local', secretAccessKey: 'local' }

export const emulatorIdentity = (endpoint: string): Identity => ({
  region: 'local',
  credentials: () => OF_EMULATOR,
  endpointOf: () => endpoint,
})

/**
 * The identity that Lambda puts into the environment; its credentials are good for as long as the process lives.
 * https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html#configuration-envvars-runtime
 * @throws an Error that names the variable that is missing
 */
export function environmentIdentity(environment: Environment): Identity {
  const region = environment.AWS_REGION || requireEnv('AWS_DEFAULT_REGION', environment)
  const credentials = {
    accessKeyId: requireEnv('AWS_ACCESS_KEY_ID', environment),
    secretAccessKey: requireEnv('AWS_SECRET_ACCESS_KEY', environment),
    ...(environment.AWS_SESSION_TOKEN && { sessionToken: environment.AWS_SESSION_TOKEN }),
  }
  return { region, credentials: () => credentials, endpointOf: endpointsOf(region, environment) }
}

/** That of the emulator which a variable names, if it does; else the environment's own. */
export function identityOf(environment: Environment, endpointName: string): Identity {
  const endpoint = environment[endpointName]
  return endpoint ? emulatorIdentity(endpoint) : environmentIdentity(environment)
}

/**
 * Where AWS is, or where the variables say that it is, as for AWS's own tools.
 * https://docs.aws.amazon.com/sdkref/latest/guide/feature-ss-endpoints.html
 */
export function endpointsOf(region: string, environment: Environment): Identity['endpointOf'] {
  const suffix = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com'
  return (service) =>
    environment[`AWS_ENDPOINT_URL_${service.toUpperCase()}`] ||
    environment.AWS_ENDPOINT_URL ||
    `https://${service}.${region}.${suffix}`
}
