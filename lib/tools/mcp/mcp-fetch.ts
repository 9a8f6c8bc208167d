import type { IncomingMessage } from 'node:http'
import { isJsonObject, type Json } from '../../core/json.ts'
import { connectionError, type Reach, sendRequest } from '../egress/send-request.ts'
import { MAX_READ_BYTES } from '../limits.ts'
import { ToolError } from '../tool.ts'

const EVENTS = 'text/event-stream'

/**
 * The `fetch` of the MCP client's transport: under the rules of `sendRequest`, and with an end to every answer. There
 * is no stream for what the server says unasked (GET): nobody would listen.
 * @throws ToolError
 */
export function mcpFetch(reach: Reach, headers: Record<string, string>): typeof fetch {
  return async (input, init = {}) => {
    const method = init.method ?? 'GET'
    if (method === 'GET') return new Response(null, { status: 405 })
    const url = new URL(String(input))
    const body = typeof init.body === 'string' ? init.body : null
    const signal = init.signal ?? new AbortController().signal
    const own = Object.fromEntries(new Headers(init.headers))
    const answer = await sendRequest({ method, url, headers: { ...headers, ...own }, body, signal }, reach)
    const status = answer.statusCode ?? 0
    const type = answer.headers['content-type'] ?? ''
    const session = answer.headers['mcp-session-id']
    const answerHeaders = {
      'content-type': type,
      ...(typeof session === 'string' && { 'mcp-session-id': session }),
    }
    if (status === 204) return new Response(null, { status, headers: answerHeaders })
    const events = answered(answer, url, type.startsWith(EVENTS) ? requestId(body) : undefined)
    return new Response(ReadableStream.from(events), { status, headers: answerHeaders })
  }
}

/**
 * The answer's bytes. A stream of events that ends, breaks off or grows too large gets an error for its request as the
 * last event: the client would wait for the answer until its time is up. After the true answer it is ignored.
 */
async function* answered(answer: IncomingMessage, url: URL, id: Json | undefined) {
  let size = 0
  let reason = 'The server ended its answer without a result.'
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > MAX_READ_BYTES) throw new ToolError(`the answer is larger than ${MAX_READ_BYTES} bytes`)
      yield chunk
    }
  } catch (error) {
    const tooLarge = `The answer is larger than ${MAX_READ_BYTES} bytes.`
    const fault = error instanceof ToolError ? new ToolError(tooLarge) : connectionError(error as Error, url)
    if (id === undefined) throw fault
    reason = fault.message
  }
  if (id === undefined) return
  const message = { jsonrpc: '2.0', id, error: { code: -32000, message: reason } }
  yield Buffer.from(`\n\nevent: message\ndata: ${JSON.stringify(message)}\n\n`)
}

function requestId(body: string | null): Json | undefined {
  const message = JSON.parse(body ?? 'null') as Json
  return isJsonObject(message) && 'method' in message ? message.id : undefined
}
