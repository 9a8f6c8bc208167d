import type { ServerResponse } from 'node:http'
import { json, type Received, serve } from '../serve.ts'
import { openDeclared } from '../tools.ts'

export const INITIALIZED = {
  protocolVersion: '2025-06-18',
  capabilities: { tools: {} },
  serverInfo: { name: 'crm', version: '1' },
}
export const FIND = { name: 'find', inputSchema: { type: 'object' } }

type Rpc = { id?: unknown; method: string; params?: { cursor?: string } }
/** What a method returns, or how a request is answered. */
export type Answer = object | ((response: ServerResponse, rpc: Rpc, received: Received) => unknown)

/**
 * A server that is written by hand: what the official SDK would send is in `mcp-server.ts`. `other` answers the
 * requests that `answers` does not name.
 */
export async function serveOdd(answers: Record<string, Answer>) {
  const seen: string[] = []
  const all: Record<string, Answer> = { initialize: INITIALIZED, 'tools/list': { tools: [FIND] }, ...answers }
  const server = await serve((response, received) => {
    if (received.method === 'DELETE') return response.end()
    const rpc: Rpc = received.body ? JSON.parse(received.body) : { method: received.method }
    seen.push(rpc.method)
    const answer = all[rpc.method] ?? all.other
    if (rpc.id === undefined && rpc.method !== 'GET') return response.writeHead(202).end()
    if (typeof answer === 'function') return answer(response, rpc, received)
    if (answer) return json(response, { jsonrpc: '2.0', id: rpc.id, result: answer })
    return json(response, { jsonrpc: '2.0', id: rpc.id, error: { code: -32601, message: 'No such method' } })
  })
  const url = `${server.url}/mcp`
  const document = { name: 'crm', timeoutSeconds: 20, mcp: { url, allowedHosts: [server.host] } }
  return { ...server, seen, open: () => openDeclared([document]) }
}
