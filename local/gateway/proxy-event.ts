import type { IncomingMessage } from 'node:http'
import type { APIGatewayProxyEvent } from 'aws-lambda'
import type { AuthorizerContext } from './authorizer.ts'
import type { RouteMatch } from './match-route.ts'

/** Lambda's limit for an event. */
const MAX_BYTES = 6 * 1024 * 1024
/** A body that is larger than this is not read to its end: the connection is closed. */
const MAX_DRAINED_BYTES = 64 * 1024 * 1024

/**
 * The whole body. A body that is too large is read to its end too: many clients read a response only after they have sent
 * the request. Never rejects.
 */
export function readBody(request: IncomingMessage): Promise<Buffer | 'too large' | 'aborted'> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let length = 0
    request.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length <= MAX_BYTES) chunks.push(chunk)
      else chunks.length = 0
      if (length > MAX_DRAINED_BYTES) request.destroy()
    })
    request.once('end', () => resolve(length > MAX_BYTES ? 'too large' : Buffer.concat(chunks)))
    request.on('error', () => resolve('aborted'))
    request.once('close', () => resolve('aborted'))
  })
}

type AuthorizedRequest = {
  request: IncomingMessage
  requestId: string
  match: RouteMatch
  authorizerContext: AuthorizerContext
  body: Buffer
}

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html */
export function toProxyEvent({
  request,
  requestId,
  match,
  authorizerContext,
  body,
}: AuthorizedRequest): APIGatewayProxyEvent {
  const { route, path, search, parameters } = match
  const query = multiValues(new URLSearchParams(search))
  const text = decodeUtf8(body)
  return {
    resource: route.path,
    path,
    httpMethod: route.method,
    headers: request.headers as Record<string, string>,
    multiValueHeaders: request.headersDistinct as Record<string, string[]>,
    queryStringParameters:
      query && Object.fromEntries(Object.entries(query).map(([name, all]) => [name, all.at(-1)])),
    multiValueQueryStringParameters: query,
    pathParameters: Object.keys(parameters).length > 0 ? parameters : null,
    stageVariables: null,
    requestContext: {
      requestId,
      authorizer: authorizerContext,
      path,
      resourcePath: route.path,
      httpMethod: route.method,
      stage: 'local',
      protocol: `HTTP/${request.httpVersion}`,
      requestTimeEpoch: Date.now(),
      accountId: '000000000000',
      apiId: 'local',
      resourceId: route.operation,
      identity: {
        sourceIp: request.socket.remoteAddress ?? '',
        userAgent: request.headers['user-agent'] ?? null,
      },
    } as unknown as APIGatewayProxyEvent['requestContext'],
    body: body.length === 0 ? null : (text ?? body.toString('base64')),
    isBase64Encoded: text === null,
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Null for bytes that are not UTF-8: these are sent as base64. */
function decodeUtf8(body: Buffer): string | null {
  try {
    return utf8.decode(body)
  } catch {
    return null
  }
}

function multiValues(parameters: URLSearchParams): Record<string, string[]> | null {
  if (parameters.size === 0) return null
  const names = new Set(parameters.keys())
  return Object.fromEntries([...names].map((name) => [name, parameters.getAll(name)]))
}
