import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import {
  createMcpHandler,
  McpServer as ModernMcpServer,
  type ServerContext,
} from '@modelcontextprotocol/server'
import * as z from 'zod'
import { PIXEL } from '../../support/data/files.ts'
import { listen } from '../serve.ts'

type Options = { sessions?: boolean; json?: boolean; modern?: boolean }
export type Seen = { method: string; headers: IncomingMessage['headers']; meta?: unknown }

const INFO = { name: 'test', version: '1' }

/**
 * A loopback server built with the official SDK, over streamable HTTP; stateless unless `sessions` is true. With
 * `modern`, it speaks only revision 2026-07-28.
 */
export async function serveMcp({ sessions = false, json = false, modern = false }: Options = {}) {
  const seen: Seen[] = []
  const last: { response?: ServerResponse } = {}
  const transports = new Map<string, StreamableHTTPServerTransport>()

  async function handle(request: IncomingMessage, response: ServerResponse) {
    seen.push({ method: request.method ?? '', headers: request.headers })
    last.response = response
    if (modern) return handleModern(request, response)
    const known = transports.get(String(request.headers['mcp-session-id']))
    if (known) return known.handleRequest(request, response)
    const transport = new StreamableHTTPServerTransport({
      ...(sessions && { sessionIdGenerator: () => randomUUID() }),
      enableJsonResponse: json,
      onsessioninitialized: (id) => void transports.set(id, transport),
      onsessionclosed: (id) => void transports.delete(id),
    })
    const server = registerTools(new McpServer(INFO), seen, last)
    await server.connect(transport as Transport)
    return transport.handleRequest(request, response)
  }

  const modernHandler = createMcpHandler(
    () => registerTools(new ModernMcpServer(INFO) as unknown as McpServer, seen, last) as never,
    { legacy: 'reject' },
  )
  async function handleModern(request: IncomingMessage, response: ServerResponse) {
    const { method = '', headers } = request
    const options = { method, headers: headers as Record<string, string> }
    const body = method === 'POST' ? { body: Readable.toWeb(request) as never, duplex: 'half' as const } : {}
    const sent = await modernHandler.fetch(new Request(`http://${headers.host}/mcp`, { ...options, ...body }))
    if (response.destroyed) return
    response.writeHead(sent.status, Object.fromEntries(sent.headers))
    for await (const chunk of sent.body ?? []) response.write(chunk)
    response.end()
  }

  const { host, connections } = await listen((request, response) => void handle(request, response))
  return { host, url: `http://${host}/mcp`, seen, connections, transports }
}

/** What a tool of either generation learns about its request. */
function contextOf(context: object): { meta?: unknown; headers: object } {
  if ('mcpReq' in context) {
    const { mcpReq, http } = context as ServerContext
    return { meta: mcpReq._meta, headers: Object.fromEntries(http?.req?.headers ?? []) }
  }
  const { _meta, requestInfo } = context as { _meta?: unknown; requestInfo?: { headers: object } }
  return { meta: _meta, headers: requestInfo?.headers ?? {} }
}

function registerTools(server: McpServer, seen: Seen[], last: { response?: ServerResponse }): McpServer {
  const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] })
  server.registerTool(
    'find.customer',
    { description: 'Finds one.', inputSchema: { name: z.string() } },
    ({ name }, context) => {
      seen.push({ method: 'find.customer', headers: {}, meta: contextOf(context).meta })
      return text(`found ${name}`)
    },
  )
  server.registerTool('find_customer', { description: 'Finds two.' }, () => text('two'))
  server.registerTool('structured', { outputSchema: { n: z.number() } }, () => ({
    ...text('{"n":1}'),
    structuredContent: { n: 1 },
  }))
  server.registerTool('failing', {}, () => ({ ...text('no such customer'), isError: true }))
  server.registerTool('throwing', {}, () => {
    throw new Error('boom')
  })
  const image = { type: 'image' as const, mimeType: 'image/png', data: 'AAAA' }
  server.registerTool('image', {}, () => ({ content: [...text('see').content, image] }))
  server.registerTool('photo', {}, () => ({
    content: [
      { type: 'image', mimeType: 'image/jpeg', data: PIXEL },
      { type: 'text', text: 'from above' },
      { type: 'resource', resource: { uri: 'file:///x.png', mimeType: 'image/png', blob: PIXEL } },
    ],
  }))
  server.registerTool('large', {}, () => text('x'.repeat(2_000_000)))
  server.registerTool('huge', {}, () => text('x'.repeat(8_000_000)))
  server.registerTool('headers', {}, (context) => text(JSON.stringify(contextOf(context).headers)))
  server.registerTool('hanging', {}, () => new Promise(() => undefined))
  server.registerTool('dropping', {}, () => {
    last.response?.destroy()
    return new Promise(() => undefined)
  })
  server.registerTool('ending', {}, async () => {
    while (!last.response?.headersSent) await new Promise(setImmediate)
    last.response.end()
    return new Promise(() => undefined)
  })
  return server
}
