import { Size } from 'aws-cdk-lib'
import {
  AccessLogFormat,
  ApiDefinition,
  EndpointType,
  LogGroupLogDestination,
  type MethodDeploymentOptions,
  SpecRestApi,
} from 'aws-cdk-lib/aws-apigateway'
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { LogGroup } from 'aws-cdk-lib/aws-logs'
import type { Construct } from 'constructs'
import { functionOf, isPublicPath, operationNames, routes } from '../../lib/contract/routes.ts'
import type { Functions } from '../functions/functions.ts'
import type { ServiceSettings } from '../settings.ts'
import { logGroupProps } from '../storage.ts'
import { apiDefinition } from './api-definition.ts'

/** Smaller responses would hardly become shorter. */
const MIN_COMPRESSION_SIZE = Size.kibibytes(2)

/**
 * Fields of the access log. The path of a callback contains its secret; the query string and headers can contain the
 * data of clients. They are not logged: the log of the function has the ids.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-variables-for-access-logging.html
 */
const ACCESS_LOG = {
  requestId: '$context.requestId',
  requestTime: '$context.requestTime',
  method: '$context.httpMethod',
  route: '$context.resourcePath',
  status: '$context.status',
  gatewayResponse: '$context.error.responseType',
  organizationId: '$context.authorizer.organizationId',
  tokenId: '$context.authorizer.tokenId',
  sourceIp: '$context.identity.sourceIp',
  responseBytes: '$context.responseLength',
  responseMs: '$context.responseLatency',
  integrationMs: '$context.integrationLatency',
  integrationStatus: '$context.integrationStatus',
  traceId: '$context.xrayTraceId',
}

type ApiProps = { functions: Functions; settings: ServiceSettings }

/** The REST API, defined by one document, and what may invoke the functions through it. */
export function createApi(
  scope: Construct,
  { functions, settings }: ApiProps,
): { api: SpecRestApi; accessLog: LogGroup } {
  const accessLog = new LogGroup(scope, 'AccessLog', logGroupProps(settings))
  const api = new SpecRestApi(scope, 'Api', {
    apiDefinition: ApiDefinition.fromInline(apiDefinition(scope, { functions, settings })),
    // The metrics of an API have its name as their dimension.
    restApiName: settings.name,
    endpointTypes: [EndpointType.REGIONAL],
    disableExecuteApiEndpoint: settings.disableExecuteApiEndpoint ?? settings.domainName !== null,
    // Sent as is: https://docs.aws.amazon.com/apigateway/latest/developerguide/response-transfer-mode.html
    ...(!settings.responseStreaming && { minCompressionSize: MIN_COMPRESSION_SIZE }),
    // Access logs require this role in the API Gateway settings of the account. It is retained, also by a
    // first deployment that fails: other APIs share it, and it blocks nothing.
    cloudWatchRole: settings.cloudWatchRole,
    deployOptions: {
      stageName: settings.stageName,
      throttlingRateLimit: settings.throttlingRate,
      throttlingBurstLimit: settings.throttlingBurst,
      methodOptions: limitPublicMethods(settings),
      tracingEnabled: true,
      accessLogDestination: new LogGroupLogDestination(accessLog),
      accessLogFormat: AccessLogFormat.custom(JSON.stringify(ACCESS_LOG)),
    },
  })
  // The stack output BaseUrl replaces this default output, which ends with a slash.
  api.node.tryRemoveChild('Endpoint')
  allowInvocations(api, { functions, settings })
  return { api, accessLog }
}

/** Far above what monitors, tools and browsers need, far below what would use up the limits of the account. */
const PUBLIC_LIMITS = { rate: 100, burst: 200 }

/** Settings of the stage name methods: for ANY, each of those that it stands for. */
const METHODS = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT']

/**
 * What anyone can call without a token: all methods of public paths, which respond with 405 if they do nothing else,
 * and preflight requests to all paths. Limits of a stage apply to each method of it:
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-request-throttling.html
 */
function limitPublicMethods({ corsOrigins, throttlingRate, throttlingBurst }: ServiceSettings) {
  const limits: MethodDeploymentOptions = {
    throttlingRateLimit: Math.min(PUBLIC_LIMITS.rate, throttlingRate),
    throttlingBurstLimit: Math.min(PUBLIC_LIMITS.burst, throttlingBurst),
  }
  const keys = [...new Set(routes.map(({ path }) => path))].flatMap((path) => {
    const methods = isPublicPath(path) ? METHODS : corsOrigins ? ['OPTIONS'] : []
    return methods.map((method) => `${path}/${method}`)
  })
  return Object.fromEntries(keys.map((key) => [key, limits]))
}

/** Allows each function's invocation by its stage of the API, and that of the authorizer by authorizers of the API. */
function allowInvocations(api: SpecRestApi, { functions, settings }: ApiProps): void {
  const allow = (name: keyof Functions, sourceArn: string) => {
    const principal = new ServicePrincipal('apigateway.amazonaws.com')
    functions[name].live.addPermission('Api', { principal, sourceArn })
  }
  // The stage serves an operation as soon as it is deployed.
  const invoked = Object.values(functions).map(({ live }) => live)
  api.latestDeployment?.node.addDependency(...invoked)
  const ofStage = api.arnForExecuteApi('*', '/*', settings.stageName)
  for (const name of new Set(operationNames.map(functionOf))) allow(name, ofStage)
  const { partition, region, account } = api.stack
  // The document creates the authorizer, so its id is not known.
  allow(
    'authorize-request',
    `arn:${partition}:execute-api:${region}:${account}:${api.restApiId}/authorizers/*`,
  )
}
