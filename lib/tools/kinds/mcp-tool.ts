import { isJsonObject, type Json, type JsonObject } from '../../core/json/json.ts'
import { FINAL_ANSWER } from '../../core/model.ts'
import { withNullableTypes } from '../../schema/openapi.ts'
import type { McpDocument, ToolDocument } from '../document/tool-fields.ts'
import type { EgressPolicy } from '../egress/egress-policy.ts'
import type { Secrets } from '../secrets.ts'
import { failed, type Tool, ToolError, type ToolGroup, toGroup, toSentKey } from '../tool.ts'
import { McpConnection, toToolError, withTimeout } from './mcp-connection.ts'
import { mcpFetch } from './mcp-fetch.ts'
import { toToolResult } from './mcp-message.ts'
import { clientCredentials } from './mcp-oauth.ts'

const MAX_NAME_CHARACTERS = 64
const MAX_DESCRIPTION_CHARACTERS = 4_000
const MAX_PAGES = 20
/** How many problems of one server a warning names. */
const MAX_PROBLEMS = 10

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
  const server = new McpConnection(
    new URL(mcp.url),
    mcpFetch(policy, headers, tokens),
    document.timeoutSeconds * 1_000,
  )
  try {
    const listing = server.connect().then(() => listTools(server))
    const { listed, problems } = await withTimeout(document.timeoutSeconds * 1_000, listing, () => {
      const message = `The MCP server did not respond within ${document.timeoutSeconds} s.`
      throw new ToolError(message, { isTransient: true })
    })
    const tools = toTools(selectTools(listed, mcp), document, server, secrets)
    const omitted = secrets.maskText(problems.slice(0, MAX_PROBLEMS).join('; '))
    const warnings = omitted ? [`McpToolsOmitted: ${document.name}: ${omitted}`] : []
    return { tools, warnings, close: () => server.close() }
  } catch (error) {
    await server.close()
    const toolError = toToolError(error)
    if (!toolError.isTransient) throw toolError
    const warnings = [`McpServerUnavailable: ${document.name}`]
    return { ...toGroup(unavailableTool(document, toolError)), warnings }
  }
}

type McpTool = { name: string; description: string; inputSchema: JsonObject }

/** All pages of the list. Tools that cannot be used are left out; `problems` names them. */
async function listTools(server: McpConnection): Promise<{ listed: McpTool[]; problems: string[] }> {
  const listed: McpTool[] = []
  const problems: string[] = []
  const cursors = new Set<Json | undefined>()
  let cursor: Json | undefined
  for (let page = 1; ; page++) {
    const before = listed.length
    const result = await server.listTools(cursor as string | undefined).catch((error: Error): JsonObject => {
      if (page === 1) throw error
      problems.push(`page ${page} of the list failed: ${error.message}`)
      return { tools: [] }
    })
    const { tools } = result
    if (!Array.isArray(tools)) problems.push('the list of tools is not an array')
    for (const [index, entry] of (Array.isArray(tools) ? tools : []).entries()) {
      const tool = toTool(entry)
      if (typeof tool === 'string') problems.push(tool || `entry ${before + index + 1} has no name`)
      else listed.push(tool)
    }
    cursor = result.nextCursor
    if (typeof cursor !== 'string') return { listed, problems }
    if (page === MAX_PAGES || cursors.has(cursor)) {
      problems.push(
        page === MAX_PAGES ? `the list has more than ${MAX_PAGES} pages` : `page ${page} repeats a cursor`,
      )
      return { listed, problems }
    }
    cursors.add(cursor)
  }
}

/** Repairs what has one meaning. @returns why it cannot be used; the empty text if it has no name */
function toTool(entry: Json): McpTool | string {
  if (!isJsonObject(entry) || typeof entry.name !== 'string' || !entry.name) return ''
  const { name, inputSchema: given } = entry
  const inputSchema = given == null || given === true ? {} : withoutNulls(given)
  if (!isJsonObject(inputSchema)) return `the inputSchema of ${name} is not an object`
  const { type = 'object' } = inputSchema
  if (![type].flat().includes('object'))
    return `the inputSchema of ${name} is of type ${JSON.stringify(type)}`
  const [description = name] = [entry.description, entry.title].filter(
    (text): text is string => typeof text === 'string' && text !== '',
  )
  // OpenAPI documents are the source of many servers' schemas.
  return { name, description, inputSchema: withNullableTypes({ ...inputSchema, type: 'object' }) }
}

/** Keywords whose value null means nothing. */
const NOT_NULL =
  /^(type|properties|required|description|title|items|enum|anyOf|oneOf|allOf|\$defs|format|pattern)$/

/** A schema without keywords that are null, which servers write for what they do not have. */
function withoutNulls(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(withoutNulls)
  if (!isJsonObject(schema)) return schema
  const kept = Object.entries(schema).filter(([name, value]) => value !== null || !NOT_NULL.test(name))
  return Object.fromEntries(kept.map(([name, value]) => [name, DATA.has(name) ? value : withoutNulls(value)]))
}

const DATA = new Set(['const', 'default', 'enum', 'example', 'examples'])

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
    const description = secrets.maskText(tool.description).slice(0, MAX_DESCRIPTION_CHARACTERS)
    const { inputSchema } = tool
    return {
      declaration: { name, description, inputSchema },
      timeoutSeconds: document.timeoutSeconds,
      async call(input, { idempotencyKey, traceparent, signal }) {
        const params = {
          name: tool.name,
          arguments: input,
          // The key of the trace context: https://modelcontextprotocol.io/seps/414-request-meta
          _meta: { idempotencyKey: toSentKey(idempotencyKey), ...(traceparent && { traceparent }) },
        }
        const response = await server.callTool(params, inputSchema, signal).catch((error) => {
          throw toToolError(error)
        })
        return toToolResult(response)
      },
    }
  })
}
