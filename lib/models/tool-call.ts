import type { LanguageModelV4ToolCall } from '@ai-sdk/provider'
import { isJsonObject, type Json } from '../core/json.ts'
import type { ToolCall, ToolDeclaration } from '../core/model.ts'

/** A call as the provider gave it, its input read; `error` is for the model, when it cannot be carried out. */
export function readToolCall(
  { toolCallId: id, toolName: name, input: text }: LanguageModelV4ToolCall,
  tools: ToolDeclaration[],
): ToolCall {
  const read = readInput(text)
  const input = 'value' in read ? read.value : text
  const error = tools.some((tool) => tool.name === name)
    ? problemOf(name, read, text)
    : `There is no tool "${name}". There are: ${tools.map((tool) => tool.name).join(', ') || 'none'}.`
  return { id, name, input, error }
}

type Read = { value: Json } | { problem: string }

/** Models give no text at all to a tool that needs no input. */
function readInput(text: string): Read {
  if (text.trim() === '') return { value: {} }
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    return { problem: (error as Error).message }
  }
}

function problemOf(name: string, read: Read, text: string): string | null {
  if ('problem' in read) return `The input of the tool ${name} is not JSON: ${read.problem}. It was: ${text}`
  return isJsonObject(read.value) ? null : `The input of the tool ${name} is no JSON object. It was: ${text}`
}
