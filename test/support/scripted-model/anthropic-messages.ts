import { asText, type Format, pick, type Wire } from './format.ts'
import type { HistoryItem } from './recorded-request.ts'

const FINISH = {
  stop: 'end_turn',
  'tool-calls': 'tool_use',
  length: 'max_tokens',
  'content-filter': 'refusal',
}

/** Anthropic Messages API, POST /messages. */
export const anthropicMessages: Format = {
  path: /\/messages$/,

  decode(body) {
    return {
      instructions: (body.system ?? []).map((part: Wire) => part.text).join('\n'),
      history: body.messages.flatMap((message: Wire) =>
        message.content.map((part: Wire) => toItem(part, message.role)),
      ),
      tools: (body.tools ?? []).map((tool: Wire) => ({
        name: tool.name,
        description: tool.description,
        inputSchema: tool.input_schema,
      })),
      reasoning: pick(body, 'thinking', 'output_config'),
      maxOutputTokens: body.max_tokens ?? null,
    }
  },

  /** This format requires usage. */
  encode({ id, model, text, reasoning, calls, usage, finish }) {
    return {
      id: `msg_${id}`,
      type: 'message',
      role: 'assistant',
      model,
      content: [
        ...(reasoning ? [{ type: 'thinking', thinking: reasoning, signature: `signed ${reasoning}` }] : []),
        ...(text ? [{ type: 'text', text }] : []),
        ...calls.map((call) => ({ type: 'tool_use', id: call.id, name: call.name, input: call.input })),
      ],
      stop_reason: FINISH[finish],
      stop_sequence: null,
      usage: { input_tokens: usage?.inputTokens ?? 0, output_tokens: usage?.outputTokens ?? 0 },
    }
  },

  error: (_status, message, code) => ({
    headers: { 'request-id': 'req_1' },
    body: { type: 'error', error: { type: code, message }, request_id: 'req_1' },
  }),
}

function toItem(part: Wire, role: 'user' | 'assistant'): HistoryItem {
  switch (part.type) {
    case 'text':
      return { type: 'text', role, text: part.text }
    case 'thinking':
      return { type: 'reasoning', text: part.thinking, signature: part.signature }
    case 'tool_use':
      return { type: 'call', id: part.id, name: part.name, input: part.input }
    case 'tool_result':
      return {
        type: 'result',
        id: part.tool_use_id,
        output: asText(part.content),
        isError: part.is_error ?? false,
      }
    default:
      throw new Error(`Unknown content block type: ${part.type}`)
  }
}
