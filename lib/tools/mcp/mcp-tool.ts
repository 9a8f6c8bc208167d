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
import { FINAL_ANSWER, type ToolResult } from '../../core/model.ts'
import type { McpDocument, ToolDocument } from '../document/tool-fields.ts'
import type { EgressPolicy } from '../egress/egress-policy.ts'
import type { Secrets } from '../secrets.ts'
import { failed, succeeded, type Tool, ToolError, type ToolGroup, toGroup } from '../tool.ts'
import { ImageCollector } from '../tool-image.ts'
import { mcpFetch } from './mcp-fetch.ts'

const MAX_PAGES = 20
const MAX_NAME_CHARACTERS = 64
const MAX_DESCRIPTION_CHARACTERS = 4_000
const CLOSE_TIMEOUT_MS = 2_000

type Params = {
  document: ToolDocument
  mcp: McpDocument
  secrets: Secrets
  lookup: EgressPolicy['lookup']
}

/**
 * Connects to an MCP server over streamable HTTP. Its tools are named `<name of the document>_<name on the server>`. If the
 * server is unavailable, the group has one tool that returns the error to the model, so that the run can do without it.
 * @throws ToolError if the server cannot be used, for example because it redirects
 */
export async function openMcpTools({ document, mcp, secrets, lookup }: Params): Promise<ToolGroup> {
  const headers = await secrets.fillHeaders(mcp.headers)
  const policy = { allowedHosts: mcp.allowedHosts, lookup }
  const transport = new StreamableHTTPClientTransport(new URL(mcp.url), { fetch: mcpFetch(policy, headers) })
  const client = new Client({ name: 'agent-execution-service', version: '1' })
  const close = async () => {
    const terminated = transport.terminateSession().catch(() => undefined)
    await withTimeout(CLOSE_TIMEOUT_MS, terminated, () => undefined)
    await client.close()
  }
  const timeout = document.timeoutSeconds * 1_000
  try {
    const listing = client.connect(transport as Transport, { timeout }).then(() => listTools(client, timeout))
    const listed = await withTimeout(timeout, listing, () => {
      const message = `The MCP server did not respond within ${document.timeoutSeconds} s.`
      throw new ToolError(message, { isTransient: true })
    })
    return { tools: toTools(listed, document, client), close }
  } catch (error) {
    await close()
    const toolError = toToolError(error)
    if (!toolError.isTransient) throw toolError
    return toGroup(unavailableTool(document, toolError))
  }
}

function unavailableTool({ name, timeoutSeconds }: ToolDocument, { message }: ToolError): Tool {
  const description = 'The MCP server that provides these tools is unavailable. A call returns the error.'
  return {
    declaration: { name, description, inputSchema: { type: 'object' } },
    timeoutSeconds,
    call: async () => failed(`The MCP server was unavailable when the run began. ${message}`),
  }
}

async function listTools(client: Client, timeout: number): Promise<McpTool[]> {
  const tools: McpTool[] = []
  let cursor: string | undefined
  for (let page = 0; page < MAX_PAGES; page++) {
    const request = { method: 'tools/list' as const, params: cursor === undefined ? {} : { cursor } }
    const response = await client.request(request, ListToolsResultSchema, { timeout })
    tools.push(...response.tools)
    cursor = response.nextCursor
    if (cursor === undefined) return tools
  }
  throw new ToolError(`The tool list of the MCP server has more than ${MAX_PAGES} pages.`)
}

/** Models accept tool names of at most 64 letters, digits, "_" and "-". Duplicates get a number. */
function toTools(listed: McpTool[], document: ToolDocument, client: Client): Tool[] {
  const taken = new Set<string>([FINAL_ANSWER])
  return listed.map((tool) => {
    const preferred = `${document.name}_${tool.name}`
      .replace(/[^A-Za-z0-9_-]/g, '_')
      .slice(0, MAX_NAME_CHARACTERS)
    let name = preferred
    for (let n = 2; taken.has(name); n++) name = `${preferred.slice(0, MAX_NAME_CHARACTERS - 4)}_${n}`
    taken.add(name)
    const description = (tool.description || tool.title || tool.name).slice(0, MAX_DESCRIPTION_CHARACTERS)
    const { timeoutSeconds } = document
    return {
      declaration: { name, description, inputSchema: tool.inputSchema as JsonObject },
      timeoutSeconds,
      async call(input, { idempotencyKey, signal }) {
        const params = { name: tool.name, arguments: input, _meta: { idempotencyKey } }
        const request = { method: 'tools/call' as const, params }
        // The client has its own timeout (default 60 s). `callTool` must time out first.
        const options = { signal, timeout: (timeoutSeconds + 5) * 1_000 }
        const response = await client.request(request, CallToolResultSchema, options).catch((error) => {
          throw toToolError(error)
        })
        return toResult(response)
      },
    }
  })
}

function toResult({ content, structuredContent, isError }: CallToolResult): ToolResult {
  const collector = new ImageCollector()
  const text = content.map((block) => toText(block, collector)).join('\n')
  if (isError) return failed(text || 'The tool failed without an error message.')
  const { images } = collector
  // The text describes the images; it also contains the structured content (MCP specification, Tools).
  if (images.length > 0) return succeeded(text, images)
  return succeeded((structuredContent as Json | undefined) ?? text)
}

function toText(block: CallToolResult['content'][number], collector: ImageCollector): string {
  if (block.type === 'text') return block.text
  if (block.type === 'resource_link') return block.uri
  if (block.type !== 'resource') return collector.add(Buffer.from(block.data, 'base64'), block.mimeType)
  const { resource } = block
  if ('text' in resource) return resource.text
  return collector.add(Buffer.from(resource.blob, 'base64'), resource.mimeType ?? 'unknown')
}

function toToolError(error: unknown): ToolError {
  if (error instanceof ToolError) return error
  const { message } = error as Error
  return new ToolError(`MCP server error: ${message}`, { isTransient: true, cause: error })
}

/** Resolves with the result of `work`, or of `onTimeout` if it takes longer. */
async function withTimeout<T>(timeoutMs: number, work: Promise<T>, onTimeout: () => T): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs)
  })
  try {
    return await Promise.race([work, timeout.then(onTimeout)])
  } finally {
    clearTimeout(timer)
  }
}
