/**
 * One line of the access log. A path has the ids of what was called and never the query, where clients put what is
 * theirs; no header is logged.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-variables-for-access-logging.html
 */
export const ACCESS_LOG = {
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
