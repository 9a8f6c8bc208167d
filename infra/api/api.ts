import { Duration, RemovalPolicy, Size } from 'aws-cdk-lib'
import {
  AccessLogFormat,
  EndpointType,
  LambdaIntegration,
  LogGroupLogDestination,
  ResponseTransferMode,
  RestApi,
  TokenAuthorizer,
} from 'aws-cdk-lib/aws-apigateway'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import { LogGroup } from 'aws-cdk-lib/aws-logs'
import type { Construct } from 'constructs'
import { TOKEN_HEADER_PATTERN } from '../../lib/access/tokens.ts'
import {
  functionOf,
  getOperation,
  isPublicPath,
  methodsOf,
  type OperationName,
  routes,
} from '../../lib/api/routes.ts'
import { ALLOWED_HEADERS, MAX_AGE_SECONDS, parseCorsOrigins } from '../../lib/http/cors.ts'
import { getFunctionSettings } from '../functions/function-settings.ts'
import type { Functions } from '../functions/functions.ts'
import type { ServiceSettings } from '../settings.ts'
import { addGatewayResponses, addMethodNotAllowed } from './gateway-responses.ts'

/** A revoked token is accepted until the cached result of the authorizer expires. */
const AUTHORIZER_CACHE_TTL = Duration.seconds(60)

const PREFLIGHT_MAX_AGE = Duration.seconds(MAX_AGE_SECONDS)

/** Smaller responses would hardly become shorter. */
const MIN_COMPRESSION_SIZE = Size.kibibytes(2)

/**
 * Fields of the access log. The path contains resource ids; the query string and headers can contain the data of
 * clients and are not logged.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-variables-for-access-logging.html
 */
const ACCESS_LOG = {
  requestId: '$context.requestId',
  requestTime: '$context.requestTime',
  method: '$context.httpMethod',
  route: '$context.resourcePath',
  path: '$context.path',
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

/**
 * The REST API: a method per row of `routes`, HEAD where there is GET, and 405 for all other methods of a path. API
 * Gateway matches paths with and without a trailing slash.
 */
export function createApi(
  scope: Construct,
  { functions, settings }: { functions: Functions; settings: ServiceSettings },
): { api: RestApi; accessLog: LogGroup } {
  const { corsOrigins, responseStreaming } = settings
  const accessLog = new LogGroup(scope, 'AccessLog', {
    retention: settings.logRetentionDays,
    removalPolicy: RemovalPolicy.DESTROY,
  })
  const api = new RestApi(scope, 'Api', {
    // The metrics of an API have its name as their dimension.
    restApiName: settings.name,
    endpointTypes: [EndpointType.REGIONAL],
    disableExecuteApiEndpoint: settings.disableExecuteApiEndpoint ?? settings.domainName !== null,
    // Sent as is: https://docs.aws.amazon.com/apigateway/latest/developerguide/response-transfer-mode.html
    ...(!responseStreaming && { minCompressionSize: MIN_COMPRESSION_SIZE }),
    // Access logs require this role in the API Gateway settings of the account. It is retained, also by a
    // first deployment that fails: other APIs share it, and it blocks nothing.
    cloudWatchRole: true,
    deployOptions: {
      stageName: settings.stageName,
      throttlingRateLimit: settings.throttlingRate,
      throttlingBurstLimit: settings.throttlingBurst,
      tracingEnabled: true,
      accessLogDestination: new LogGroupLogDestination(accessLog),
      accessLogFormat: AccessLogFormat.custom(JSON.stringify(ACCESS_LOG)),
    },
  })
  // The stack output BaseUrl replaces this default output, which ends with a slash.
  api.node.tryRemoveChild('Endpoint')
  addGatewayResponses(api, corsOrigins ? parseCorsOrigins(corsOrigins) : null)

  const authorizer = new TokenAuthorizer(scope, 'Authorizer', {
    handler: functions['authorize-request'].live,
    resultsCacheTtl: AUTHORIZER_CACHE_TTL,
    // API Gateway rejects other tokens itself: with the gateway response UNAUTHORIZED, and without an invocation.
    validationRegex: TOKEN_HEADER_PATTERN,
  })
  for (const { operation: name, method, path } of routes) {
    const options = getOperation(name).public ? {} : { authorizer }
    const integration = createIntegration(functions[functionOf(name)].live, name, responseStreaming)
    const resource = api.root.resourceForPath(path)
    for (const httpMethod of method === 'GET' ? ['GET', 'HEAD'] : [method])
      resource.addMethod(httpMethod, integration, options)
  }
  for (const path of new Set(routes.map((route) => route.path))) {
    const resource = api.root.resourceForPath(path)
    const methods = methodsOf(path)
    addMethodNotAllowed(resource, { methods, authorizer: isPublicPath(path) ? null : authorizer })
    if (corsOrigins) {
      const options = { allowMethods: methods, allowHeaders: ALLOWED_HEADERS, maxAge: PREFLIGHT_MAX_AGE }
      resource.addCorsPreflight({ ...options, allowOrigins: [parseCorsOrigins(corsOrigins)].flat() })
    }
  }
  return { api, accessLog }
}

const createIntegration = (handler: IFunction, name: OperationName, responseStreaming: boolean) =>
  new LambdaIntegration(handler, {
    allowTestInvoke: false,
    ...(responseStreaming &&
      getOperation(name).streams && {
        responseTransferMode: ResponseTransferMode.STREAM,
        // Streamed integrations can take up to 15 minutes, but API Gateway closes a stream that is idle for 5. The run
        // function responds before that (SYNC_DEADLINE_MS).
        // https://docs.aws.amazon.com/apigateway/latest/developerguide/response-transfer-mode.html
        timeout: Duration.seconds(getFunctionSettings(functionOf(name)).timeoutSeconds),
      }),
  })
