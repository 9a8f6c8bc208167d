import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { APIGatewayProxyResult } from 'aws-lambda'
import { functionOf, getOperation } from '../../lib/contract/routes.ts'
import { type Access, UNLIMITED } from '../../lib/core/access.ts'
import { RouteNotFound } from '../../lib/core/request-errors.ts'
import { toAuthorizerContext } from '../../lib/http/authorizer-context.ts'
import type { ServiceEvent } from '../../lib/http/event.ts'
import type { Handlers } from './functions.ts'
import { matchPath, toProxyEvent } from './proxy-event.ts'

/** Who calls the functions: an administrator of an organization. `identify` is called before a recorded change. */
type Administrator = Pick<Access, 'organizationId' | 'tokenId'> & {
  identify: () => Promise<NonNullable<ServiceEvent['operator']>>
}

/**
 * A `fetch` for the client that calls the functions in this process instead of a service.
 * @throws what `identify` throws, and errors of the service that are not for clients, such as those of AWS, as they are
 */
export function inProcessFetch(handlers: Handlers, { identify, ...access }: Administrator) {
  const authorizerContext = toAuthorizerContext({ ...UNLIMITED, ...access })
  return async (url: string, { method = 'GET', headers, body, signal }: RequestInit): Promise<Response> => {
    const { origin, pathname, search } = new URL(url)
    const match = matchPath(method, pathname + search)?.match
    if (!match) throw new RouteNotFound()
    const { operation } = match.route
    const event = toProxyEvent({
      request: toReceived(method, new Headers(headers)),
      requestId: randomUUID(),
      match,
      authorizerContext,
      body: Buffer.from(String(body ?? '')),
      baseUrl: origin,
    })
    if (getOperation(operation).audit) event.operator = await identify()
    const context = { functionName: functionOf(operation), signal }
    const result = (await handlers[operation](event, context)) as APIGatewayProxyResult
    if (result.statusCode >= 500) throw event.failure
    return new Response(result.body || null, { status: result.statusCode, headers: toHeaders(result) })
  }
}

const toReceived = (method: string, headers: Headers) => {
  const entries = [...headers]
  return {
    method,
    httpVersion: '1.1',
    headers: Object.fromEntries(entries) as IncomingMessage['headers'],
    headersDistinct: Object.fromEntries(entries.map(([name, value]) => [name, [value]])),
    socket: {},
  }
}

const toHeaders = ({ headers = {} }: APIGatewayProxyResult) =>
  Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)])
