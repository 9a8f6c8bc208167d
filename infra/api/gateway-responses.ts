import {
  type IAuthorizer,
  type IResource,
  MockIntegration,
  PassthroughBehavior,
  ResponseType,
  type RestApi,
} from 'aws-cdk-lib/aws-apigateway'
import {
  MethodNotAllowed,
  PayloadTooLarge,
  RouteNotFound,
  ServiceError,
  Unauthorized,
  Unavailable,
  UnsupportedMediaType,
} from '../../lib/core/errors.ts'
import type { CorsOrigins } from '../../lib/http/cors.ts'
import { toProblemResult, toServiceError } from '../../lib/http/problem-details.ts'

const RETRY_AFTER = { headers: { 'Retry-After': '1' } }

const throttled = new ServiceError(
  'TooManyRequests',
  'The request rate exceeds the limit of the API. Retry after the time in the Retry-After header.',
  RETRY_AFTER,
)

const timedOut = new ServiceError(
  'Unavailable',
  'The service did not respond in time. An execution that was started continues: GET /v1/agent_executions lists it.',
  RETRY_AFTER,
)

const blocked = new ServiceError(
  'Forbidden',
  'The web ACL of the service blocked this request because of its content or the request rate of its IP address.',
)

/**
 * The responses that API Gateway generates itself, as problem details of the service.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html
 */
const RESPONSES: [ResponseType, ServiceError][] = [
  // Also for a request without a token, which API Gateway does not tell apart.
  [ResponseType.UNAUTHORIZED, new Unauthorized()],
  [ResponseType.ACCESS_DENIED, new Unauthorized()],
  // No method uses AWS signatures. Where no route matches, API Gateway expects one and reports a bearer token as an
  // invalid signature: https://github.com/HumanCellAtlas/data-store/issues/328
  [ResponseType.MISSING_AUTHENTICATION_TOKEN, new RouteNotFound()],
  [ResponseType.INVALID_SIGNATURE, new RouteNotFound()],
  [ResponseType.EXPIRED_TOKEN, new RouteNotFound()],
  [ResponseType.RESOURCE_NOT_FOUND, new RouteNotFound()],
  [
    ResponseType.REQUEST_TOO_LARGE,
    new PayloadTooLarge('The request exceeds 6 MB, the maximum payload size of API Gateway and Lambda.'),
  ],
  [ResponseType.UNSUPPORTED_MEDIA_TYPE, new UnsupportedMediaType()],
  [ResponseType.WAF_FILTERED, blocked],
  [ResponseType.THROTTLED, throttled],
  [ResponseType.QUOTA_EXCEEDED, throttled],
  [ResponseType.AUTHORIZER_FAILURE, new Unavailable(undefined)],
  [ResponseType.AUTHORIZER_CONFIGURATION_ERROR, new Unavailable(undefined)],
  [ResponseType.INTEGRATION_FAILURE, new Unavailable(undefined)],
  [ResponseType.INTEGRATION_TIMEOUT, timedOut],
  [ResponseType.DEFAULT_4XX, new ServiceError('BadRequest', 'API Gateway could not process the request.')],
  [ResponseType.DEFAULT_5XX, toServiceError(undefined)],
]

/**
 * @param corsOrigins origins whose pages may read these responses. A gateway response cannot depend on the origin of
 * the request: if there are several, pages of all origins may read it. It contains nothing but the kind of error.
 */
export function addGatewayResponses(api: RestApi, corsOrigins: CorsOrigins | null): void {
  const [origin, ...others] = [corsOrigins ?? []].flat()
  const cors = origin && { 'Access-Control-Allow-Origin': others.length === 0 ? origin : '*' }
  for (const [type, error] of RESPONSES) {
    const { statusCode, headers = {}, body } = toProblemResult(error, '$context.requestId')
    api.addGatewayResponse(type.responseType, {
      type,
      // The status of DEFAULT_4XX would apply to every 4xx type that is not listed, and theirs differ.
      ...(type !== ResponseType.DEFAULT_4XX && { statusCode: String(statusCode) }),
      responseHeaders: Object.fromEntries(
        Object.entries({ ...headers, ...cors }).map(([name, value]) => [name, `'${value}'`]),
      ),
      // API Gateway uses this template for every Accept header. Content-Type is set by the headers above.
      templates: { 'application/json': body },
    })
  }
}

/** API Gateway selects the request template by the request's content type; without one it responds with 415. */
const CONTENT_TYPES = [
  'application/json',
  'application/octet-stream',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'text/plain',
]

/**
 * Responds with 405 to the methods that a path does not support, without invoking a function. ANY applies to the
 * methods that the resource does not define.
 * @param authorizer null for a public path
 */
export function addMethodNotAllowed(
  resource: IResource,
  { methods, authorizer }: { methods: string[]; authorizer: IAuthorizer | null },
): void {
  const { headers = {}, body } = toProblemResult(new MethodNotAllowed(methods), '$context.requestId')
  const parameters = Object.entries(headers).map(
    ([name, value]) => [`method.response.header.${name}`, `'${value}'`] as const,
  )
  const integration = new MockIntegration({
    passthroughBehavior: PassthroughBehavior.NEVER,
    requestTemplates: Object.fromEntries(CONTENT_TYPES.map((type) => [type, '{"statusCode": 405}'])),
    integrationResponses: [
      {
        statusCode: '405',
        responseParameters: Object.fromEntries(parameters),
        responseTemplates: { 'application/json': body },
      },
    ],
  })
  resource.addMethod('ANY', integration, {
    ...(authorizer && { authorizer }),
    methodResponses: [
      { statusCode: '405', responseParameters: Object.fromEntries(parameters.map(([name]) => [name, true])) },
    ],
  })
}
