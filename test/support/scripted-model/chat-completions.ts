import { asText, type Format, parsedOrText, pick, type Wire } from './format.ts'
import type { HistoryItem } from './recorded-request.ts'

const FINISH = {
  stop: 'stop',
  'tool-calls': 'tool_calls',
  length: 'length',
  'content-filter': 'content_filter',
}

/** OpenAI Chat Completions API and compatible servers, POST /chat/completions. */
export const chatCompletions: Format = {
  path: /\/chat\/completions$/,

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
    }
  },

  encode({ id, model, text, reasoning, calls, usage, finish }) {
    const toolCalls = calls.map((call) => ({
      id: call.id,
      type: 'function',
      function: { name: call.name, arguments: call.text },
    }))
    return {
      id: `chatcmpl-${id}`,
      object: 'chat.completion',
      created: 1_700_000_000,
      model,
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: text || null,
            ...(reasoning && { reasoning_content: reasoning }),
            ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
          },
          finish_reason: FINISH[finish],
        },
      ],
      ...(usage && {
        usage: {
          prompt_tokens: usage.inputTokens,
          completion_tokens: usage.outputTokens,
          total_tokens: usage.inputTokens + usage.outputTokens,
        },
      }),
    }
  },

  error: (_status, message, code) => ({
    headers: {},
    body: { error: { message, type: code, param: null, code } },
  }),
}

function toItems(message: Wire): HistoryItem[] {
  if (message.role === 'tool') {
    return [{ type: 'result', id: message.tool_call_id, output: asText(message.content), isError: null }]
  }
  const { content, reasoning_content: reasoning } = message
  const text = typeof content === 'string' ? content : (content ?? []).map((part: Wire) => part.text).join('')
  return [
    ...(reasoning ? [{ type: 'reasoning' as const, text: reasoning, signature: null }] : []),
    ...(text ? [{ type: 'text' as const, role: message.role, text }] : []),
    ...(message.tool_calls ?? []).map((call: Wire) => ({
      type: 'call',
      id: call.id,
      name: call.function.name,
      input: parsedOrText(call.function.arguments),
    })),
  ]
}
