import type { IncomingMessage } from 'node:http'
import { isJsonObject, type Json } from '../../core/json/json.ts'
import type { EgressPolicy } from '../egress/egress-policy.ts'
import { MAX_READ_BYTES } from '../egress/read-text.ts'
import { sendRequest, toConnectionError } from '../egress/send-request.ts'
import { ToolError } from '../tool.ts'
import type { AccessTokens } from './mcp-oauth.ts'

const UNAUTHORIZED = 401

/**
 * A `fetch` for the transport of the MCP client that applies the egress policy and limits the size of responses. GET,
 * which opens a stream for unsolicited server messages, is answered with 405: the service does not use such messages.
 * A request that the server rejects with 401 is sent once more with another access token, if there are any.
 * @throws ToolError
 */
export function mcpFetch(
  policy: EgressPolicy,
  headers: Record<string, string>,
  tokens: AccessTokens | null,
): typeof fetch {
  return async (input, init = {}) => {
    const method = init.method ?? 'GET'
    if (method === 'GET') return new Response(null, { status: 405 })
    const url = new URL(String(input))
    const body = typeof init.body === 'string' ? init.body : null
    const signal = init.signal ?? new AbortController().signal
    const clientHeaders = Object.fromEntries(new Headers(init.headers))
    const send = (token: string | null) => {
      const authorization = token === null ? {} : { authorization: `Bearer ${token}` }
      const request = {
        method,
        url,
        headers: { ...headers, ...clientHeaders, ...authorization },
        body,
        signal,
      }
      return sendRequest(request, policy)
    }
    const response = tokens ? await sendWithToken(send, tokens) : await send(null)
    const status = response.statusCode ?? 0
    const type = response.headers['content-type'] ?? ''
    const session = response.headers['mcp-session-id']
    const responseHeaders = {
      'content-type': type,
      ...(typeof session === 'string' && { 'mcp-session-id': session }),
    }
    if (status === 204) return new Response(null, { status, headers: responseHeaders })
    const requestId = type.startsWith('text/event-stream') ? getRequestId(body) : undefined
    const stream = ReadableStream.from(readBody(response, url, requestId))
    return new Response(stream, { status, headers: responseHeaders })
  }
}

async function sendWithToken(
  send: (token: string) => Promise<IncomingMessage>,
  tokens: AccessTokens,
): Promise<IncomingMessage> {
  const sendAs = async (token: string) => {
    const response = await send(token)
    if (response.statusCode !== UNAUTHORIZED) tokens.accept(token)
    return response
  }
  const token = await tokens.get()
  const response = await sendAs(token)
  if (response.statusCode !== UNAUTHORIZED) return response
  const replacement = await tokens.replace(token)
  if (replacement === null) return response
  response.destroy()
  return sendAs(replacement)
}

/**
 * Yields the response body. An event stream that ends early, fails or grows too large gets an error response as its
 * last event, because the client would otherwise wait until the call times out. The client ignores it after a real
 * response.
 */
async function* readBody(response: IncomingMessage, url: URL, requestId: Json | undefined) {
  let size = 0
  let reason = 'The MCP server ended the response without a result.'
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > MAX_READ_BYTES) throw new ToolError(`The response is larger than ${MAX_READ_BYTES} bytes.`)
      yield chunk
    }
  } catch (error) {
    const toolError = error instanceof ToolError ? error : toConnectionError(error as Error, url)
    if (requestId === undefined) throw toolError
    reason = toolError.message
  }
  if (requestId === undefined) return
  const message = { jsonrpc: '2.0', id: requestId, error: { code: -32000, message: reason } }
  yield Buffer.from(`\n\nevent: message\ndata: ${JSON.stringify(message)}\n\n`)
}

function getRequestId(body: string | null): Json | undefined {
  const message = JSON.parse(body ?? 'null') as Json
  return isJsonObject(message) && 'method' in message ? message.id : undefined
}
