import type { ServiceEvent } from '../../lib/http/event.ts'
import type { ApiClient } from '../support/service/client.ts'

/** What a client of 2025-11-25 sends after its handshake. */
export const LEGACY_HEADERS = { Accept: 'application/json, text/event-stream' }

export const toMessage = (method: string, params?: object) => ({
  jsonrpc: '2.0',
  id: 1,
  method,
  ...(params && { params }),
})

type Params = { name?: string; taskId?: unknown; [key: string]: unknown }

/** The capabilities of a client that knows tasks, and of one that also asks people for input. */
export const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } }
export const TASKS_AND_FORMS = { ...TASKS, elicitation: {} }

/** What a client of 2026-07-28 sends with each request. */
export function modernRequest(method: string, params: Params = {}, capabilities: object = {}) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': capabilities,
    ...(params._meta as object | undefined),
  }
  const named = params.name ?? (typeof params.taskId === 'string' ? params.taskId : undefined)
  return {
    headers: {
      ...LEGACY_HEADERS,
      'MCP-Protocol-Version': '2026-07-28',
      'Mcp-Method': method,
      ...(named !== undefined && { 'Mcp-Name': named }),
    } as Record<string, string>,
    body: toMessage(method, { ...params, _meta }),
  }
}

/** The JSON-RPC messages of a response: a JSON body, or the events of a stream. */
export function parseMessages(text: string): ReturnType<typeof JSON.parse>[] {
  if (/^[[{]/.test(text)) return [JSON.parse(text)]
  return [...text.matchAll(/^data: (.+)$/gm)].map(([, data = '']) => JSON.parse(data))
}

/** Sends a request of a client of 2026-07-28. @returns the status, and the last message */
export async function sendModern(
  client: ApiClient,
  ...request: Parameters<typeof modernRequest>
): Promise<ReturnType<typeof JSON.parse>> {
  const { status, text } = await client('POST', '/v1/mcp', modernRequest(...request))
  return { status, ...parseMessages(text).at(-1) }
}

/** The event of API Gateway for a request. */
export const toMcpEvent = ({ headers, body }: ReturnType<typeof modernRequest>, domainName?: string) =>
  ({
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
    requestContext: { requestId: 'r', domainName },
  }) as unknown as ServiceEvent
