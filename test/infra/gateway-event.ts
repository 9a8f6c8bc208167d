import { getOperation, type OperationName } from '../../lib/api/routes.ts'

type Call = {
  organizationId: string
  agentId?: string
  executionId?: string
  otherId?: string
  versionId?: string
  name?: string
  mac?: string
  approvalId?: string
  webhookId?: string
  deliveryId?: string
  batchId?: string
  trialId?: string
  tenantId?: string
  tokenId?: string
  scheduleName?: string
  query?: Record<string, string>
  body?: unknown
  headers?: Record<string, string>
  /** What the authorizer returned, beside the organization. */
  limits?: Record<string, string>
}

/** The event with which API Gateway invokes the function of an operation. */
export function toGatewayEvent(
  name: OperationName,
  { organizationId, query = {}, body, headers, limits, ...ids }: Call,
): object {
  const { path, method } = getOperation(name)
  return {
    httpMethod: method,
    path,
    resource: path,
    headers: { 'Content-Type': 'application/json', ...headers },
    pathParameters: Object.fromEntries(
      Object.entries(ids).map(([key, value]) => [key, encodeURIComponent(value)]),
    ),
    multiValueQueryStringParameters: Object.fromEntries(
      Object.entries(query).map(([key, value]) => [key, [value]]),
    ),
    requestContext: { requestId: name, path, authorizer: { organizationId, ...limits } },
    body: body === undefined ? null : JSON.stringify(body),
    isBase64Encoded: false,
  }
}
