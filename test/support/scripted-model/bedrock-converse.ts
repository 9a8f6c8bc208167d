import { asText, type Format, type Wire } from './format.ts'
import type { HistoryItem } from './recorded-request.ts'

const FINISH = {
  stop: 'end_turn',
  'tool-calls': 'tool_use',
  length: 'max_tokens',
  'content-filter': 'guardrail_intervened',
}

/** Amazon Bedrock Converse API, POST /model/{modelId}/converse. */
export const bedrockConverse: Format = {
  path: /\/model\/([^/]+)\/converse$/,

  decode(body) {
    return {
      instructions: (body.system ?? [])
        .filter(isContent)
        .map((part: Wire) => part.text)
        .join('\n'),
      history: body.messages.flatMap((message: Wire) =>
        message.content.filter(isContent).map((part: Wire) => toItem(part, message.role)),
      ),
      tools: (body.toolConfig?.tools ?? []).map(({ toolSpec }: Wire) => ({
        name: toolSpec.name,
        description: toolSpec.description,
        inputSchema: toolSpec.inputSchema.json,
      })),
      reasoning: body.additionalModelRequestFields ?? {},
      maxOutputTokens: body.inferenceConfig?.maxTokens ?? null,
    }
  },

  /** This format requires usage. */
  encode({ text, reasoning, calls, usage, finish }) {
    const { inputTokens, outputTokens } = usage ?? { inputTokens: 0, outputTokens: 0 }
    const reasoningBlock = {
      reasoningContent: { reasoningText: { text: reasoning, signature: `signed ${reasoning}` } },
    }
    return {
      output: {
        message: {
          role: 'assistant',
          content: [
            ...(reasoning ? [reasoningBlock] : []),
            ...(text ? [{ text }] : []),
            ...calls.map((call) => ({ toolUse: { toolUseId: call.id, name: call.name, input: call.input } })),
          ],
        },
      },
      stopReason: FINISH[finish],
      usage: { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens },
      metrics: { latencyMs: 1 },
    }
  },

  error: (_status, message, code) => ({
    headers: { 'x-amzn-errortype': `${code}:http://internal.amazon.com/coral/com.amazon.bedrock/` },
    body: { message },
  }),
}

const isContent = (part: Wire): boolean => part.cachePoint === undefined

function toItem(part: Wire, role: 'user' | 'assistant'): HistoryItem {
  if (part.text !== undefined) return { type: 'text', role, text: part.text }
  if (part.toolUse) {
    const { toolUseId: id, name, input } = part.toolUse
    return { type: 'call', id, name, input }
  }
  if (part.toolResult) {
    const { toolUseId: id, content, status } = part.toolResult
    const output = content.map((block: Wire) => block.text ?? asText(block.json)).join('')
    return { type: 'result', id, output, isError: status === undefined ? null : status === 'error' }
  }
  const reasoning = part.reasoningContent?.reasoningText
  if (!reasoning) throw new Error(`Unknown content block: ${Object.keys(part).join(', ')}`)
  return { type: 'reasoning', text: reasoning.text, signature: reasoning.signature ?? null }
}
