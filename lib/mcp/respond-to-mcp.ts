import { Readable } from 'node:stream'
import { text as readText } from 'node:stream/consumers'
import type { ReadableStream } from 'node:stream/web'
import { createMcpHandler } from '@modelcontextprotocol/server'
import { hasScope } from '../access/permissions.ts'
import type { Provider } from '../access/protected-resource.ts'
import type { Access, Scope } from '../core/access.ts'
import { ServiceError } from '../core/errors.ts'
import { isJsonObject, type Json, type JsonObject } from '../core/json/json.ts'
import { InsufficientScope } from '../core/request-errors.ts'
import { sourceOf } from '../http/audit-requests.ts'
import { allowsOrigin, type CorsOrigins, isOwnOrigin } from '../http/cors.ts'
import { getHeader, type HttpResponse, isStreaming, type ServiceEvent } from '../http/event.ts'
import { readJson } from '../http/json-body.ts'
import { reportServerError } from '../http/request-log.ts'
import { AGENT_SCOPE } from './agent-tools.ts'
import { executionTools } from './execution-tools.ts'
import { newMcpServer } from './mcp-server.ts'
import { TASK_SCOPES } from './tasks.ts'
import type { McpEngine } from './tool-call.ts'

/** Headers that the SDK reads. */
const REQUEST_HEADERS = ['Accept', 'Content-Type', 'MCP-Protocol-Version', 'Mcp-Method', 'Mcp-Name']
/** Headers that the SDK sets and that reach the client. Not `Connection`, which is the gateway's. */
const RESPONSE_HEADERS = ['Content-Type', 'X-Accel-Buffering']

const PARSE_ERROR = -32700
const INVALID_REQUEST = -32600

type Params = {
  engine: McpEngine
  corsOrigins: CorsOrigins
  /** Absent: the service accepts API tokens only. */
  provider?: Provider | undefined
  access: Access
  event: ServiceEvent
}

/**
 * Responds to one message of the Model Context Protocol over streamable HTTP, without a session: revision 2026-07-28,
 * and those that begin with `initialize`. Errors of the message are JSON-RPC errors.
 * @throws ServiceError `Forbidden` for a page of another origin, InsufficientScope
 */
export async function respondToMcp(given: Params): Promise<HttpResponse> {
  const { engine, corsOrigins, access, event } = given
  const origin = getHeader(event, 'Origin')
  if (origin !== undefined && !allowsOrigin(corsOrigins, origin) && !isOwnOrigin(event, origin))
    throw new ServiceError('Forbidden', 'Pages of this origin may not call the service.')
  const message = readMessage(event)
  if ('status' in message) return message
  const params = isJsonObject(message.json) && isJsonObject(message.json.params) ? message.json.params : {}
  const method = isJsonObject(message.json) ? message.json.method : undefined
  assertAskedScopes(given, method, params)
  const handler = createMcpHandler(
    ({ era }) =>
      newMcpServer({
        engine,
        access,
        source: sourceOf(event, 'MCP'),
        traceparent: getHeader(event, 'traceparent'),
        isModern: era === 'modern',
        params,
        onServerError: (error) => reportServerError('serve-mcp', event, error),
      }),
    {
      // A stream that is open from the start keeps a long call alive, and its end cancels the call.
      responseMode: method === 'tools/call' ? 'sse' : 'auto',
    },
  )
  return toHttpResponse(await handler.fetch(toRequest(event), { parsedBody: message.json }))
}

/**
 * A client that is signed in at the identity provider can ask it for more scopes, as it does when a request needs them:
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization#scope-challenge-handling. For all others
 * the tool or the task does not exist.
 * @throws InsufficientScope
 */
function assertAskedScopes(
  { engine, provider, access }: Params,
  method: Json | undefined,
  params: JsonObject,
) {
  if (!provider || access.subject === undefined || access.scopes === null) return
  const needed = findScope(method, params, engine)
  if (!needed || hasScope(access, needed) || !provider.grants(needed)) return
  const scopes = [...access.scopes, needed]
  throw new InsufficientScope(`This request needs a token with the scope ${needed}.`, scopes)
}

/** What a token needs for a message. */
function findScope(method: Json | undefined, { name }: JsonObject, engine: McpEngine): Scope | undefined {
  if (method !== 'tools/call') return new Map<unknown, Scope>(Object.entries(TASK_SCOPES)).get(method)
  return executionTools(engine.syncDeadlineMs).get(String(name))?.scope ?? AGENT_SCOPE
}

/** The body, or the response to a body that is not one message. */
function readMessage(event: ServiceEvent): { json: Json } | HttpResponse {
  try {
    const json = readJson(event)
    if (!Array.isArray(json)) return { json }
    return toErrorResponse(400, INVALID_REQUEST, 'Send one message. Batches are not supported.')
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const code = error.code === 'InvalidJson' ? PARSE_ERROR : INVALID_REQUEST
    return toErrorResponse(error.status, code, error.message)
  }
}

const toErrorResponse = (status: number, code: number, message: string): HttpResponse => ({
  status,
  body: { jsonrpc: '2.0', id: null, error: { code, message } },
})

/** Without the body, which is parsed. The host is not used. */
function toRequest(event: ServiceEvent): Request {
  const headers = REQUEST_HEADERS.map((name) => [name, getHeader(event, name)] as const)
  const given = headers.filter((header): header is readonly [string, string] => header[1] !== undefined)
  return new Request('https://localhost/v1/mcp', { method: 'POST', headers: Object.fromEntries(given) })
}

/** Where responses are buffered, an event stream is sent as a whole. */
async function toHttpResponse({ status, headers, body }: Response): Promise<HttpResponse> {
  const sent = RESPONSE_HEADERS.map((name) => [name, headers.get(name)] as const)
  const given = sent.filter((header): header is readonly [string, string] => header[1] !== null)
  const response = { status, headers: Object.fromEntries(given) }
  if (!body) return response
  const stream = Readable.fromWeb(body as ReadableStream)
  return { ...response, stream: isStreaming() ? stream : await readText(stream) }
}
