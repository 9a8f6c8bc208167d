import { asText, type Format, parsedOrText, pick, type Wire } from './format.ts'
import type { HistoryItem } from './recorded-request.ts'

/** OpenAI Responses API, POST /responses. */
export const openaiResponses: Format = {
  path: /\/responses$/,

  decode(body) {
    const isSystem = (item: Wire) => item.role === 'system' || item.role === 'developer'
    return {
      instructions: body.input
        .filter(isSystem)
        .map((item: Wire) => asText(item.content))
        .join('\n'),
      history: body.input.filter((item: Wire) => !isSystem(item)).map(toItem),
      tools: (body.tools ?? []).map((tool: Wire) => ({
        name: tool.name,
        description: tool.description,
        inputSchema: tool.parameters,
      })),
      reasoning: pick(body, 'reasoning'),
      maxOutputTokens: body.max_output_tokens ?? null,
    }
  },

  encode({ id, model, text, reasoning, calls, usage, finish }) {
    const reasoningItem = {
      type: 'reasoning',
      id: `rs_${id}`,
      encrypted_content: `sealed ${reasoning}`,
      summary: [{ type: 'summary_text', text: reasoning }],
    }
    const message = {
      type: 'message',
      role: 'assistant',
      id: `msg_${id}`,
      content: [{ type: 'output_text', text, annotations: [] }],
    }
    const functionCalls = calls.map((call) => ({
      type: 'function_call',
      id: `fc_${call.id}`,
      call_id: call.id,
      name: call.name,
      arguments: call.text,
    }))
    const incompleteReason = {
      length: 'max_output_tokens',
      'content-filter': 'content_filter',
      stop: null,
      'tool-calls': null,
    }[finish]
    return {
      id: `resp_${id}`,
      object: 'response',
      created_at: 1_700_000_000,
      status: incompleteReason ? 'incomplete' : 'completed',
      model,
      output: [...(reasoning ? [reasoningItem] : []), ...(text ? [message] : []), ...functionCalls],
      incomplete_details: incompleteReason && { reason: incompleteReason },
      usage: usage && { input_tokens: usage.inputTokens, output_tokens: usage.outputTokens },
    }
  },

  error: (_status, message, code) => ({
    headers: {},
    body: { error: { message, type: code, param: null, code } },
  }),
}

function toItem(item: Wire): HistoryItem {
  switch (item.type) {
    case 'function_call':
      return { type: 'call', id: item.call_id, name: item.name, input: parsedOrText(item.arguments) }
    case 'function_call_output':
      return { type: 'result', id: item.call_id, output: asText(item.output), isError: null }
    case 'reasoning': {
      const text = item.summary.map((part: Wire) => part.text).join('')
      return { type: 'reasoning', text, signature: item.encrypted_content ?? null }
    }
    case undefined:
    case 'message': {
      const { content } = item
      const text = typeof content === 'string' ? content : content.map((part: Wire) => part.text).join('')
      return { type: 'text', role: item.role, text }
    }
    default:
      throw new Error(`Unknown item type: ${item.type}`)
  }
}
