import type { Environment } from '../environment.ts'
import { type Agents, agentTool } from './agent-tool.ts'
import type { Reach } from './egress/send-request.ts'
import type { Secrets } from './secrets.ts'
import { ToolError, type ToolGroup } from './tool.ts'
import type { ToolDocument } from './tool-document.ts'

export type ToolDeps = Agents & {
  /** Names secrets and endpoints. */
  environment: Environment
  /** Looks up host names; the system's look-up unless given. */
  lookup?: Reach['lookup']
}

/**
 * Opens one entry of `tools`. Only the kind that it uses is loaded.
 * @throws ToolError
 */
export async function openGroup(
  document: ToolDocument,
  secrets: Secrets,
  deps: ToolDeps,
): Promise<ToolGroup> {
  const { http, lambda, mcp, agent } = document
  const { lookup, environment } = deps
  if (http) return (await import('./http/http-tool.ts')).httpTool({ document, http, secrets, lookup })
  if (lambda) return (await import('./lambda-tool.ts')).lambdaTool({ document, lambda, environment })
  if (mcp) return (await import('./mcp/mcp-tool.ts')).mcpTools({ document, mcp, secrets, lookup })
  if (agent) return agentTool(document, agent, deps)
  throw new ToolError('It is of no known kind.')
}
