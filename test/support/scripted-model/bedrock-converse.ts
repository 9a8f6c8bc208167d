import { EventStreamCodec } from '@smithy/eventstream-codec'
import type { JsonObject } from '../../../lib/core/json/json.ts'
import { asText, type Format, toDeltas, type Wire } from './format.ts'
import type { HistoryItem } from './recorded-request.ts'
import { toBedrockUsage } from './usage.ts'

const FINISH = {
  stop: 'end_turn',
  'tool-calls': 'tool_use',
  length: 'max_tokens',
  'content-filter': 'guardrail_intervened',
}

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes).toString(),
  (text) => Buffer.from(text),
)

/** A message of an event stream: https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html */
function toMessage(kind: 'event' | 'exception', type: string, body: JsonObject): Uint8Array {
  const header = (value: string) => ({ type: 'string' as const, value })
  return codec.encode({
    headers: {
      [`:${kind}-type`]: header(type),
      ':content-type': header('application/json'),
      ':message-type': header(kind),
    },
    body: Buffer.from(JSON.stringify(body)),
  })
}

const event = (type: string, body: JsonObject) => toMessage('event', type, body)

/** Amazon Bedrock Converse API, POST /model/{modelId}/converse-stream. */
export const bedrockConverse: Format = {
  path: /\/model\/(.+)\/converse-stream$/,
  contentType: 'application/vnd.amazon.eventstream',

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
      temperature: body.inferenceConfig?.temperature ?? null,
      forcedTool: body.toolConfig?.toolChoice?.tool?.name ?? null,
      responseSchema: body.additionalModelRequestFields?.output_config?.format?.schema ?? null,
    }
  },

  /** This format requires usage. Only blocks of tool calls have a start. */
  encode({ text, refusal, reasoning, calls, usage, finish, stopReason }) {
    const blocks: [start: JsonObject | null, deltas: JsonObject[]][] = [
      ...(reasoning ? [reasoningBlock(reasoning)] : []),
      ...(text || refusal ? [textBlock(text || refusal)] : []),
      ...calls.map(({ id, name, text }): [JsonObject, JsonObject[]] => [
        { toolUse: { toolUseId: id, name } },
        toDeltas(text).map((input) => ({ toolUse: { input } })),
      ]),
    ]
    return [
      event('messageStart', { role: 'assistant' }),
      ...blocks.flatMap(([start, deltas], contentBlockIndex) => [
        ...(start ? [event('contentBlockStart', { contentBlockIndex, start })] : []),
        ...deltas.map((delta) => event('contentBlockDelta', { contentBlockIndex, delta })),
        event('contentBlockStop', { contentBlockIndex }),
      ]),
      event('messageStop', { stopReason: stopReason ?? (refusal ? 'content_filtered' : FINISH[finish]) }),
      event('metadata', {
        usage: toBedrockUsage(usage ?? { inputTokens: 0, outputTokens: 0 }),
        metrics: { latencyMs: 1 },
      }),
    ]
  },

  error: (_status, message, code) => ({
    headers: { 'x-amzn-errortype': `${code}:http://internal.amazon.com/coral/com.amazon.bedrock/` },
    body: { message },
  }),

  streamError: (message, code) => toMessage('exception', code, { message }),
}

const isContent = (part: Wire): boolean => part.cachePoint === undefined

const textBlock = (text: string): [null, JsonObject[]] => [null, toDeltas(text).map((text) => ({ text }))]

const reasoningBlock = (reasoning: string): [null, JsonObject[]] => [
  null,
  [
    ...toDeltas(reasoning).map((text) => ({ reasoningContent: { text } })),
    { reasoningContent: { signature: `signed ${reasoning}` } },
  ],
]

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
  if (part.image || part.document) return { type: 'file', role: 'user', part }
  const reasoning = part.reasoningContent?.reasoningText
  if (!reasoning) throw new Error(`Unknown content block: ${Object.keys(part).join(', ')}`)
  return { type: 'reasoning', text: reasoning.text, signature: reasoning.signature ?? null }
}
