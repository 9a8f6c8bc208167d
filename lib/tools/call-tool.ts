import { Interruption, Unavailable } from '../core/errors.ts'
import { isJsonObject, type JsonObject } from '../core/json/json.ts'
import type { ToolCall, ToolResult } from '../core/model.ts'
import { compileValidator, type Validator } from '../schema/validate/validate.ts'
import { addDefaults } from './add-defaults.ts'
import { type CallOptions, failed, type Tool, ToolError } from './tool.ts'

export type CallableTool = Tool & { maxResultBytes: number | undefined; validate: Validator }

export const toCallable = (tool: Tool, maxResultBytes: number | undefined): CallableTool => ({
  ...tool,
  maxResultBytes,
  validate: toValidator(tool.declaration.inputSchema),
})

const MISMATCH = "The input does not match the tool's schema."

/**
 * Whether a result says why there was no call: the tool is unknown, or its schema does not permit the input. Results
 * that were stored before they were marked are told by their text.
 */
export function isRefusedCall({ name }: Pick<ToolCall, 'name'>, result: ToolResult): boolean {
  if (result.ok) return false
  const { isRefused = false, error } = result
  return (
    isRefused || error === MISMATCH || [`${MISMATCH} `, unknown(name)].some((text) => error.startsWith(text))
  )
}

const unknown = (name: string): string => `Unknown tool "${name}". Available tools: `

/** A call that a tool may get, or why none does. */
function checkCall(tools: ReadonlyMap<string, CallableTool>, { name, input: given }: ToolCall) {
  const tool = tools.get(name)
  if (!tool) return { refusal: `${unknown(name)}${[...tools.keys()].join(', ')}.` }
  const input = addDefaults(given, tool.declaration.inputSchema)
  const violations = tool.validate(input)
  if (violations.length === 0 && isJsonObject(input)) return { tool, input }
  const details = violations.map(({ message }) => message).join(' ')
  return { refusal: `${MISMATCH} ${details}`.trim() }
}

/** Whether no tool would get the call. */
export const refusesCall = (tools: ReadonlyMap<string, CallableTool>, call: ToolCall): boolean =>
  'refusal' in checkCall(tools, call)

/** How long a call may continue after its timeout, to clean up. */
const MAX_SETTLE_MS = 10_000

/**
 * Calls a tool if the input matches its schema. Failures, including a timeout, are returned as results for the model.
 * @throws the reason of `options.signal` if it aborts
 * @throws Unavailable or an Interruption of the tool: a stored result would be final, while the call may still continue
 */
export async function callTool(
  tools: ReadonlyMap<string, CallableTool>,
  call: ToolCall,
  options: CallOptions,
): Promise<ToolResult> {
  options.signal.throwIfAborted()
  if (call.error !== null) return failed(call.error)
  const checked = checkCall(tools, call)
  if ('refusal' in checked) return { ...failed(checked.refusal), isRefused: true }
  try {
    return await callWithTimeout(checked.tool, checked.input, options)
  } catch (error) {
    options.signal.throwIfAborted()
    if (isInterruption(error)) throw error
    const { message } = error as Error
    return failed(error instanceof ToolError ? message : `The call failed: ${message}`)
  }
}

/** Whether an error only passes through a tool, and is not a failure of it. */
export const isInterruption = (error: unknown): boolean =>
  error instanceof Unavailable || error instanceof Interruption

/**
 * Aborts the call at the tool's timeout, and then waits until it has settled: a result that is stored earlier would
 * hide that the call could not clean up. Stops waiting if the tool ignores its signal.
 */
async function callWithTimeout(
  tool: Tool,
  input: JsonObject,
  { signal, ...options }: CallOptions,
): Promise<ToolResult> {
  const controller = new AbortController()
  const abandoned = Promise.withResolvers<never>()
  const onAbort = () => {
    controller.abort(signal.reason)
    abandoned.reject(signal.reason)
  }
  signal.addEventListener('abort', onAbort)
  const timedOut = new ToolError(`The call timed out after ${tool.timeoutSeconds} s.`)
  const timeoutMs = tool.timeoutSeconds * 1_000
  const timers = [
    setTimeout(() => controller.abort(timedOut), timeoutMs),
    setTimeout(() => abandoned.reject(timedOut), timeoutMs + MAX_SETTLE_MS),
  ]
  try {
    const calling = tool.call(input, { ...options, signal: controller.signal })
    return await Promise.race([abandoned.promise, calling])
  } catch (error) {
    throw controller.signal.aborted && !isInterruption(error) ? controller.signal.reason : error
  } finally {
    timers.forEach(clearTimeout)
    signal.removeEventListener('abort', onAbort)
  }
}

/** Accepts every input if an MCP server declares a schema that does not compile: the server validates it. */
export function toValidator(schema: JsonObject): Validator {
  try {
    const validate = compileValidator(schema)
    return (value) => {
      try {
        return validate(value)
      } catch {
        return []
      }
    }
  } catch {
    return () => []
  }
}
