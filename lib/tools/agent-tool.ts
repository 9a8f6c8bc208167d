import type { JsonObject } from '../core/json.ts'
import type { ToolResult } from '../core/model.ts'
import { toJsonSchema } from '../schema/field-map.ts'
import { type CallOptions, single, ToolError, type ToolGroup } from './tool.ts'
import type { ToolDocument } from './tool-document.ts'

/** What the engine gives, so that agents can be tools. `inputSchema`: a field map or a JSON Schema. */
export type Agents = {
  describeAgent(slug: string): Promise<{ description: string | null; inputSchema: JsonObject } | null>
  runAgent(params: { slug: string; input: JsonObject } & CallOptions): Promise<ToolResult>
}

/**
 * Another agent of the organization as a tool.
 * @throws ToolError when there is no such agent
 */
export async function agentTool(document: ToolDocument, slug: string, agents: Agents): Promise<ToolGroup> {
  const agent = await agents.describeAgent(slug)
  if (!agent) throw new ToolError(`There is no agent "${slug}".`)
  return single({
    declaration: {
      name: document.name,
      description: agent.description ?? `Runs the agent ${slug}.`,
      inputSchema: toJsonSchema(agent.inputSchema),
    },
    timeoutSeconds: document.timeoutSeconds,
    call: (input, options) => agents.runAgent({ slug, input, ...options }),
  })
}
