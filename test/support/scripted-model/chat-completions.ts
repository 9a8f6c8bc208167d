import type { JsonObject } from '../../../lib/core/json/json.ts'
import {
  asText,
  EVENT_STREAM,
  type Format,
  parsedOrText,
  pick,
  toDeltas,
  toEvent,
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
      tools: (body.tools ?? []).map((tool: Wire) => ({
        name: tool.function.name,
        description: tool.function.description,
        inputSchema: tool.function.parameters,
      })),
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
    return [
      chunk({ role: 'assistant', content: '' }),
      ...toDeltas(reasoning).map((reasoning_content) => chunk({ reasoning_content })),
      ...toDeltas(text).map((content) => chunk({ content })),
      ...toDeltas(refusal).map((part) => chunk({ refusal: part })),
      ...calls.flatMap((call, index) => [
        chunk({
          tool_calls: [
            { index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } },
          ],
        }),
        ...toDeltas(call.text).map((part) =>
          chunk({ tool_calls: [{ index, function: { arguments: part } }] }),
        ),
      ]),
      chunk({}, FINISH[finish]),
      ...(usage && request.stream_options?.include_usage
        ? [
            toEvent({
              ...head,
              choices: [],
              usage: toChatUsage(usage),
            }),
          ]
        : []),
      'data: [DONE]\n\n',
    ]
  },

  error: (_status, message, code) => ({
    headers: {},
    body: { error: { message, type: code, param: null, code } },
  }),

  streamError: (message, code) => toEvent({ error: { message, type: code, param: null, code } }),
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
    ...(message.tool_calls ?? []).map((call: Wire) => ({
      type: 'call',
      id: call.id,
      name: call.function.name,
      input: parsedOrText(call.function.arguments),
    })),
  ]
}
