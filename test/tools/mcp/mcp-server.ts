import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import * as z from 'zod'
import { PIXEL } from '../../support/pixel.ts'
import { listen } from '../serve.ts'

type Options = { sessions?: boolean; json?: boolean }
export type Seen = { method: string; headers: IncomingMessage['headers']; meta?: unknown }

/** A loopback server built with the official SDK, over streamable HTTP; stateless unless `sessions` is true. */
export async function serveMcp({ sessions = false, json = false }: Options = {}) {
  const seen: Seen[] = []
  const last: { response?: ServerResponse } = {}
  const transports = new Map<string, StreamableHTTPServerTransport>()

  async function handle(request: IncomingMessage, response: ServerResponse) {
    seen.push({ method: request.method ?? '', headers: request.headers })
    last.response = response
    const known = transports.get(String(request.headers['mcp-session-id']))
    if (known) return known.handleRequest(request, response)
    const transport = new StreamableHTTPServerTransport({
      ...(sessions && { sessionIdGenerator: () => randomUUID() }),
      enableJsonResponse: json,
      onsessioninitialized: (id) => void transports.set(id, transport),
      onsessionclosed: (id) => void transports.delete(id),
    })
    await newServer(seen, last).connect(transport as Transport)
    return transport.handleRequest(request, response)
  }

  const { host, connections } = await listen((request, response) => void handle(request, response))
  return { host, url: `http://${host}/mcp`, seen, connections, transports }
}

function newServer(seen: Seen[], last: { response?: ServerResponse }): McpServer {
  const server = new McpServer({ name: 'test', version: '1' })
  const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] })
  server.registerTool(
    'find.customer',
    { description: 'Finds one.', inputSchema: { name: z.string() } },
    ({ name }, { _meta }) => {
      seen.push({ method: 'find.customer', headers: {}, meta: _meta })
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
  server.registerTool('image', {}, () => ({
    content: [
      { type: 'text', text: 'see' },
      { type: 'image', mimeType: 'image/png', data: 'AAAA' },
    ],
  }))
  server.registerTool('photo', {}, () => ({
    content: [
      { type: 'image', mimeType: 'image/jpeg', data: PIXEL },
      { type: 'text', text: 'from above' },
      { type: 'resource', resource: { uri: 'file:///x.png', mimeType: 'image/png', blob: PIXEL } },
    ],
  }))
  server.registerTool('large', {}, () => text('x'.repeat(2_000_000)))
  server.registerTool('huge', {}, () => text('x'.repeat(8_000_000)))
  server.registerTool('headers', {}, ({ requestInfo }) => text(JSON.stringify(requestInfo?.headers)))
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
