import type { CallToolResult, Tool as McpTool } from '@modelcontextprotocol/client'
import type { Json, JsonObject } from '../../core/json/json.ts'
import { FINAL_ANSWER, type ToolResult } from '../../core/model.ts'
import type { McpDocument, ToolDocument } from '../document/tool-fields.ts'
import type { EgressPolicy } from '../egress/egress-policy.ts'
import type { Secrets } from '../secrets.ts'
import { failed, succeeded, type Tool, ToolError, type ToolGroup, toGroup } from '../tool.ts'
import { ImageCollector } from '../tool-image.ts'
import { McpConnection, toToolError, withTimeout } from './mcp-connection.ts'
import { mcpFetch } from './mcp-fetch.ts'
import { clientCredentials } from './mcp-oauth.ts'

const MAX_NAME_CHARACTERS = 64
const MAX_DESCRIPTION_CHARACTERS = 4_000

type Params = {
  document: ToolDocument
  mcp: McpDocument
  secrets: Secrets
  lookup: EgressPolicy['lookup']
}

/**
 * Connects to an MCP server over streamable HTTP. Its tools are named `<name of the document>_<name on the server>`. If
 * the server is unavailable, the group has one tool that returns the error to the model, so that the run can do without
 * it.
 * @throws ToolError if the server cannot be used, for example because it redirects or lacks a tool of the document
 */
export async function openMcpTools({ document, mcp, secrets, lookup }: Params): Promise<ToolGroup> {
  const headers = await secrets.fillHeaders(mcp.headers)
  const policy = { allowedHosts: mcp.allowedHosts, lookup }
  const tokens = mcp.oauth ? clientCredentials(mcp.oauth, policy, secrets) : null
  const server = new McpConnection(new URL(mcp.url), mcpFetch(policy, headers, tokens))
  const timeout = document.timeoutSeconds * 1_000
  try {
    const listing = server.connect(timeout).then((client) => client.listTools({}, { timeout }))
    const { tools } = await withTimeout(timeout, listing, () => {
      const message = `The MCP server did not respond within ${document.timeoutSeconds} s.`
      throw new ToolError(message, { isTransient: true })
    })
    const allowed = selectTools(tools, mcp)
    return { tools: toTools(allowed, document, server, secrets), close: () => server.close() }
  } catch (error) {
    await server.close()
    const toolError = toToolError(error)
    if (!toolError.isTransient) throw toolError
    return toGroup(unavailableTool(document, toolError))
  }
}

/** The tools that the document allows: all of them, unless it names some. */
function selectTools(listed: McpTool[], { tools: allowed }: McpDocument): McpTool[] {
  if (!allowed) return listed
  const missing = allowed.find((name) => !listed.some((tool) => tool.name === name))
  if (missing === undefined) return listed.filter(({ name }) => allowed.includes(name))
  const names = listed.map(({ name }) => name).join(', ') || 'none'
  throw new ToolError(`The MCP server has no tool "${missing}". Its tools: ${names}.`)
}

function unavailableTool({ name, timeoutSeconds }: ToolDocument, { message }: ToolError): Tool {
  const description = 'The MCP server that provides these tools is unavailable. A call returns the error.'
  return {
    declaration: { name, description, inputSchema: { type: 'object' } },
    timeoutSeconds,
    call: async () => failed(`The MCP server was unavailable when the run began. ${message}`),
  }
}

/** Models accept tool names of at most 64 letters, digits, "_" and "-". Duplicates get a number. */
function toTools(listed: McpTool[], document: ToolDocument, server: McpConnection, secrets: Secrets): Tool[] {
  const taken = new Set<string>([FINAL_ANSWER])
  return listed.map((tool) => {
    const preferred = `${document.name}_${tool.name}`
      .replace(/[^A-Za-z0-9_-]/g, '_')
      .slice(0, MAX_NAME_CHARACTERS)
    let name = preferred
    for (let n = 2; taken.has(name); n++) name = `${preferred.slice(0, MAX_NAME_CHARACTERS - 4)}_${n}`
    taken.add(name)
    const described = secrets.maskText(tool.description || tool.title || tool.name)
    const description = described.slice(0, MAX_DESCRIPTION_CHARACTERS)
    const { timeoutSeconds } = document
    return {
      declaration: { name, description, inputSchema: tool.inputSchema as JsonObject },
      timeoutSeconds,
      async call(input, { idempotencyKey, signal }) {
        const params = { name: tool.name, arguments: input, _meta: { idempotencyKey } }
        // The client has its own timeout (default 60 s). `callTool` must time out first.
        const options = { signal, timeout: (timeoutSeconds + 5) * 1_000 }
        const response = await server.client.callTool(params, options).catch((error) => {
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
