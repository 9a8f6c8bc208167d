import { Duration, RemovalPolicy } from 'aws-cdk-lib'
import {
  AccessLogFormat,
  EndpointType,
  LambdaIntegration,
  LogGroupLogDestination,
  ResponseTransferMode,
  RestApi,
  TokenAuthorizer,
} from 'aws-cdk-lib/aws-apigateway'
import { LogGroup } from 'aws-cdk-lib/aws-logs'
import type { Construct } from 'constructs'
import { type OperationName, operationOf, operations, routes } from '../../lib/api/routes.ts'
import { settingsOf } from '../functions/function-settings.ts'
import type { Functions } from '../functions/functions.ts'
import type { Settings } from '../settings.ts'
import { ACCESS_LOG } from './access-log.ts'
import { addGatewayResponses } from './gateway-responses.ts'

/** How long a revoked token may still pass. */
const AUTHORIZATION_CACHE = Duration.seconds(60)

/** The REST API: every row of `routes` is a method. A path matches with and without a slash at its end. */
export function createApi(
  scope: Construct,
  { functions, settings }: { functions: Functions; settings: Settings },
): RestApi {
  const { responseStreaming, stageName, throttlingRate, throttlingBurst, logRetentionDays } = settings
  const accessLog = new LogGroup(scope, 'AccessLog', {
    retention: logRetentionDays,
    removalPolicy: RemovalPolicy.DESTROY,
  })
  const api = new RestApi(scope, 'Api', {
    endpointTypes: [EndpointType.REGIONAL],
    // Access logs need this role in the account's settings for API Gateway. It is shared, so it is never removed.
    cloudWatchRole: true,
    deployOptions: {
      stageName,
      throttlingRateLimit: throttlingRate,
      throttlingBurstLimit: throttlingBurst,
      tracingEnabled: true,
      accessLogDestination: new LogGroupLogDestination(accessLog),
      accessLogFormat: AccessLogFormat.custom(JSON.stringify(ACCESS_LOG)),
    },
  })
  // The construct's own output; the stack has one with a name of ours and no slash at the end.
  api.node.tryRemoveChild('Endpoint')
  addGatewayResponses(api)

  const authorizer = new TokenAuthorizer(scope, 'Authorizer', {
    handler: functions['authorize-request'],
    resultsCacheTtl: AUTHORIZATION_CACHE,
  })
  const names = Object.keys(operations) as OperationName[]
  const integrations = new Map(
    names.map((name) => [name, integrationOf(name, { functions, responseStreaming })]),
  )
  for (const { function: name, method, path } of routes) {
    api.root
      .resourceForPath(path)
      .addMethod(method, integrations.get(name), operationOf(name).public ? {} : { authorizer })
  }
  return api
}

function integrationOf(
  name: OperationName,
  { functions, responseStreaming }: { functions: Functions; responseStreaming: boolean },
): LambdaIntegration {
  const options = { allowTestInvoke: false }
  if (!operationOf(name).streams || !responseStreaming) return new LambdaIntegration(functions[name], options)
  return new LambdaIntegration(functions[name], {
    ...options,
    responseTransferMode: ResponseTransferMode.STREAM,
    // As long as the function, 15 minutes at most. A stream that is silent for 5 is closed all the same: before that the
    // run function answers (SYNC_DEADLINE_MS).
    // https://docs.aws.amazon.com/apigateway/latest/developerguide/response-transfer-mode.html
    timeout: Duration.seconds(settingsOf(name).timeoutSeconds),
  })
}
