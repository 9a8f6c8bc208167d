import { onTestFinished } from 'vitest'
import type { Json } from '../../lib/core/json/json.ts'
import type { ToolResult } from '../../lib/core/model.ts'
import { toolsSchema } from '../../lib/tools/document/tools-schema.ts'
import { openTools, type ToolDeps, type Tools } from '../../lib/tools/open-tools.ts'

/** Throws if a test uses agents without overriding these functions. */
export function depsOf(overrides: Partial<ToolDeps> = {}): ToolDeps {
  const unscripted = () => {
    throw new Error('No agents in this test.')
  }
  return { environment: {}, runAgent: unscripted, describeAgent: unscripted, ...overrides }
}

/** Opens tools as declared in an `agent.md`, and closes them at the end of the test. */
export async function openDeclared(declared: object[], overrides: Partial<ToolDeps> = {}): Promise<Tools> {
  const tools = await openTools(toolsSchema.parse(declared), depsOf(overrides))
  onTestFinished(() => tools.close())
  return tools
}

export const call = (
  tools: Tools,
  name: string,
  input: Json,
  signal: AbortSignal = new AbortController().signal,
  idempotencyKey = 'run/1/call-1',
): Promise<ToolResult> => tools.call({ id: 'call-1', name, input, error: null }, { idempotencyKey, signal })

const POSITION = '0195f3a0-0000-7000-8000-000000000000-3'

/** The key of a call with an id that no header can hold. */
export const ODD_KEY = `${POSITION}-вызов 1\r\nx: y ${'signature'.repeat(3_000)}`
export const SENT_KEY = new RegExp(`^${POSITION}-[0-9a-f]{32}$`)

export const callAs = (tools: Tools, name: string, input: Json, idempotencyKey: string) =>
  call(tools, name, input, undefined, idempotencyKey)

/** An HTTP tool named `get` for a loopback server. */
export function httpTool(host: string, overrides: Record<string, unknown> = {}) {
  const { input = {}, timeoutSeconds = 20, maxResultBytes, ...http } = overrides
  return {
    name: 'get',
    description: 'Gets.',
    input,
    timeoutSeconds,
    ...(maxResultBytes !== undefined && { maxResultBytes }),
    http: { method: 'GET', url: `http://${host}/`, allowedHosts: [host], ...http },
  }
}

/** A secret reference as used in a document. */
export const secret = (name: string) => `\${secret:${name}}`
