import {
  Client as Client2,
  StreamableHTTPClientTransport as Transport2,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client'
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { onTestFinished } from 'vitest'
import type { JsonObject } from '../../lib/core/json/json.ts'

export type Progress = { progress: number; message?: string | undefined }
type CallOptions = { onprogress?: (progress: Progress) => void; signal?: AbortSignal; meta?: JsonObject }
export type ToolResult = {
  content: { type: string; text?: string }[]
  structuredContent?: JsonObject
  isError?: boolean
  _meta?: JsonObject
}

/** What the official clients have in common. */
export type McpClient = {
  version: string | undefined
  listTools: (cursor?: string) => Promise<{ tools: JsonObject[]; nextCursor?: string }>
  callTool: (name: string, input?: object, options?: CallOptions) => Promise<ToolResult>
}

const INFO = { name: 'test', version: '1' }
const headers = (token: string) => ({ requestInit: { headers: { Authorization: `Bearer ${token}` } } })
const toCall = (name: string, input: object = {}, meta?: JsonObject) => ({
  ...{ name, arguments: { ...input } },
  ...(meta && { _meta: meta }),
})
const endpointOf = (service: string) => new URL(`${service}/v1/mcp`)

/** Client 1.x: 2025-11-25. */
async function connect1(service: string, token: string): Promise<McpClient> {
  const client = new Client1(INFO)
  const transport = new Transport1(endpointOf(service), headers(token))
  await client.connect(transport as Transport)
  onTestFinished(() => client.close())
  return {
    version: transport.protocolVersion,
    listTools: async (cursor) => (await client.listTools({ cursor })) as never,
    callTool: async (name, input, { meta, ...options } = {}) =>
      (await client.callTool(toCall(name, input, meta), undefined, options)) as never,
  }
}

/** Client 2.x: 2026-07-28 by default. */
const connect2 =
  (mode: VersionNegotiationMode) =>
  async (service: string, token: string): Promise<McpClient> => {
    const client = new Client2(INFO, { versionNegotiation: { mode } })
    await client.connect(new Transport2(endpointOf(service), headers(token)))
    onTestFinished(() => client.close())
    return {
      version: client.getNegotiatedProtocolVersion(),
      listTools: async (cursor) => (await client.listTools({ ...(cursor && { cursor }) })) as never,
      callTool: async (name, input, { meta, ...options } = {}) =>
        (await client.callTool(toCall(name, input, meta) as never, options)) as never,
    }
  }

/** The official TypeScript clients, with the protocol version that they negotiate. */
export const CLIENTS: [
  name: string,
  version: string,
  connect: (service: string, token: string) => Promise<McpClient>,
][] = [
  ['1.x', '2025-11-25', connect1],
  ['2.x, legacy', '2025-11-25', connect2('legacy')],
  ['2.x', '2026-07-28', connect2('auto')],
]
