import type { LanguageModelV4FunctionTool, LanguageModelV4Message } from '@ai-sdk/provider'
import type { Json } from '../core/json.ts'
import type { Model, ModelRequest, ToolDeclaration, ToolResult } from '../core/model.ts'

type Message = Exclude<LanguageModelV4Message, { role: 'system' }>

export const userMessage: Model['userMessage'] = (text) =>
  json({ role: 'user', content: [{ type: 'text', text }] })

/** Leaves out the calls that could not be read: the response's own messages have answered them. */
export const toolMessage: Model['toolMessage'] = (results) => {
  const content = results.flatMap(({ call, result }) =>
    call.error === null
      ? [{ type: 'tool-result' as const, toolCallId: call.id, toolName: call.name, output: toOutput(result) }]
      : [],
  )
  return content.length > 0 ? json({ role: 'tool', content }) : null
}

/** JSON as text, as all providers send it: they would write it anew with each request. */
function toOutput(result: ToolResult) {
  if (!result.ok) return { type: 'error-text' as const, value: result.error }
  const { value } = result
  return { type: 'text' as const, value: typeof value === 'string' ? value : JSON.stringify(value) }
}

/**
 * What a provider is given. Messages are kept in the form that it takes, so that nothing is done to the old ones, however
 * many there are.
 */
export function toPrompt({ instructions, messages }: ModelRequest): LanguageModelV4Message[] {
  const history = messages.filter((message) => message !== null) as unknown as Message[]
  return instructions ? [{ role: 'system', content: instructions }, ...history] : history
}

export const toFunctionTool = ({
  name,
  description,
  inputSchema,
}: ToolDeclaration): LanguageModelV4FunctionTool => ({ type: 'function', name, description, inputSchema })

/** A message as the engine keeps it: plain JSON that it does not look into. */
const json = (message: Message) => message as unknown as Json
