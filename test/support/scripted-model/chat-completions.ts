import type { JsonObject } from '../../../lib/core/json/json.ts'
import {
  asText,
  EVENT_STREAM,
  type Format,
  openaiError,
  parsedOrText,
  pick,
  toDeltas,
  toEvent,
  toTools,
  type Wire,
} from './format.ts'
import type { HistoryItem } from './recorded-request.ts'
import { toChatUsage } from './usage.ts'

const FINISH = {
  stop: 'stop',
  'tool-calls': 'tool_calls',
  length: 'length',
  'content-filter': 'content_filter',
}

/** OpenAI Chat Completions API and compatible servers, POST /chat/completions. */
export const chatCompletions: Format = {
  path: /\/chat\/completions$/,
  contentType: EVENT_STREAM,

  decode(body) {
    const isSystem = (message: Wire) => message.role === 'system'
    return {
      instructions: body.messages
        .filter(isSystem)
        .map((message: Wire) => asText(message.content))
        .join('\n'),
      history: body.messages.filter((message: Wire) => !isSystem(message)).flatMap(toItems),
      tools: toTools(
        body.tools?.map((tool: Wire) => tool.function),
        'parameters',
      ),
      reasoning: pick(body, 'reasoning_effort'),
      maxOutputTokens: body.max_tokens ?? null,
      temperature: body.temperature ?? null,
      forcedTool: body.tool_choice?.function?.name ?? null,
      responseSchema: body.response_format?.json_schema?.schema ?? null,
    }
  },

  /** Usage only if the request asks for it, as at OpenAI. */
  encode({ id, model, text, refusal, reasoning, calls, usage, finish }, request) {
    const head = { id: `chatcmpl-${id}`, object: 'chat.completion.chunk', created: 1_700_000_000, model }
    const chunk = (delta: JsonObject, finish_reason: string | null = null) =>
      toEvent({ ...head, choices: [{ index: 0, delta, finish_reason }] })
    const hasUsage = usage && request.stream_options?.include_usage
    return [
      chunk({ role: 'assistant', content: '' }),
      ...toDeltas(reasoning).map((reasoning_content) => chunk({ reasoning_content })),
      ...toDeltas(text).map((content) => chunk({ content })),
      ...toDeltas(refusal).map((part) => chunk({ refusal: part })),
      ...calls
        .flatMap(({ id, name, text }, index): JsonObject[] => [
          { index, id, type: 'function', function: { name, arguments: '' } },
          ...toDeltas(text).map((part) => ({ index, function: { arguments: part } })),
        ])
        .map((call) => chunk({ tool_calls: [call] })),
      chunk({}, FINISH[finish]),
      ...(hasUsage ? [toEvent({ ...head, choices: [], usage: toChatUsage(usage) })] : []),
      'data: [DONE]\n\n',
    ]
  },

  error: openaiError,
  streamError: (message, code) => toEvent(openaiError(400, message, code).body),
}

function toItems(message: Wire): HistoryItem[] {
  if (message.role === 'tool') {
    return [{ type: 'result', id: message.tool_call_id, output: asText(message.content), isError: null }]
  }
  const { content, reasoning_content: reasoning } = message
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? [])
  const text = parts.map((part: Wire) => part.text ?? '').join('')
  const files = parts.filter((part: Wire) => part.type !== 'text')
  return [
    ...(reasoning ? [{ type: 'reasoning' as const, text: reasoning, signature: null }] : []),
    ...(text ? [{ type: 'text' as const, role: message.role, text }] : []),
    ...files.map((part: Wire) => ({ type: 'file', role: 'user', part })),
    ...(message.tool_calls ?? []).map(({ id, function: { name, arguments: input } }: Wire) => ({
      ...{ type: 'call', id, name, input: parsedOrText(input) },
    })),
  ]
}
