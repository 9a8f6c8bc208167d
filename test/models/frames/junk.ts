import type { Chunk } from '../../support/scripted-model/format.ts'
import type { ScriptedProvider } from '../../support/scripted-model/recorded-request.ts'
import { FORMATS } from '../../support/scripted-model/start-scripted-model.ts'
import { completeResponse, type ScriptedResponse } from '../../support/scripted-model/turn.ts'
import { binary, message, sse } from './support.ts'

/** The frames of a response, as the provider sends them. */
export function framesOf(format: ScriptedProvider, response: ScriptedResponse, id = '1'): Chunk[] {
  const request = { stream_options: { include_usage: true } }
  return FORMATS[format].encode(completeResponse(response, id, 'model'), request)
}

export const chunk = (delta: object, finish_reason: unknown = null, index = 0) => ({
  choices: [{ index, delta, finish_reason }],
})

const EVENTS: [string, Chunk][] = [
  ['an empty data', 'data:\n\n'],
  ['an empty data with a space', 'data: \n\n'],
  ['an empty data with carriage returns', 'data: \r\n\r\n'],
  ['a comment', ': keep-alive\n\n'],
  ['a ping with JSON', 'event: ping\ndata: {"type": "ping"}\n\n'],
  ['a ping with a time', 'event: ping\ndata: {"timestamp": 1700000000}\n\n'],
  ['a ping with a text', 'event: ping\ndata: 2026-11-28 20:00:00+00:00\n\n'],
  ['an event without data', 'event: heartbeat\nid: 7\nretry: 100\n\n'],
]
const DATA: [string, unknown][] = [
  ['an empty object', {}],
  ['null', null],
  ['a number', 7],
  ['an empty list', []],
  ['an error that is none', { error: null }],
]
const events = (...frames: [string, unknown][]): [string, Chunk][] => [
  ...EVENTS,
  ...[...DATA, ...frames].map(([name, frame]): [string, Chunk] => [name, sse(frame)]),
]

const block = (type: string, part: object, index = 7) => ({ type: `content_block_${type}`, index, ...part })
const item = (type: string, part: object) => ({
  type: `response.output_item.${type}`,
  output_index: 9,
  ...part,
})
const CANVAS = { type: 'canvas' }

/** Frames that say nothing, which a server may send anywhere. */
export const JUNK: Record<ScriptedProvider, [string, Chunk][]> = {
  'openai-compatible': events(
    ['choices that are null', { choices: null }],
    ['a choice that is null', { choices: [null] }],
    ['no choices', { id: 'x', object: 'chat.completion.chunk' }],
    ['a usage without choices', { usage: { prompt_tokens: 100, completion_tokens: null } }],
    ['a usage that cannot be true', { usage: { prompt_tokens: 0, completion_tokens: -1 } }],
    ['another role', chunk({ role: 'model', content: '' })],
    ['a role that is null', chunk({ role: null, content: null })],
    ['members of other types', { ...chunk({}), id: 7, created: '1700000000', model: null, usage: 'none' }],
    ['another choice', chunk({ content: 'Or not.' }, 'stop', 1)],
    ['a delta that is null', { choices: [{ index: 0, delta: null, finish_reason: '' }] }],
    ['calls that are null', chunk({ tool_calls: [null], function_call: null, reasoning: {} })],
    ['an error that is null', { ...chunk({ content: '' }), error: null }],
  ),
  openai: events(
    ['a response without members', { type: 'response.created', response: {} }],
    ['a response of other types', { type: 'response.in_progress', response: { id: 7, created_at: 'now' } }],
    ['an unknown event', { type: 'response.reasoning_text.delta', delta: 'Hm.' }],
    ['an unknown item', item('added', { item: CANVAS })],
    ['the end of one', item('done', { item: CANVAS })],
    ['an item that is null', item('added', { item: null })],
    ['the end of an item that is null', item('done', { item: null })],
    ['a delta that is null', { type: 'response.output_text.delta', item_id: 'msg_9', delta: null }],
    ['an unknown annotation', { type: 'response.output_text.annotation.added', annotation: { type: 'x' } }],
  ),
  anthropic: events(
    ['a ping', { type: 'ping' }],
    ['an unknown event', { type: 'vertex_event', vertex: true }],
    ['an unknown block', block('start', { content_block: CANVAS })],
    ['a delta of one', block('delta', { delta: { type: 'canvas_delta', x: 1 } })],
    ['the end of one', block('stop', {})],
    ['a block that is null', block('start', { content_block: null })],
    ['a delta that is null', block('delta', { delta: null }, 0)],
    ['a usage of zeros', { type: 'message_delta', delta: {}, usage: { input_tokens: 0, output_tokens: 0 } }],
    ['a delta without usage', { type: 'message_delta', delta: { stop_reason: null } }],
  ),
  bedrock: [
    ...Object.entries({
      'an unknown event': { pingEvent: {} },
      'a start that is a number': { messageStart: 7 },
      'an event without members': { contentBlockDelta: {} },
      'an event that is null': { contentBlockStart: null },
      'a delta that is null': { contentBlockDelta: { contentBlockIndex: 7, delta: null } },
      'an unknown delta': { contentBlockDelta: { contentBlockIndex: 7, delta: { canvas: 1 } } },
      'a start of another type': { contentBlockStart: { contentBlockIndex: 7, start: { image: {} } } },
      'the end of one': { contentBlockStop: { contentBlockIndex: 7 } },
      'a usage of zeros': { metadata: { usage: { inputTokens: 0, outputTokens: 0 } } },
      'a usage that cannot be true': { metadata: { usage: { inputTokens: 0, outputTokens: -1 } } },
      'a metadata without usage': { metadata: { trace: 7, metrics: null } },
    }).map(([name, frame]): [string, Chunk] => [name, binary(frame)[0] ?? '']),
    ['an event that is no JSON', message('event', 'ping', '')],
    ['an initial response', message('event', 'initial-response', {})],
  ],
}
