import { onTestFinished } from 'vitest'
import type { Json } from '../../lib/core/json.ts'
import type { ToolResult } from '../../lib/core/model.ts'
import type { ToolDeps } from '../../lib/tools/open-group.ts'
import { openTools, type Tools } from '../../lib/tools/open-tools.ts'
import { toolsSchema } from '../../lib/tools/tool-document.ts'

/** Throws when an agent is asked for that the test did not script. */
export function depsOf(overrides: Partial<ToolDeps> = {}): ToolDeps {
  const unscripted = () => {
    throw new Error('No agents in this test.')
  }
  return { environment: {}, runAgent: unscripted, describeAgent: unscripted, ...overrides }
}

/** Opens tools written as in an `agent.md`, closed when the test ends. */
export async function openWritten(written: object[], overrides: Partial<ToolDeps> = {}): Promise<Tools> {
  const tools = await openTools(toolsSchema.parse(written), depsOf(overrides))
  onTestFinished(() => tools.close())
  return tools
}

export function call(
  tools: Tools,
  name: string,
  input: Json,
  signal: AbortSignal = new AbortController().signal,
): Promise<ToolResult> {
  return tools.call({ id: 'call-1', name, input, error: null }, { idempotencyKey: 'run/1/call-1', signal })
}

/** An http tool, named `get`, of a server on loopback. */
export function httpTool(host: string, overrides: Record<string, unknown> = {}) {
  const { input = {}, timeoutSeconds = 20, ...http } = overrides
  return {
    name: 'get',
    description: 'Gets.',
    input,
    timeoutSeconds,
    http: { method: 'GET', url: `http://${host}/`, allowedHosts: [host], ...http },
  }
}

/** A reference to a secret, as a document writes it. */
export const secret = (name: string) => `\${secret:${name}}`
