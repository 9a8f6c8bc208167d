/** What a client of 2025-11-25 sends after its handshake. */
export const LEGACY_HEADERS = { Accept: 'application/json, text/event-stream' }

export const toMessage = (method: string, params?: object) => ({
  jsonrpc: '2.0',
  id: 1,
  method,
  ...(params && { params }),
})

/** What a client of 2026-07-28 sends with each request. */
export function modernRequest(method: string, params: { name?: string; [key: string]: unknown } = {}) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
    ...(params._meta as object | undefined),
  }
  return {
    headers: {
      ...LEGACY_HEADERS,
      'MCP-Protocol-Version': '2026-07-28',
      'Mcp-Method': method,
      ...(params.name !== undefined && { 'Mcp-Name': params.name }),
    } as Record<string, string>,
    body: toMessage(method, { ...params, _meta }),
  }
}

/** The JSON-RPC messages of a response: a JSON body, or the events of a stream. */
export function parseMessages(text: string): ReturnType<typeof JSON.parse>[] {
  if (/^[[{]/.test(text)) return [JSON.parse(text)]
  return [...text.matchAll(/^data: (.+)$/gm)].map(([, data = '']) => JSON.parse(data))
}
