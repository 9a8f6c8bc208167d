import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import {
  type CallToolResult,
  CallToolResultSchema,
  ListToolsResultSchema,
  type Tool as McpTool,
} from '@modelcontextprotocol/sdk/types.js'
import type { Json, JsonObject } from '../../core/json.ts'
import type { ToolResult } from '../../core/model.ts'
import type { Reach } from '../egress/send-request.ts'
import type { Secrets } from '../secrets.ts'
import { failed, succeeded, type Tool, ToolError, type ToolGroup } from '../tool.ts'
import type { McpDocument, ToolDocument } from '../tool-document.ts'
import { mcpFetch } from './mcp-fetch.ts'

const MAX_PAGES = 20
const MAX_NAME = 64
const MAX_DESCRIPTION = 4_000
const CLOSE_MS = 2_000

type Params = { document: ToolDocument; mcp: McpDocument; secrets: Secrets; lookup: Reach['lookup'] }

/**
 * Connects to an MCP server over streamable HTTP; its tools are named `<name>_<their name>`.
 * @throws ToolError when the server does not tell its tools
 */
export async function mcpTools({ document, mcp, secrets, lookup }: Params): Promise<ToolGroup> {
  const headers = await secrets.fillHeaders(mcp.headers)
  const reach = { allowedHosts: mcp.allowedHosts, lookup }
  const transport = new StreamableHTTPClientTransport(new URL(mcp.url), { fetch: mcpFetch(reach, headers) })
  const client = new Client({ name: 'agent-execution-service', version: '1' })
  const close = async () => {
    const ended = transport.terminateSession().catch(() => undefined)
    await within(CLOSE_MS, ended, () => undefined)
    await client.close()
  }
  const timeout = document.timeoutSeconds * 1_000
  try {
    const opened = client.connect(transport as Transport, { timeout }).then(() => listTools(client, timeout))
    const listed = await within(timeout, opened, () => {
      throw new ToolError(`The server did not answer within ${document.timeoutSeconds} seconds.`, {
        isTransient: true,
      })
    })
    return { tools: toTools(listed, document, client), close }
  } catch (error) {
    await close()
    throw explained(error)
  }
}

async function listTools(client: Client, timeout: number): Promise<McpTool[]> {
  const tools: McpTool[] = []
  let cursor: string | undefined
  for (let page = 0; page < MAX_PAGES; page++) {
    const request = { method: 'tools/list' as const, params: cursor === undefined ? {} : { cursor } }
    const answer = await client.request(request, ListToolsResultSchema, { timeout })
    tools.push(...answer.tools)
    cursor = answer.nextCursor
    if (cursor === undefined) return tools
  }
  throw new ToolError(`The server's list of tools does not end within ${MAX_PAGES} pages.`)
}

/** Models take letters, digits, "_" and "-" in a tool's name, at most 64; names that become the same get a number. */
function toTools(listed: McpTool[], document: ToolDocument, client: Client): Tool[] {
  const taken = new Set<string>()
  return listed.map((tool) => {
    const wanted = `${document.name}_${tool.name}`.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, MAX_NAME)
    let name = wanted
    for (let n = 2; taken.has(name); n++) name = `${wanted.slice(0, MAX_NAME - 4)}_${n}`
    taken.add(name)
    const description = (tool.description ?? tool.title ?? tool.name).slice(0, MAX_DESCRIPTION)
    const { timeoutSeconds } = document
    return {
      declaration: { name, description, inputSchema: tool.inputSchema as JsonObject },
      timeoutSeconds,
      async call(input, { idempotencyKey, signal }) {
        const params = { name: tool.name, arguments: input, _meta: { idempotencyKey } }
        const request = { method: 'tools/call' as const, params }
        // The client has a limit of its own, 60 s unless told; ours is to come first.
        const options = { signal, timeout: (timeoutSeconds + 5) * 1_000 }
        const answer = await client.request(request, CallToolResultSchema, options).catch((error) => {
          throw explained(error)
        })
        return resultOf(answer)
      },
    }
  })
}

function resultOf({ content, structuredContent, isError }: CallToolResult): ToolResult {
  const text = content.map(textOf).join('\n')
  if (isError) return failed(text || 'The tool failed and does not say why.')
  return succeeded((structuredContent as Json | undefined) ?? text)
}

function textOf(block: CallToolResult['content'][number]): string {
  if (block.type === 'text') return block.text
  if (block.type === 'resource_link') return block.uri
  if (block.type === 'resource' && 'text' in block.resource) return block.resource.text
  const { mimeType } = block.type === 'resource' ? block.resource : block
  return `[Binary content of type ${mimeType ?? 'unknown'} is left out.]`
}

function explained(error: unknown): ToolError {
  if (error instanceof ToolError) return error
  const { message } = error as Error
  return new ToolError(`The MCP server: ${message}`, { isTransient: true, cause: error })
}

/** What the work comes to, or what `late` says when it takes longer. */
async function within<T>(limitMs: number, work: Promise<T>, late: () => T): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs)
  })
  try {
    return await Promise.race([work, limit.then(late)])
  } finally {
    clearTimeout(timer)
  }
}
