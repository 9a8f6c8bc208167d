import type { JsonObject } from '../core/json.ts'
import type { ToolResult } from '../core/model.ts'
import { toJsonSchema } from '../schema/field-map.ts'
import type { ToolDocument } from './document/tool-fields.ts'
import { type CallOptions, ToolError, type ToolGroup, toGroup } from './tool.ts'

/** Access to other agents, implemented by the engine. `inputSchema` is a field map or a JSON Schema. */
export type Agents = {
  describeAgent(slug: string): Promise<{ description: string | null; inputSchema: JsonObject } | null>
  runAgent(params: { slug: string; input: JsonObject } & CallOptions): Promise<ToolResult>
}

/**
 * Opens another agent of the organization as a tool. Its description is the document's, else the agent's.
 * @throws ToolError if the agent does not exist
 */
export async function openAgentTool(
  document: ToolDocument,
  slug: string,
  agents: Agents,
): Promise<ToolGroup> {
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
