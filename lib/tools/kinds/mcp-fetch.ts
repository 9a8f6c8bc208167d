import type { IncomingMessage } from 'node:http'
import { text as readAll } from 'node:stream/consumers'
import { createParser } from 'eventsource-parser'
import type { JsonObject } from '../../core/json/json.ts'
import type { EgressPolicy } from '../egress/egress-policy.ts'
import { MAX_READ_BYTES } from '../egress/read-text.ts'
import { sendRequest, toConnectionError } from '../egress/send-request.ts'
import { ToolError } from '../tool.ts'
import { type McpRequest, toFailure, toMessages, toRequest } from './mcp-message.ts'
import type { AccessTokens } from './mcp-oauth.ts'

const UNAUTHORIZED = 401

/**
 * A `fetch` for the transport of the MCP client that applies the egress policy, limits the size of responses, and hands
 * on messages as the SDK expects them (`mcp-message.ts`). GET is sent only to resume a stream that the server closed
 * before its result (SEP-1699); a stream for unsolicited messages, which the service does not use, is answered with
 * 405. A request that the server rejects with 401 is sent once more with another access token, if there are any.
 * @throws ToolError
 */
export function mcpFetch(
  policy: EgressPolicy,
  headers: Record<string, string>,
  tokens: AccessTokens | null,
): typeof fetch {
  /** The requests whose results are still to come, by the last event of their streams. */
  const resumable = new Map<string, McpRequest>()
  return async (input, init = {}) => {
    const method = init.method ?? 'GET'
    const clientHeaders = Object.fromEntries(new Headers(init.headers))
    const resumed = method === 'GET' ? resumable.get(clientHeaders['last-event-id'] ?? '') : undefined
    if (method === 'GET' && !resumed) return new Response(null, { status: 405 })
    const url = new URL(String(input))
    const body = typeof init.body === 'string' ? init.body : null
    const signal = init.signal ?? new AbortController().signal
    const request = resumed ?? toRequest(body)
    const traceparent = request?.traceparent
    const send = (token: string | null) => {
      const authorization = token === null ? {} : { authorization: `Bearer ${token}` }
      const traced = { ...(traceparent && { traceparent }), ...headers, ...clientHeaders }
      return sendRequest({ method, url, headers: { ...traced, ...authorization }, body, signal }, policy)
    }
    const response = tokens ? await sendWithToken(send, tokens) : await send(null)
    const status = response.statusCode ?? 0
    const type = response.headers['content-type'] ?? ''
    const session = response.headers['mcp-session-id']
    const respond = (content: AsyncIterable<string | Buffer> | null, contentType = type, code = status) =>
      new Response(content && ReadableStream.from(encoded(content)), {
        status: code,
        headers: {
          'content-type': contentType,
          ...(typeof session === 'string' && { 'mcp-session-id': session }),
        },
      })
    if (status === 204) return respond(null)
    const isStream = type.startsWith('text/event-stream')
    if (resumed && (status >= 300 || !isStream)) {
      response.destroy()
      return respond(
        one(event(toFailure(resumed, `${ENDED} Resuming it failed with HTTP ${status}.`))),
        EVENTS,
        200,
      )
    }
    if (!request || status >= 300) return respond(limited(response, url))
    if (isStream) return respond(readEvents(response, url, request, resumable))
    const content = await readAll(limited(response, url))
    const messages = toMessages(content, request)
    if (!messages) return respond(one(content))
    if (messages.every((message) => 'method' in message)) messages.push(toFailure(request, NO_RESPONSE))
    return respond(one(JSON.stringify(messages)), 'application/json')
  }
}

const EVENTS = 'text/event-stream'
const NO_RESPONSE = 'The MCP server sent no response of JSON-RPC.'
const ENDED = 'The MCP server ended the response without a result.'

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

/** @throws ToolError if the body is too large or the connection fails */
async function* limited(response: IncomingMessage, url: URL): AsyncGenerator<Buffer> {
  let size = 0
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > MAX_READ_BYTES) throw new ToolError(`The response is larger than ${MAX_READ_BYTES} bytes.`)
      yield chunk
    }
  } catch (error) {
    throw error instanceof ToolError ? error : toConnectionError(error as Error, url)
  }
}

/**
 * Yields the events of a stream. If it ends early, fails or grows too large, the last one is an error response, because
 * the client would otherwise wait until the call times out; but not if its events have ids: then the client resumes it.
 */
async function* readEvents(
  response: IncomingMessage,
  url: URL,
  request: McpRequest,
  resumable: Map<string, McpRequest>,
): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  const received: string[] = []
  let [isAnswered, lastId, reason] = [false, '', ENDED]
  const parser = createParser({
    onRetry: (ms) => received.push(`retry: ${ms}\n\n`),
    onEvent({ id, event: name = 'message', data }) {
      if (id) {
        resumable.delete(lastId)
        lastId = id
        resumable.set(id, request)
        received.push(`id: ${id}\ndata:\n\n`)
      }
      for (const message of (name === 'message' && toMessages(data, request)) || []) {
        isAnswered ||= !('method' in message)
        received.push(event(message))
      }
    },
  })
  try {
    for await (const chunk of limited(response, url)) {
      parser.feed(decoder.decode(chunk, { stream: true }))
      yield* received.splice(0)
    }
    // Some servers end with the last line, without an empty one.
    parser.feed('\n\n')
    yield* received.splice(0)
  } catch (error) {
    reason = (error as Error).message
    if (!(error as ToolError).isTransient) lastId = ''
  }
  if (isAnswered) resumable.delete(lastId)
  else if (!lastId) yield event(toFailure(request, reason))
}

const event = (message: JsonObject) => `event: message\ndata: ${JSON.stringify(message)}\n\n`

async function* one(text: string) {
  yield text
}

async function* encoded(content: AsyncIterable<string | Buffer>) {
  for await (const each of content) yield Buffer.from(each as string)
}
