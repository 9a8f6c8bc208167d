import type { generateText, ModelMessage, ToolSet } from 'ai'
import { isJsonObject, type Json } from '../core/json.ts'
import { type Model, ModelFault, type ModelResponse, type ToolDeclaration } from '../core/model.ts'

type Sdk = typeof import('ai')
type Step = Awaited<ReturnType<typeof generateText>>['finalStep']

export const userMessage: Model['userMessage'] = (text) => ({ role: 'user', content: text })

/** Leaves out the calls that could not be read: the SDK has answered them in the response's own messages. */
export const toolMessage: Model['toolMessage'] = (results) => {
  const content = results.flatMap(({ call, result }) =>
    call.error === null
      ? [{ type: 'tool-result', toolCallId: call.id, toolName: call.name, output: toOutput(result) }]
      : [],
  )
  return content.length > 0 ? { role: 'tool', content } : null
}

function toOutput(result: Parameters<Model['toolMessage']>[0][number]['result']): Json {
  if (!result.ok) return { type: 'error-text', value: result.error }
  return { type: typeof result.value === 'string' ? 'text' : 'json', value: result.value }
}

/** Tools without `execute`: the SDK hands out the calls and carries out none. */
export function toToolSet({ tool, jsonSchema }: Sdk, tools: ToolDeclaration[]): ToolSet {
  return Object.fromEntries(
    tools.map(({ name, description, inputSchema }) => [
      name,
      tool({
        description,
        inputSchema: jsonSchema(inputSchema, {
          validate: (value) =>
            isJsonObject(value)
              ? { success: true, value }
              : { success: false, error: new Error('The input of a tool is a JSON object.') },
        }),
      }),
    ]),
  )
}

/** @throws ModelFault when two calls have one id: their results could not be told apart. */
export function toResponse(step: Step, provider: string): ModelResponse {
  const invalid = new Set(step.toolCalls.flatMap((call) => (call.invalid ? [call.toolCallId] : [])))
  if (new Set(step.toolCalls.map((call) => call.toolCallId)).size < step.toolCalls.length) {
    throw new ModelFault(`${provider} gave two tool calls the same id.`, { isTransient: true })
  }
  return {
    messages: plain(step.response.messages.map((message) => withObjectInputs(message, invalid))) as Json[],
    text: step.text,
    toolCalls: step.toolCalls.map((call) => ({
      id: call.toolCallId,
      name: call.toolName,
      input: plain(call.input ?? null),
      error: call.invalid ? messageOf(call.error) : null,
    })),
    usage: { inputTokens: count(step.usage.inputTokens), outputTokens: count(step.usage.outputTokens) },
    finishReason: step.finishReason,
  }
}

/** Anthropic and Bedrock take back no other inputs than objects; the SDK mends strings and numbers only. */
function withObjectInputs(message: ModelMessage, invalid: Set<string>): ModelMessage {
  if (message.role !== 'assistant' || typeof message.content === 'string') return message
  const content = message.content.map((part) =>
    part.type === 'tool-call' && invalid.has(part.toolCallId) && !isJsonObject(part.input)
      ? { ...part, input: {} }
      : part,
  )
  return { ...message, content }
}

const plain = (value: unknown): Json => JSON.parse(JSON.stringify(value))

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

const count = (tokens: number | undefined) =>
  Number.isFinite(tokens) ? Math.max(0, Math.trunc(tokens as number)) : 0
