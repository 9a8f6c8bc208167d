import type { Json, JsonObject } from '../core/json.ts'
import { isJsonObject } from '../core/json.ts'
import type { ToolCall, ToolDeclaration, ToolResult } from '../core/model.ts'
import { compileValidator, type Validator } from '../schema/validate/validate.ts'
import { limitResult } from './limit-result.ts'
import { openGroup, type ToolDeps } from './open-group.ts'
import { openSecrets } from './secrets.ts'
import { type CallOptions, failed, type Tool, ToolError, type ToolGroup } from './tool.ts'
import type { ToolDocument } from './tool-document.ts'

/** The tools of one run. */
export type Tools = {
  declarations: ToolDeclaration[]
  /** Never throws for what goes wrong with a call, only when `signal`, the run's own, aborts: then its reason. */
  call(call: ToolCall, options: CallOptions): Promise<ToolResult>
  close(): Promise<void>
}

/**
 * Opens the tools of a document: MCP servers are connected, agents looked up.
 * @throws ToolError that names the tool which cannot be used; what was open by then is closed
 */
export async function openTools(documents: ToolDocument[], deps: ToolDeps): Promise<Tools> {
  const secrets = openSecrets(deps.environment)
  const opened = await Promise.allSettled(
    documents.map((document) =>
      openGroup(document, secrets, deps).catch((error: Error) => {
        const message = secrets.maskText(`The tool ${document.name} cannot be used. ${error.message}`)
        throw new ToolError(message, { isTransient: !(error instanceof ToolError) || error.isTransient })
      }),
    ),
  )
  const groups = opened.flatMap((group) => (group.status === 'fulfilled' ? [group.value] : []))
  const close = () => closeAll(groups)
  const fault = opened.find((group) => group.status === 'rejected')
  if (fault) {
    await close()
    throw fault.reason
  }

  const tools = new Map<string, Tool & { check: Validator }>()
  for (const tool of groups.flatMap((group) => group.tools)) {
    const { name, inputSchema } = tool.declaration
    if (!tools.has(name)) tools.set(name, { ...tool, check: checkOf(inputSchema) })
  }

  async function resultOf(call: ToolCall, options: CallOptions): Promise<ToolResult> {
    const tool = tools.get(call.name)
    if (call.error !== null) return failed(call.error)
    if (!tool) return failed(`There is no tool "${call.name}". There are: ${[...tools.keys()].join(', ')}.`)
    const input = withDefaults(call.input, tool.declaration.inputSchema)
    const violations = tool.check(input)
    if (violations.length > 0 || !isJsonObject(input)) {
      const found = violations.map(({ message }) => message).join(' ')
      return failed(`The input does not match the tool's schema. ${found}`.trim())
    }
    return callInTime(tool, input, options)
  }

  return {
    declarations: [...tools.values()].map(({ declaration }) => declaration),
    close,
    async call(call, options) {
      options.signal.throwIfAborted()
      const result = await resultOf(call, options).catch((error: Error) => {
        options.signal.throwIfAborted()
        return failed(error instanceof ToolError ? error.message : `The call failed: ${error.message}`)
      })
      return limitResult(result, secrets)
    },
  }
}

/** Ends a call that takes longer than its tool may, whether or not the tool heeds its signal. */
async function callInTime(
  tool: Tool,
  input: JsonObject,
  { idempotencyKey, signal }: CallOptions,
): Promise<ToolResult> {
  const controller = new AbortController()
  const abort = () => controller.abort(signal.reason)
  const ended = new Promise<ToolResult>((resolve, reject) => {
    controller.signal.addEventListener('abort', () => {
      if (signal.aborted) reject(signal.reason)
      else resolve(failed(`The call timed out after ${tool.timeoutSeconds} seconds.`))
    })
  })
  signal.addEventListener('abort', abort)
  const timer = setTimeout(
    () => controller.abort(new ToolError('The time is up.')),
    tool.timeoutSeconds * 1_000,
  )
  try {
    return await Promise.race([ended, tool.call(input, { idempotencyKey, signal: controller.signal })])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
  }
}

/** An MCP server's schema may be none that the validator can use: then the server alone checks. */
function checkOf(schema: JsonObject): Validator {
  try {
    const check = compileValidator(schema)
    return (value) => {
      try {
        return check(value)
      } catch {
        return []
      }
    }
  } catch {
    return () => []
  }
}

/** Fields that the model left out and the schema gives a default. */
function withDefaults(input: Json, { properties }: JsonObject): Json {
  if (!isJsonObject(input) || !isJsonObject(properties)) return input
  const defaults = Object.entries(properties).flatMap(([name, field]) =>
    isJsonObject(field) && field.default !== undefined ? [[name, field.default] as const] : [],
  )
  return { ...Object.fromEntries(defaults), ...input }
}

async function closeAll(groups: ToolGroup[]): Promise<void> {
  await Promise.allSettled(groups.map((group) => group.close()))
}
