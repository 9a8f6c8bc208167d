import type { JsonObject } from '../../../lib/core/json/json.ts'
import { asText, EVENT_STREAM, type Format, pick, toDeltas, toEvent, toTools, type Wire } from './format.ts'
import type { HistoryItem } from './recorded-request.ts'
import type { ScriptedSearch } from './turn.ts'
import { toAnthropicUsage } from './usage.ts'

const FINISH = {
  stop: 'end_turn',
  'tool-calls': 'tool_use',
  length: 'max_tokens',
  'content-filter': 'refusal',
}

const event = (data: JsonObject & { type: string }) => toEvent(data, data.type)

/** Anthropic Messages API, POST /messages. */
export const anthropicMessages: Format = {
  path: /\/messages$/,
  contentType: EVENT_STREAM,

  decode(body) {
    return {
      instructions: (body.system ?? []).map((part: Wire) => part.text).join('\n'),
      history: body.messages.flatMap((message: Wire) =>
        message.content.map((part: Wire) => toItem(part, message.role)),
      ),
      tools: toTools(body.tools, 'input_schema'),
      reasoning: pick(body, 'thinking', 'output_config'),
      maxOutputTokens: body.max_tokens ?? null,
      temperature: body.temperature ?? null,
      forcedTool: body.tool_choice?.name ?? null,
      responseSchema: body.output_config?.format?.schema ?? null,
    }
  },

  /** This format requires usage. */
  encode({ id, model, text, refusal, reasoning, calls, searches, usage, finish, stopReason }) {
    const { start, delta: total } = toAnthropicUsage(usage ?? { inputTokens: 0, outputTokens: 0 })
    const blocks: Block[] = [
      ...(reasoning ? [thinkingBlock(reasoning)] : []),
      ...searches.flatMap((search, index) => searchBlocks(search, `srvtoolu_${id}_${index + 1}`)),
      ...(text || refusal ? [textBlock(text || refusal)] : []),
      ...calls.map(({ text, ...call }) => callBlock({ type: 'tool_use', ...call }, text)),
    ]
    const message = { id: `msg_${id}`, type: 'message', role: 'assistant', model, content: [], usage: start }
    return [
      event({ type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null } }),
      event({ type: 'ping' }),
      ...blocks.flatMap(([content_block, deltas], index) => [
        event({ type: 'content_block_start', index, content_block }),
        ...deltas.map((delta) => event({ type: 'content_block_delta', index, delta })),
        event({ type: 'content_block_stop', index }),
      ]),
      event({
        type: 'message_delta',
        delta: { stop_reason: stopReason ?? (refusal ? 'refusal' : FINISH[finish]), stop_sequence: null },
        usage: total,
      }),
      event({ type: 'message_stop' }),
    ]
  },

  error: (_status, message, code) => ({
    headers: { 'request-id': 'req_1' },
    body: { type: 'error', error: { type: code, message }, request_id: 'req_1' },
  }),

  streamError: (message, code) => event({ type: 'error', error: { type: code, message } }),
}

type Block = [start: JsonObject, deltas: JsonObject[]]

function searchBlocks(search: ScriptedSearch, id: string): Block[] {
  const { query } = search
  const found = 'urls' in search ? search.urls : []
  const result = { type: 'web_search_result', title: `About ${query}`, page_age: null }
  const results = found.map((url) => ({ ...result, url, encrypted_content: `sealed ${url}` }))
  const content =
    'error' in search ? { type: 'web_search_tool_result_error', error_code: search.error } : results
  return [
    callBlock({ type: 'server_tool_use', id, name: 'web_search' }, JSON.stringify({ query })),
    [{ type: 'web_search_tool_result', tool_use_id: id, content }, []],
  ]
}

const callBlock = (call: JsonObject, text: string): Block => [
  { ...call, input: {} },
  toDeltas(text).map((partial_json) => ({ type: 'input_json_delta', partial_json })),
]

const textBlock = (text: string): Block => [
  { type: 'text', text: '' },
  toDeltas(text).map((text) => ({ type: 'text_delta', text })),
]

const thinkingBlock = (reasoning: string): Block => [
  { type: 'thinking', thinking: '', signature: '' },
  [
    ...toDeltas(reasoning).map((thinking) => ({ type: 'thinking_delta', thinking })),
    { type: 'signature_delta', signature: `signed ${reasoning}` },
  ],
]

function toItem(part: Wire, role: 'user' | 'assistant'): HistoryItem {
  switch (part.type) {
    case 'text':
      return { type: 'text', role, text: part.text }
    case 'image':
    case 'document':
      return { type: 'file', role: 'user', part }
    case 'thinking':
      return { type: 'reasoning', text: part.thinking, signature: part.signature }
    case 'tool_use':
      return { type: 'call', id: part.id, name: part.name, input: part.input }
    case 'tool_result': {
      const { tool_use_id: id, content, is_error: isError = false } = part
      return { type: 'result', id, output: asText(content), isError }
    }
    case 'server_tool_use':
    case 'web_search_tool_result':
      return { type: 'search', value: part }
    default:
      throw new Error(`Unknown content block type: ${part.type}`)
  }
}
