import type {
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4ToolCall,
  LanguageModelV4Usage,
} from '@ai-sdk/provider'
import { isJsonObject, type Json } from '../../core/json/json.ts'
import { parseModelJson } from '../../core/json/parse-json.ts'
import { MAX_CALLS_IN_RESPONSE } from '../../core/limits.ts'
import {
  FINAL_ANSWER,
  isRefused,
  isTruncated,
  ModelError,
  type ModelResponse,
  type ModelStopReason,
  type ToolCall,
  type ToolDeclaration,
} from '../../core/model.ts'
import type { Usage } from '../../core/model-usage.ts'
import { PROVIDERS, traitsOf } from '../providers/providers.ts'
import type { CollectedResponse } from './collect-stream.ts'

const NOT_EXECUTED = 'The call was not executed because the response is incomplete or was refused.'
/** Small models make hundreds. */
const TOO_MANY = `The call was not executed because ${MAX_CALLS_IN_RESPONSE} calls precede it. Make it again with the next response.`

type Estimate = () => Pick<Usage, 'inputTokens' | 'outputTokens'>

/** `estimate`: what the response used, if the provider does not report it. */
type Context = { provider: string; tools: ToolDeclaration[]; estimate: Estimate }

/** @throws ModelError if two calls have the same id, which makes their results ambiguous */
export function toResponse(result: CollectedResponse, { provider, tools, estimate }: Context): ModelResponse {
  const { content } = result
  const webSearches = countSearches(content)
  const usage = { ...toUsage(result.usage, estimate), ...(webSearches > 0 && { webSearches }) }
  const stopReason = toStopReason(result.finishReason)
  const isUsable = !isTruncated(stopReason) && !isRefused(stopReason)
  const calls = new Map<string, ToolCall>()
  for (const part of content) {
    if (part.type !== 'tool-call' || part.providerExecuted) continue
    if (calls.has(part.toolCallId)) {
      const message = `${provider} returned two tool calls with the same id.`
      throw new ModelError(message, { isTransient: true, usage })
    }
    const call = parseToolCall(part, tools)
    const isExcessive = calls.size >= MAX_CALLS_IN_RESPONSE && call.name !== FINAL_ANSWER
    const error = isUsable ? (call.error ?? (isExcessive ? TOO_MANY : null)) : NOT_EXECUTED
    calls.set(part.toolCallId, { ...call, error })
  }
  const toolCalls = [...calls.values()]
  return {
    messages: toJson([...toAssistantMessages(content, calls), ...toErrorMessages(toolCalls)]),
    text: content.map((part) => (part.type === 'text' ? part.text : '')).join(''),
    toolCalls,
    usage,
    stopReason,
    ...(result.finishReason.raw === PAUSED && { isPaused: true }),
  }
}

/** Anthropic's reason to stop in a long turn of tools that it executes. */
const PAUSED = 'pause_turn'

/** The searches of the web that a provider charges for: not those that failed, nor pages that the model opened. */
function countSearches(content: LanguageModelV4Content[]): number {
  const isSearch = (result: unknown) =>
    !isJsonObject(result) || !isJsonObject(result.action) || result.action.type === 'search'
  return content.filter((part) => part.type === 'tool-result' && !part.isError && isSearch(part.result))
    .length
}

/** Of all providers: a proxy in front of one may use the format of another. */
const STOP_REASONS: Record<string, ModelStopReason> = Object.assign(
  {},
  ...PROVIDERS.map((provider) => traitsOf(provider).stopReasons),
)

const toStopReason = ({ unified, raw }: LanguageModelV4FinishReason): ModelStopReason =>
  STOP_REASONS[raw ?? ''] ?? (unified === 'error' ? 'other' : unified)

/**
 * The parts to send back with the next request, with the provider's metadata (signatures, encrypted reasoning). Other
 * parts come from provider services that are not used here.
 */
function toAssistantMessages(content: LanguageModelV4Content[], calls: Map<string, ToolCall>) {
  const parts = content.flatMap((part): object[] => {
    const { providerMetadata: providerOptions } = part
    switch (part.type) {
      case 'text':
        return part.text === '' ? [] : [{ type: 'text', text: part.text, providerOptions }]
      case 'reasoning':
        return [{ type: 'reasoning', text: part.text, providerOptions }]
      case 'tool-call': {
        const { type, toolCallId, toolName } = part
        if (part.providerExecuted) {
          const { value = {} } = { ...parseInput(part.input) } as { value?: Json }
          return [{ type, toolCallId, toolName, input: value, providerExecuted: true, providerOptions }]
        }
        const input = toAcceptedInput(calls.get(toolCallId)?.input)
        return [{ type, toolCallId, toolName, input, providerOptions }]
      }
      case 'tool-result': {
        const { type, toolCallId, toolName, result, isError } = part
        const output = { type: isError ? 'error-json' : 'json', value: result }
        return [{ type, toolCallId, toolName, output, providerOptions }]
      }
      default:
        return []
    }
  })
  return parts.length > 0 ? [{ role: 'assistant', content: parts }] : []
}

/** The results of the calls that are invalid. */
function toErrorMessages(calls: ToolCall[]) {
  const content = calls.flatMap(({ id: toolCallId, name: toolName, error }) =>
    error === null
      ? []
      : [{ type: 'tool-result', toolCallId, toolName, output: { type: 'error-text', value: error } }],
  )
  return content.length > 0 ? [{ role: 'tool', content }] : []
}

/** In the history, Anthropic and Bedrock accept only objects as the input of a call. */
const toAcceptedInput = (input: Json | undefined) => (isJsonObject(input) ? input : {})

/** Removes undefined members. */
const toJson = (messages: object[]): Json[] => JSON.parse(JSON.stringify(messages))

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
    return { value: parseModelJson(text) }
  } catch (error) {
    return { problem: (error as Error).message }
  }
}

function findError(name: string, parsed: Parsed, text: string, tools: ToolDeclaration[]): string | null {
  if (!tools.some((tool) => tool.name === name)) {
    const available = tools.map((tool) => tool.name).join(', ') || 'none'
    return `Unknown tool "${name}". Available tools: ${available}.`
  }
  if ('problem' in parsed) return `The input of the tool ${name} ${parsed.problem}. Received: ${text}`
  if (isJsonObject(parsed.value)) return null
  return `The input of the tool ${name} must be a JSON object. Received: ${text}`
}

const COUNTS = ['cachedInputTokens', 'cacheWriteTokens', 'reasoningTokens'] as const

/** The paths of counts of all providers: a proxy in front of one may use the format of another. */
const PATHS = COUNTS.map((count) => ({
  count,
  paths: PROVIDERS.flatMap((provider) => traitsOf(provider).usage[count] ?? []),
}))

/**
 * What a response used, without its cost. Optional counts that the provider does not report are absent. Of the others,
 * one that is missing or cannot be true is estimated: no request has 0 input tokens, and no text 0 output tokens.
 */
function toUsage({ inputTokens, outputTokens, raw }: LanguageModelV4Usage, estimate: Estimate): Usage {
  const reported = PATHS.flatMap(({ count, paths }) => {
    const tokens = paths.map((path) => valueAt(raw, path)).find((value) => typeof value === 'number')
    return tokens === undefined ? [] : [[count, toCount(tokens)]]
  })
  const [input, output] = [toCount(inputTokens.total), toCount(outputTokens.total)]
  const estimated = input > 0 && output > 0 ? null : estimate()
  const counts = {
    inputTokens: input || (estimated?.inputTokens ?? 0),
    outputTokens: output || (estimated?.outputTokens ?? 0),
  }
  const isReported = counts.inputTokens === input && counts.outputTokens === output
  return { ...counts, ...Object.fromEntries(reported), ...(!isReported && { estimated: true }) }
}

const valueAt = (value: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((parent, name) => (isJsonObject(parent) ? parent[name] : undefined), value)

const toCount = (tokens: number | undefined): number =>
  Number.isFinite(tokens) ? Math.max(0, Math.trunc(tokens as number)) : 0
