import type { ToolCall, ToolDeclaration, ToolResult } from '../core/model.ts'
import type { Environment } from '../environment.ts'
import { loadPatterns } from '../schema/patterns/load-pattern-engine.ts'
import { type Agents, openAgentTool } from './agent-tool.ts'
import { type CallableTool, callTool, isInterruption, toCallable } from './call-tool.ts'
import type { ToolDocument } from './document/tool-fields.ts'
import type { EgressPolicy } from './egress/egress-policy.ts'
import { limitResult } from './limit-result.ts'
import { openSecrets, type Secrets } from './secrets.ts'
import { type CallOptions, ToolError, type ToolGroup } from './tool.ts'

/** The tools of an execution. */
export type Tools = {
  declarations: ToolDeclaration[]
  /** Returns failures as results. @throws what `callTool` throws */
  call(call: ToolCall, options: CallOptions): Promise<ToolResult>
  close(): Promise<void>
}

export type ToolDeps = Agents & {
  /** Source of secrets and endpoints. */
  environment: Environment
  /** Resolves host names. Default: `dns.lookup`. */
  lookup?: EgressPolicy['lookup']
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
  const groups = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  const close = async () => void (await Promise.allSettled(groups.map((group) => group.close())))
  const failure = results.find((result) => result.status === 'rejected')
  if (failure) {
    await close()
    throw failure.reason
  }

  await loadPatterns(...groups.flatMap((group) => group.tools.map((tool) => tool.declaration.inputSchema)))
  const tools = new Map<string, CallableTool>()
  for (const tool of groups.flatMap((group) => group.tools)) {
    const { name } = tool.declaration
    if (!tools.has(name)) tools.set(name, toCallable(tool))
  }

  return {
    declarations: [...tools.values()].map(({ declaration }) => declaration),
    close,
    async call(call, options) {
      return limitResult(await callTool(tools, call, options), secrets)
    },
  }
}

/** Opens one entry of `tools`. Loads only the module of its kind. */
async function openTool(document: ToolDocument, secrets: Secrets, deps: ToolDeps): Promise<ToolGroup> {
  const { http, lambda, mcp, agent } = document
  const { lookup, environment } = deps
  if (http) return (await import('./http/http-tool.ts')).openHttpTool({ document, http, secrets, lookup })
  if (lambda) return (await import('./lambda-tool.ts')).openLambdaTool({ document, lambda, environment })
  if (mcp) return (await import('./mcp/mcp-tool.ts')).openMcpTools({ document, mcp, secrets, lookup })
  if (agent) return openAgentTool(document, agent, deps)
  throw new ToolError('Unknown kind of tool.')
}
