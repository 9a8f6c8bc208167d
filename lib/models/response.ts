import type { LanguageModelV4, LanguageModelV4Content } from '@ai-sdk/provider'
import { isJsonObject, type Json } from '../core/json.ts'
import { ModelError, type ModelResponse, type ToolCall, type ToolDeclaration } from '../core/model.ts'
import { readToolCall } from './tool-call.ts'

type Result = Awaited<ReturnType<LanguageModelV4['doGenerate']>>

type Context = { provider: string; tools: ToolDeclaration[] }

/** @throws ModelError when two calls have one id: their results could not be told apart. */
export function toResponse(result: Result, { provider, tools }: Context): ModelResponse {
  const { content, usage, finishReason } = result
  const calls = new Map<string, ToolCall>()
  for (const part of content) {
    if (part.type !== 'tool-call') continue
    if (calls.has(part.toolCallId)) {
      throw new ModelError(`${provider} gave two tool calls the same id.`, { isTransient: true })
    }
    calls.set(part.toolCallId, readToolCall(part, tools))
  }
  const toolCalls = [...calls.values()]
  return {
    messages: plain([...saidBy(content, calls), ...answersTo(toolCalls)]),
    text: content.map((part) => (part.type === 'text' ? part.text : '')).join(''),
    toolCalls,
    usage: { inputTokens: count(usage.inputTokens.total), outputTokens: count(usage.outputTokens.total) },
    finishReason: finishReason.unified,
  }
}

/**
 * What the provider wants back, each part with its proofs: signatures and encrypted thoughts. Other parts than these
 * come of services that are not asked for, and sources are not taken back.
 */
function saidBy(content: LanguageModelV4Content[], calls: Map<string, ToolCall>) {
  const parts = content.flatMap((part): object[] => {
    const { providerMetadata: providerOptions } = part
    switch (part.type) {
      case 'text':
        return part.text === '' ? [] : [{ type: 'text', text: part.text, providerOptions }]
      case 'reasoning':
        return [{ type: 'reasoning', text: part.text, providerOptions }]
      case 'tool-call': {
        const { type, toolCallId, toolName } = part
        const input = inputTakenBack(calls.get(toolCallId)?.input)
        return [{ type, toolCallId, toolName, input, providerOptions }]
      }
      default:
        return []
    }
  })
  return parts.length > 0 ? [{ role: 'assistant', content: parts }] : []
}

/** The model is told at once of calls that cannot be carried out. */
function answersTo(calls: ToolCall[]) {
  const content = calls.flatMap(({ id: toolCallId, name: toolName, error }) =>
    error === null
      ? []
      : [{ type: 'tool-result', toolCallId, toolName, output: { type: 'error-text', value: error } }],
  )
  return content.length > 0 ? [{ role: 'tool', content }] : []
}

/** Anthropic and Bedrock take back no other inputs than objects. */
const inputTakenBack = (input: Json | undefined) => (isJsonObject(input) ? input : {})

/** Without what is undefined, which no JSON has. */
const plain = (messages: object[]): Json[] => JSON.parse(JSON.stringify(messages))

const count = (tokens: number | undefined) =>
  Number.isFinite(tokens) ? Math.max(0, Math.trunc(tokens as number)) : 0
