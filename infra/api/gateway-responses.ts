import { ResponseType, type RestApi } from 'aws-cdk-lib/aws-apigateway'
import {
  PayloadTooLarge,
  RouteNotFound,
  ServiceError,
  Unauthorized,
  Unavailable,
  UnsupportedMediaType,
} from '../../lib/core/errors.ts'
import { asServiceError, problemResult } from '../../lib/http/problem-details.ts'

const tooMany = new ServiceError(
  'TooManyRequests',
  'Send fewer requests at a time, and this one again in a moment.',
  {
    headers: { 'Retry-After': '1' },
  },
)

const notInTime = new ServiceError(
  'Unavailable',
  'The service did not answer in time. An execution that was started may go on: GET /v1/agent_executions lists it.',
  { headers: { 'Retry-After': '1' } },
)

const blocked = new ServiceError(
  'Forbidden',
  'The web ACL of the service blocks this request: for what it holds, or for how many come from its address.',
)

/**
 * What API Gateway answers by itself, in the words of the service.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html
 */
const RESPONSES: [ResponseType, ServiceError][] = [
  [ResponseType.UNAUTHORIZED, new Unauthorized()],
  [ResponseType.ACCESS_DENIED, new Unauthorized()],
  // No method takes AWS signatures. API Gateway looks for one where no route matches, so a bearer token there is
  // called a bad signature: https://github.com/HumanCellAtlas/data-store/issues/328
  [ResponseType.MISSING_AUTHENTICATION_TOKEN, new RouteNotFound()],
  [ResponseType.INVALID_SIGNATURE, new RouteNotFound()],
  [ResponseType.EXPIRED_TOKEN, new RouteNotFound()],
  [ResponseType.RESOURCE_NOT_FOUND, new RouteNotFound()],
  [
    ResponseType.REQUEST_TOO_LARGE,
    new PayloadTooLarge('API Gateway and Lambda take requests of up to 6 MB.'),
  ],
  [ResponseType.UNSUPPORTED_MEDIA_TYPE, new UnsupportedMediaType()],
  [ResponseType.WAF_FILTERED, blocked],
  [ResponseType.THROTTLED, tooMany],
  [ResponseType.QUOTA_EXCEEDED, tooMany],
  [ResponseType.AUTHORIZER_FAILURE, new Unavailable(undefined)],
  [ResponseType.AUTHORIZER_CONFIGURATION_ERROR, new Unavailable(undefined)],
  [ResponseType.INTEGRATION_FAILURE, new Unavailable(undefined)],
  [ResponseType.INTEGRATION_TIMEOUT, notInTime],
  [ResponseType.DEFAULT_4XX, new ServiceError('BadRequest', 'API Gateway could not read the request.')],
  [ResponseType.DEFAULT_5XX, asServiceError(undefined)],
]

export function addGatewayResponses(api: RestApi): void {
  for (const [type, error] of RESPONSES) {
    const { statusCode, headers = {}, body } = problemResult(error, '$context.requestId')
    api.addGatewayResponse(type.responseType, {
      type,
      // The status of the default is also that of every type without one, and theirs differ.
      ...(type !== ResponseType.DEFAULT_4XX && { statusCode: String(statusCode) }),
      responseHeaders: Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name, `'${value}'`]),
      ),
      // The template for every Accept header; the header above says what it really is.
      templates: { 'application/json': body },
    })
  }
}
