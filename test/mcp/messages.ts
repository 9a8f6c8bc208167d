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
