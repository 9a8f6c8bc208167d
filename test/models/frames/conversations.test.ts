import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json } from '../../../lib/core/json/json.ts'
import { propertyRuns } from '../../support/data/property-runs.ts'
import type { Chunk } from '../../support/scripted-model/format.ts'
import type { ScriptedProvider } from '../../support/scripted-model/recorded-request.ts'
import { FORMATS, SCRIPTED_PROVIDERS } from '../../support/scripted-model/start-scripted-model.ts'
import { completeResponse, type ScriptedResponse } from '../../support/scripted-model/turn.ts'
import { requestOf } from '../support.ts'
import { binary, message, openRaw, sse, summaryOf } from './support.ts'

const STEPS = 10

/** Nine calls, and an answer. */
const RESPONSES = Array.from(
  { length: STEPS },
  (_, step): ScriptedResponse => ({
    reasoning: `Step ${step}.`,
    text: `I am at ${step}: ü€😀.`,
    calls: step < STEPS - 1 ? [{ id: `call_${step}`, name: 'add', input: { a: step, b: 2 } }] : [],
    usage: { inputTokens: 100 + step, outputTokens: 10 + step, cachedInputTokens: 7, reasoningTokens: 3 },
  }),
)

const EVENTS = [
  'data:\n\n',
  'data: \r\n\r\n',
  ': keep-alive\n\n',
  'event: ping\ndata: {"type": "ping"}\n\n',
  'event: ping\ndata: pong\n\n',
  'event: heartbeat\nid: 7\nretry: 100\n\n',
]
const FRAMES: Record<ScriptedProvider, Json[]> = {
  'openai-compatible': [
    { choices: null },
    { choices: [null] },
    { choices: [{ index: 1, delta: { content: 'Or not.' }, finish_reason: 'stop' }] },
    { choices: [{ index: 0, delta: { role: 'model', content: null }, finish_reason: null }] },
    { id: 7, created: 'now', usage: null, error: null },
    { usage: { prompt_tokens: 0, completion_tokens: -1 } },
  ],
  openai: [
    { type: 'response.queued', response: {} },
    { type: 'response.output_item.added', output_index: 99, item: { type: 'canvas' } },
    { type: 'response.output_item.done', output_index: 99, item: null },
    { type: 'response.output_text.delta', output_index: 99, delta: null },
  ],
  anthropic: [
    { type: 'vertex_event' },
    { type: 'content_block_start', index: 99, content_block: { type: 'canvas' } },
    { type: 'content_block_delta', index: 99, delta: { type: 'canvas_delta' } },
    { type: 'content_block_stop', index: 99 },
    { type: 'message_delta', delta: {}, usage: { input_tokens: 0, output_tokens: 0 } },
  ],
  bedrock: [],
}
const junkOf = (format: ScriptedProvider): Chunk[] =>
  format === 'bedrock'
    ? [
        ...binary({ ping: {} }, { contentBlockDelta: {} }, { contentBlockStart: null }, { messageStart: 7 }),
        ...binary({ contentBlockDelta: { contentBlockIndex: 99, delta: { canvas: 1 } } }),
        ...binary({ metadata: { usage: { inputTokens: 0, outputTokens: -1 } } }),
        message('event', 'ping', ''),
      ]
    : [...EVENTS, ...[{}, null, 7, [], ...FRAMES[format]].map((frame) => sse(frame))]

/** What the ten responses are, with junk before and after each of their frames. */
async function converse(format: ScriptedProvider, junk: Chunk[][]) {
  let drawn = 0
  const next = () => junk[drawn++ % junk.length] ?? []
  const bodies = RESPONSES.map((response, step) => {
    const request = { stream_options: { include_usage: true } }
    const chunks = FORMATS[format].encode(completeResponse(response, `${step}`, 'model'), request)
    return chunks.flatMap((chunk) => [...next(), chunk]).concat(next())
  })
  const { contentType } = FORMATS[format]
  const model = await openRaw(format, ...bodies.map((body) => ({ body, contentType })))
  const messages = [model.userMessage('What is 1 + 2?')]
  const summaries = []
  for (let step = 0; step < STEPS; step++) {
    const response = await model.respond(requestOf(model, { messages }))
    const results = response.toolCalls.map((call) => ({ call, result: { ok: true as const, value: step } }))
    messages.push(...response.messages)
    const result = model.toolMessage(results)
    if (result) messages.push(result)
    summaries.push(summaryOf(response))
  }
  return { summaries, reasoning: JSON.stringify(messages).match(/Step \d\./g) }
}

describe.each(SCRIPTED_PROVIDERS)('a conversation of ten steps with %s', (format) => {
  it('has the same results and usage with junk between the frames', async () => {
    const expected = await converse(format, [])
    expect(expected.summaries.map(({ text }) => text)).toEqual(RESPONSES.map(({ text }) => text))
    expect(new Set(expected.reasoning).size).toBe(STEPS)
    const junk = fc.array(fc.array(fc.constantFrom(...junkOf(format)), { maxLength: 3 }), { minLength: 1 })
    await fc.assert(
      fc.asyncProperty(junk, async (each) => {
        expect(await converse(format, each)).toEqual(expected)
      }),
      { numRuns: propertyRuns(50) },
    )
  })
})
