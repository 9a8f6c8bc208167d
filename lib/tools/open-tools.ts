import type { JsonObject } from '../core/json/json.ts'
import {
  type ServedDeclarations,
  type ToolCall,
  type ToolDeclaration,
  type ToolResult,
  WEB_SEARCH,
} from '../core/model.ts'
import type { Environment } from '../environment.ts'
import { toJsonSchema } from '../schema/field-map.ts'
import { loadPatterns } from '../schema/patterns/load-pattern-engine.ts'
import { type CallableTool, callTool, isInterruption, refusesCall, toCallable } from './call-tool.ts'
import type { ToolDocument, WebSearchDocument } from './document/tool-fields.ts'
import type { EgressPolicy } from './egress/egress-policy.ts'
import { limitResult } from './limit-result.ts'
import type { SecretMask } from './secret-mask.ts'
import { openSecrets, type Secrets } from './secrets.ts'
import {
  type CallOptions,
  failed,
  type Tool,
  ToolError,
  type ToolGroup,
  toApprovalRule,
  toGroup,
} from './tool.ts'

/** Access to other agents, implemented by the engine. `inputSchema` is a field map or a JSON Schema. */
export type Agents = {
  describeAgent(slug: string): Promise<{ description: string | null; inputSchema: JsonObject } | null>
  runAgent(params: { slug: string; input: JsonObject } & CallOptions): Promise<ToolResult>
}

/** The tools of an execution. */
export type Tools = {
  declarations: ToolDeclaration[]
  /** Without approvals; absent if the document has no MCP tools. */
  served?: ServedDeclarations
  /** For the record: servers and tools that the run does without. */
  warnings: string[]
  /** Returns failures as results. @throws what `callTool` throws */
  call(call: ToolCall, options: CallOptions): Promise<ToolResult>
  /** Whether no tool would get the call. */
  refuses(call: ToolCall): boolean
  close(): Promise<void>
  /** Masks the secrets that the tools have read. */
  mask: SecretMask
}

/** The result of a call of a tool of the document, instead of the call. Null: it is made. */
export type RecordedResult = (document: ToolDocument, options: CallOptions) => ToolResult | null

export type ToolDeps = Agents & {
  /** Source of secrets and endpoints. */
  environment: Environment
  /** Resolves host names. Default: `dns.lookup`. */
  lookup?: EgressPolicy['lookup']
  /** Stored declarations: these MCP tools connect to no server, and cannot be called. */
  served?: ServedDeclarations
  /** The trace context that the partner of a call is told. */
  traceparentOf?: (idempotencyKey: string) => string
  /** @throws an Interruption for a call that is neither recorded nor to be made */
  recorded?: RecordedResult
}

/**
 * Opens the tools of a document: connects to MCP servers and reads the descriptions of agents.
 * @throws ToolError that names the tool that cannot be opened, after closing the others; Unavailable
 */
export async function openTools(documents: ToolDocument[], deps: ToolDeps): Promise<Tools> {
  const secrets = openSecrets(deps.environment)
  const results = await Promise.allSettled(
    documents.map((document) =>
      openTool(document, secrets, deps).catch((error: Error) => {
        if (isInterruption(error)) throw error
        const message = secrets.maskText(`Could not open the tool ${document.name}. ${error.message}`)
        throw new ToolError(message, { isTransient: !(error instanceof ToolError) || error.isTransient })
      }),
    ),
  )
  const groups = results.flatMap((result, index) => {
    const document = documents[index]
    return result.status === 'fulfilled' && document ? [{ ...result.value, document }] : []
  })
  const close = async () => void (await Promise.allSettled(groups.map((group) => group.close())))
  const failure = results.find((result) => result.status === 'rejected')
  if (failure) {
    await close()
    throw failure.reason
  }

  const tools = new Map<string, CallableTool>()
  for (const { tools: opened, document } of groups) {
    const approval = toApprovalRule(document)
    await loadPatterns(...opened.map(({ declaration }) => declaration.inputSchema), approval?.when ?? {})
    for (const tool of opened) {
      const declaration = { ...tool.declaration, ...(approval && { approval }) }
      const { name } = declaration
      const call: Tool['call'] = async (input, options) => {
        const traceparent = deps.traceparentOf?.(options.idempotencyKey)
        const traced = traceparent === undefined ? options : { ...options, traceparent }
        return deps.recorded?.(document, options) ?? tool.call(input, traced)
      }
      if (!tools.has(name))
        tools.set(name, toCallable({ ...tool, declaration, call }, document.maxResultBytes))
    }
  }

  const served = groups.flatMap(({ tools: opened, document: { name, mcp } }) =>
    mcp ? [[name, opened.map(({ declaration }) => declaration)] as const] : [],
  )
  return {
    declarations: [...tools.values()].map(({ declaration }) => declaration),
    ...(served.length > 0 && { served: Object.fromEntries(served) }),
    warnings: groups.flatMap(({ warnings = [] }) => warnings),
    close,
    mask: secrets.texts,
    refuses: (call) => refusesCall(tools, call),
    async call(call, options) {
      return limitResult(await callTool(tools, call, options), secrets, tools.get(call.name)?.maxResultBytes)
    },
  }
}

/** Opens one entry of `tools`. Loads only the module of its kind. */
async function openTool(document: ToolDocument, secrets: Secrets, deps: ToolDeps): Promise<ToolGroup> {
  const { http, lambda, mcp, agent, webSearch } = document
  const { lookup, environment, served = {} } = deps
  const stored = mcp && Object.hasOwn(served, document.name) ? served[document.name] : undefined
  if (stored) return toStoredGroup(document, stored)
  if (http) return (await import('./kinds/http-tool.ts')).openHttpTool({ document, http, secrets, lookup })
  if (lambda)
    return (await import('./kinds/lambda-tool.ts')).openLambdaTool({ document, lambda, environment })
  if (mcp) return (await import('./kinds/mcp-tool.ts')).openMcpTools({ document, mcp, secrets, lookup })
  if (agent) return openAgentTool(document, agent, deps)
  if (webSearch) return openWebSearch(webSearch)
  throw new ToolError('Unknown kind of tool.')
}

/** The tools of an MCP server as they were declared. */
function toStoredGroup({ timeoutSeconds }: ToolDocument, declarations: ToolDeclaration[]): ToolGroup {
  const call = async () => failed('The tool has only a stored declaration.')
  return {
    tools: declarations.map((declaration) => ({ declaration, timeoutSeconds, call })),
    close: async () => undefined,
  }
}

/** The provider executes it: models that cannot have it are rejected earlier. */
function openWebSearch({ maxUses, allowedDomains, blockedDomains }: WebSearchDocument): ToolGroup {
  const filters = { ...(allowedDomains && { allowedDomains }), ...(blockedDomains && { blockedDomains }) }
  return toGroup({
    declaration: {
      name: WEB_SEARCH,
      description: 'Searches the web.',
      inputSchema: { type: 'object' },
      webSearch: { maxUses, ...filters },
    },
    timeoutSeconds: 1,
    call: async () => failed('The provider executes this tool within its response; a call has no result.'),
  })
}

/**
 * Opens another agent of the organization as a tool. Its description is the document's, else the agent's.
 * @throws ToolError if the agent does not exist
 */
async function openAgentTool(document: ToolDocument, slug: string, agents: Agents): Promise<ToolGroup> {
  const agent = await agents.describeAgent(slug)
  if (!agent) throw new ToolError(`Agent "${slug}" not found.`)
  return toGroup({
    declaration: {
      name: document.name,
      description: document.description ?? agent.description ?? `Runs the agent ${slug}.`,
      inputSchema: toJsonSchema(agent.inputSchema),
    },
    timeoutSeconds: document.timeoutSeconds,
    call: (input, options) => agents.runAgent({ slug, input, ...options }),
  })
}
