import type { ProtectedResource } from '../../lib/access/protected-resource.ts'
import { ServiceError, Unavailable } from '../../lib/core/errors.ts'
import { RouteNotFound, Unauthorized, UnsupportedMediaType } from '../../lib/core/request-errors.ts'
import type { CorsOrigins } from '../../lib/http/cors.ts'
import { RequestTooLarge } from '../../lib/http/invocation-size.ts'
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
const responsesOf = (issuer: string | undefined): [type: string, ServiceError][] => [
  // Also for a request without a token, which API Gateway does not tell apart.
  ['UNAUTHORIZED', new Unauthorized({ issuer })],
  ['ACCESS_DENIED', new Unauthorized({ issuer })],
  // No method uses AWS signatures. Where no route matches, API Gateway expects one and reports a bearer token as an
  // invalid signature: https://github.com/HumanCellAtlas/data-store/issues/328
  ['MISSING_AUTHENTICATION_TOKEN', new RouteNotFound()],
  ['INVALID_SIGNATURE', new RouteNotFound()],
  ['EXPIRED_TOKEN', new RouteNotFound()],
  ['RESOURCE_NOT_FOUND', new RouteNotFound()],
  ['REQUEST_TOO_LARGE', new RequestTooLarge()],
  ['UNSUPPORTED_MEDIA_TYPE', new UnsupportedMediaType()],
  ['WAF_FILTERED', blocked],
  ['THROTTLED', throttled],
  ['QUOTA_EXCEEDED', throttled],
  ['AUTHORIZER_FAILURE', new Unavailable(undefined)],
  ['AUTHORIZER_CONFIGURATION_ERROR', new Unavailable(undefined)],
  ['INTEGRATION_FAILURE', new Unavailable(undefined)],
  ['INTEGRATION_TIMEOUT', timedOut],
  ['DEFAULT_4XX', new ServiceError('BadRequest', 'API Gateway could not process the request.')],
  ['DEFAULT_5XX', toServiceError(undefined)],
]

/** What pages may read of these responses, beyond what browsers always expose. */
const EXPOSED_HEADERS = 'Retry-After, WWW-Authenticate'

/**
 * As `x-amazon-apigateway-gateway-responses`. They are the same for all paths: of an identity provider, they tell what
 * clients of the Model Context Protocol need, which look for it.
 * @param corsOrigins origins whose pages may read these responses. A gateway response cannot depend on the origin of
 * the request: if there are several, pages of all origins may read it. It contains nothing but the kind of error.
 */
export function gatewayResponses(
  corsOrigins: CorsOrigins | null,
  mcp?: ProtectedResource,
): Record<string, object> {
  const [origin, ...others] = [corsOrigins ?? []].flat()
  const cors = origin && {
    'Access-Control-Allow-Origin': others.length === 0 ? origin : '*',
    'Access-Control-Expose-Headers': EXPOSED_HEADERS,
  }
  const entries = responsesOf(mcp?.provider.issuer).map(([type, error]) => {
    const { statusCode, headers = {}, body } = toProblemResult(error, '$context.requestId', mcp)
    const response = {
      // The status of DEFAULT_4XX would apply to every 4xx type that is not listed, and theirs differ.
      ...(type !== 'DEFAULT_4XX' && { statusCode: String(statusCode) }),
      responseParameters: Object.fromEntries(
        Object.entries({ ...headers, ...cors }).map(([name, value]) => [
          `gatewayresponse.header.${name}`,
          `'${value}'`,
        ]),
      ),
      // API Gateway uses this template for every Accept header. Content-Type is set by the headers above.
      responseTemplates: { 'application/json': body },
    }
    return [type, response] as const
  })
  return Object.fromEntries(entries)
}
