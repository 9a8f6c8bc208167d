import type { LanguageModelV4ToolCall } from '@ai-sdk/provider'
import { isJsonObject, type Json } from '../../core/json.ts'
import type { ToolCall, ToolDeclaration } from '../../core/model.ts'

/** Parses the input of a call. If the call is invalid, `error` is a message for the model. */
export function parseToolCall(
  { toolCallId: id, toolName: name, input: text }: LanguageModelV4ToolCall,
  tools: ToolDeclaration[],
): ToolCall {
  const parsed = parseInput(text)
  const input = 'value' in parsed ? parsed.value : text
  return { id, name, input, error: findError(name, parsed, text, tools) }
}

type Parsed = { value: Json } | { problem: string }

/** For a tool without inputs, models may send an empty text. */
function parseInput(text: string): Parsed {
  if (text.trim() === '') return { value: {} }
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    return { problem: (error as Error).message }
  }
}

function findError(name: string, parsed: Parsed, text: string, tools: ToolDeclaration[]): string | null {
  if (!tools.some((tool) => tool.name === name)) {
    const available = tools.map((tool) => tool.name).join(', ') || 'none'
    return `Unknown tool "${name}". Available tools: ${available}.`
  }
  if ('problem' in parsed)
    return `The input of the tool ${name} is invalid JSON: ${parsed.problem}. Received: ${text}`
  if (isJsonObject(parsed.value)) return null
  return `The input of the tool ${name} must be a JSON object. Received: ${text}`
}
