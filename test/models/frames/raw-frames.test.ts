import { describe, expect, it } from 'vitest'
import type { Chunk } from '../../support/scripted-model/format.ts'
import type { ScriptedProvider } from '../../support/scripted-model/recorded-request.ts'
import { ADD } from '../support.ts'
import { binary, GET_WEATHER, message, respond, sse, summaryOf } from './support.ts'

/** Frames that contain a text of two pieces and a call of `add`, with junk anywhere; and frames that say nothing. */
type Case = { frames: (...junk: unknown[]) => Chunk[]; junk: [string, unknown][]; raw: [string, Chunk][] }

const CALL = { id: 'call_1', name: 'add', arguments: '{"a":1,"b":2}' }
const between = (frames: unknown[], junk: unknown[]) => [
  ...frames.flatMap((frame) => [...junk, frame]),
  ...junk,
]
const chunk = (delta: object, finish_reason: unknown = null) => ({
  choices: [{ index: 0, delta, finish_reason }],
})
const USAGE = { prompt_tokens: 100, completion_tokens: 7 }

const SSE_JUNK: [string, Chunk][] = [
  ['an empty data', 'data:\n\n'],
  ['an empty data with a space', 'data: \n\n'],
  ['a comment', ': keep-alive\n\n'],
  ['a ping with JSON', 'event: ping\ndata: {"type": "ping"}\n\n'],
  ['a ping with a time', 'event: ping\ndata: {"timestamp": 1700000000}\n\n'],
  ['a ping with a text', 'event: ping\ndata: 2026-11-28 20:00:00+00:00\n\n'],
  ['an event without data', 'event: heartbeat\nid: 7\nretry: 100\n\n'],
]
const JSON_JUNK: [string, unknown][] = [
  ['an empty object', {}],
  ['null', null],
  ['a number', 7],
  ['an empty list', []],
  ['an error that is none', { error: null }],
]

const CASES: Record<ScriptedProvider, Case> = {
  'openai-compatible': {
    frames: (...junk) => [
      sse(
        ...between(
          [
            chunk({ role: 'assistant', content: 'I ' }),
            chunk({ content: 'add.' }),
            chunk({
              tool_calls: [{ index: 0, id: CALL.id, function: { name: 'add', arguments: '{"a":1,' } }],
            }),
            chunk({ tool_calls: [{ index: 0, function: { arguments: '"b":2}' } }] }),
            chunk({}, 'tool_calls'),
            { choices: [], usage: USAGE },
          ],
          junk,
        ),
        '[DONE]',
      ),
    ],
    junk: [
      ...JSON_JUNK,
      ['choices that are null', { choices: null }],
      ['a choice that is null', { choices: [null] }],
      ['no choices', { id: 'x', object: 'chat.completion.chunk' }],
      ['a usage without choices', { usage: { ...USAGE, completion_tokens: null } }],
      ['another role', chunk({ role: 'model', content: '' })],
      ['a role that is null', chunk({ role: null, content: null })],
      ['members of other types', { ...chunk({}), id: 7, created: '1700000000', model: null, usage: 'none' }],
      ['another choice', { choices: [{ index: 1, delta: { content: 'Or not.' }, finish_reason: 'stop' }] }],
      ['a delta that is null', { choices: [{ index: 0, delta: null, finish_reason: '' }] }],
      ['calls that are null', chunk({ tool_calls: [null], function_call: null, reasoning: {} })],
      ['an error that is null', { ...chunk({ content: '' }), error: null }],
    ],
    raw: SSE_JUNK,
  },
  openai: {
    frames: (...junk) => [
      sse(
        ...between(
          [
            { type: 'response.created', response: { id: 'resp_1', created_at: 1, model: 'm' } },
            { type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'msg_1' } },
            { type: 'response.output_text.delta', output_index: 0, item_id: 'msg_1', delta: 'I ' },
            { type: 'response.output_text.delta', output_index: 0, item_id: 'msg_1', delta: 'add.' },
            { type: 'response.output_item.done', output_index: 0, item: { type: 'message', id: 'msg_1' } },
            {
              type: 'response.output_item.done',
              output_index: 1,
              item: {
                type: 'function_call',
                id: 'fc_1',
                call_id: CALL.id,
                status: 'completed',
                ...withoutId(CALL),
              },
            },
            { type: 'response.completed', response: { usage: { input_tokens: 100, output_tokens: 7 } } },
          ],
          junk,
        ),
      ),
    ],
    junk: [
      ...JSON_JUNK,
      ['a response without members', { type: 'response.created', response: {} }],
      ['a response of other types', { type: 'response.in_progress', response: { id: 7, created_at: 'now' } }],
      ['an unknown event', { type: 'response.reasoning_text.delta', delta: 'Hm.' }],
      ['an unknown item', { type: 'response.output_item.added', output_index: 9, item: { type: 'canvas' } }],
      ['the end of one', { type: 'response.output_item.done', output_index: 9, item: { type: 'canvas' } }],
      ['an item that is null', { type: 'response.output_item.added', output_index: 9, item: null }],
      ['a delta that is null', { type: 'response.output_text.delta', item_id: 'msg_9', delta: null }],
      ['an unknown annotation', { type: 'response.output_text.annotation.added', annotation: { type: 'x' } }],
    ],
    raw: SSE_JUNK,
  },
  anthropic: {
    frames: (...junk) => [
      sse(
        ...between(
          [
            {
              type: 'message_start',
              message: { id: 'msg_1', usage: { input_tokens: 100, output_tokens: 1 } },
            },
            { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
            { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'I ' } },
            { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'add.' } },
            { type: 'content_block_stop', index: 0 },
            {
              type: 'content_block_start',
              index: 1,
              content_block: { type: 'tool_use', id: CALL.id, name: 'add', input: {} },
            },
            {
              type: 'content_block_delta',
              index: 1,
              delta: { type: 'input_json_delta', partial_json: CALL.arguments },
            },
            { type: 'content_block_stop', index: 1 },
            { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 7 } },
            { type: 'message_stop' },
          ],
          junk,
        ),
      ),
    ],
    junk: [
      ...JSON_JUNK,
      ['a ping', { type: 'ping' }],
      ['an unknown event', { type: 'vertex_event', vertex: true }],
      ['an unknown block', { type: 'content_block_start', index: 7, content_block: { type: 'canvas' } }],
      ['a delta of one', { type: 'content_block_delta', index: 7, delta: { type: 'canvas_delta', x: 1 } }],
      ['the end of one', { type: 'content_block_stop', index: 7 }],
      ['a block that is null', { type: 'content_block_start', index: 7, content_block: null }],
      ['a delta that is null', { type: 'content_block_delta', index: 0, delta: null }],
      [
        'a usage of zeros',
        { type: 'message_delta', delta: {}, usage: { input_tokens: 0, output_tokens: 0 } },
      ],
      ['a delta without usage', { type: 'message_delta', delta: { stop_reason: null } }],
    ],
    raw: SSE_JUNK,
  },
  bedrock: {
    frames: (...junk) =>
      binary(
        ...(between(
          [
            { messageStart: { role: 'assistant' } },
            { contentBlockDelta: { contentBlockIndex: 0, delta: { text: 'I ' } } },
            { contentBlockDelta: { contentBlockIndex: 0, delta: { text: 'add.' } } },
            { contentBlockStop: { contentBlockIndex: 0 } },
            {
              contentBlockStart: {
                contentBlockIndex: 1,
                start: { toolUse: { toolUseId: CALL.id, name: 'add' } },
              },
            },
            { contentBlockDelta: { contentBlockIndex: 1, delta: { toolUse: { input: CALL.arguments } } } },
            { contentBlockStop: { contentBlockIndex: 1 } },
            { messageStop: { stopReason: 'tool_use' } },
            { metadata: { usage: { inputTokens: 100, outputTokens: 7, totalTokens: 107 } } },
          ],
          junk,
        ) as Record<string, unknown>[]),
      ),
    junk: [
      ['an unknown event', { pingEvent: {} }],
      ['an event without members', { contentBlockDelta: {} }],
      ['an event that is null', { contentBlockStart: null }],
      ['a delta that is null', { contentBlockDelta: { contentBlockIndex: 7, delta: null } }],
      ['an unknown delta', { contentBlockDelta: { contentBlockIndex: 7, delta: { canvas: 1 } } }],
      ['a start of another type', { contentBlockStart: { contentBlockIndex: 7, start: { image: {} } } }],
      ['the end of one', { contentBlockStop: { contentBlockIndex: 7 } }],
      ['a usage of zeros', { metadata: { usage: { inputTokens: 0, outputTokens: 0 } } }],
      ['a metadata without usage', { metadata: { trace: 7, metrics: null } }],
    ],
    raw: [
      ['an event that is no JSON', message('event', 'ping', '')],
      ['an initial response', message('event', 'initial-response', {})],
    ],
  },
}

function withoutId({ id: _, ...rest }: typeof CALL) {
  return rest
}

const EXPECTED = {
  text: 'I add.',
  calls: [{ name: 'add', input: { a: 1, b: 2 }, error: null }],
  usage: { inputTokens: 100, outputTokens: 7 },
  stopReason: 'tool-calls',
}

describe.each(Object.keys(CASES) as ScriptedProvider[])('a stream of %s', (format) => {
  const { frames, junk, raw } = CASES[format]

  it('is read', async () => {
    expect(summaryOf(await respond(format, { body: frames() }))).toEqual(EXPECTED)
  })

  it.each(junk)('may contain %s', async (_, frame) => {
    expect(summaryOf(await respond(format, { body: frames(frame) }))).toEqual(EXPECTED)
  })

  it.each(raw)('may begin and end with %s', async (_, bytes) => {
    expect(summaryOf(await respond(format, { body: [bytes, ...frames(), bytes] }))).toEqual(EXPECTED)
  })
})

const weather = { tools: [ADD, GET_WEATHER] }
const DONE = '[DONE]'
const call = (part: object, at: object = { index: 0 }) => chunk({ tool_calls: [{ ...at, ...part }] })

describe('chat completions', () => {
  it.each<[string, string, object]>([
    [
      'a text after the end',
      sse(chunk({ content: 'Yes.' }), chunk({}, 'stop'), DONE, chunk({ content: ' Or no.' }, 'length')),
      { text: 'Yes.', stopReason: 'stop' },
    ],
    [
      'arguments that are an object',
      sse(
        call({ id: 'c', function: { name: 'add', arguments: { a: 1, b: 2 } } }),
        chunk({}, 'tool_calls'),
        DONE,
      ),
      { toolCalls: [{ name: 'add', input: { a: 1, b: 2 }, error: null }] },
    ],
    [
      'a name in pieces',
      sse(
        call({ id: 'c', type: 'function', function: { name: 'get_', arguments: '' } }),
        call({ function: { name: 'weather', arguments: null } }),
        call({ function: { arguments: '{"a":1,' } }),
        call({ function: { arguments: '"b":2}' } }),
        chunk({}, 'tool_calls'),
        DONE,
      ),
      { toolCalls: [{ name: 'get_weather', input: { a: 1, b: 2 }, error: null }] },
    ],
    [
      'names that are repeated, of two calls',
      sse(
        call({ id: 'c', function: { name: 'add', arguments: '' } }),
        call({ id: 'c', function: { name: 'add', arguments: '{"a":1,' } }),
        call({ id: 'c', function: { name: 'add', arguments: '"b":2}' } }),
        call({ id: 'd', function: { name: 'get_weather' } }, { index: 1 }),
        call({ id: 'd', function: { name: 'get_weather', arguments: '' } }, { index: 1 }),
        chunk({}, 'tool_calls'),
        DONE,
      ),
      {
        toolCalls: [
          { id: 'c', name: 'add', input: { a: 1, b: 2 } },
          { id: 'd', name: 'get_weather', input: {} },
        ],
      },
    ],
    [
      'a legacy call',
      sse(
        chunk({ function_call: { name: 'add', arguments: '' } }),
        chunk({ function_call: { arguments: '{"a":1,"b":2}' } }),
        chunk({}, 'function_call'),
        DONE,
      ),
      { toolCalls: [{ name: 'add', input: { a: 1, b: 2 }, error: null }], stopReason: 'tool-calls' },
    ],
    [
      'ids and indexes of other types',
      sse(
        call({ id: 7, function: { name: 'add', arguments: '{"a":1,' } }, { index: '0' }),
        call({ function: { arguments: '"b":2}' } }, { index: '0' }),
        chunk({}, 'tool_calls'),
        DONE,
      ),
      { toolCalls: [{ id: '7', input: { a: 1, b: 2 } }] },
    ],
    [
      'its parts in a list',
      sse(chunk({ content: [{ type: 'text', text: 'Yes' }, null, '.'] }), chunk({}, 'stop'), DONE),
      { text: 'Yes.' },
    ],
    [
      'no empty line at its end',
      sse(chunk({ content: 'Yes.' }), chunk({}, 'stop')).trimEnd(),
      { text: 'Yes.' },
    ],
    [
      'carriage returns',
      sse(chunk({ content: 'Yes.' }), chunk({}, 'stop'), DONE).replaceAll('\n', '\r\n'),
      { text: 'Yes.' },
    ],
    [
      'one line for each frame',
      sse(chunk({ content: 'Yes.' }), chunk({}, 'stop'), DONE).replaceAll('\n\n', '\n'),
      { text: 'Yes.' },
    ],
  ])('may have %s', async (_, body, expected) => {
    expect(await respond('openai-compatible', { body }, weather)).toMatchObject(expected)
  })

  it('omits the text of an unknown block', async () => {
    const body = sse(
      { type: 'message_start', message: {} },
      { type: 'content_block_start', index: 0, content_block: { type: 'canvas' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Or not.' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Yes.' } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
      { type: 'message_stop' },
    )
    expect(await respond('anthropic', { body, holds: true })).toMatchObject({ text: 'Yes.' })
  })

  it('ends with its mark, although the server holds the connection', async () => {
    const body = sse(chunk({ content: 'Yes.' }), chunk({}, 'stop'), DONE)
    expect(await respond('openai-compatible', { body, holds: true })).toMatchObject({ text: 'Yes.' })
  })

  it('is not complete without a reason to finish', async () => {
    const responding = respond('openai-compatible', { body: sse(chunk({ content: 'Cut' }, '')) })
    await expect(responding).rejects.toMatchObject({ isTransient: true, message: /ended its response early/ })
  })
})

describe('messages', () => {
  const start = {
    type: 'message_start',
    message: { id: 'm', usage: { input_tokens: 1_000, output_tokens: 1 } },
  }
  const block = (content_block: object, index: unknown = 0) => ({
    type: 'content_block_start',
    index,
    content_block,
  })
  const delta = (part: object, index: unknown = 0) => ({ type: 'content_block_delta', index, delta: part })
  const end = (usage: unknown = { output_tokens: 5 }, stop_reason = 'end_turn') => [
    { type: 'message_delta', delta: { stop_reason }, usage },
    { type: 'message_stop' },
  ]
  const text = { type: 'text', text: '' }
  const yes = { type: 'text_delta', text: 'Yes.' }

  it.each<[string, unknown[], object]>([
    [
      'no usage at its start',
      [{ type: 'message_start', message: {} }, block(text), delta(yes), ...end()],
      { text: 'Yes.' },
    ],
    [
      'a second usage with zeros',
      [start, block(text), delta(yes), ...end({ input_tokens: 0, output_tokens: 5 })],
      { usage: { inputTokens: 1_000, outputTokens: 5 } },
    ],
    [
      'its input at its end',
      [
        { ...start, message: { usage: { input_tokens: 0 } } },
        block(text),
        delta(yes),
        ...end({ input_tokens: 11, output_tokens: 5 }),
      ],
      { usage: { inputTokens: 11, outputTokens: 5 } },
    ],
    [
      'a text at the start of its block',
      [start, block({ ...text, text: 'Yes' }), delta({ ...yes, text: '.' }), ...end()],
      { text: 'Yes.' },
    ],
    ['no start of its block', [start, delta(yes), ...end()], { text: 'Yes.' }],
    [
      'an input at the start of a call, without an end',
      [
        start,
        block({ type: 'tool_use', id: 'c', name: 'add', input: { a: 1, b: 2 } }, '0'),
        ...end({}, 'tool_use'),
      ],
      { toolCalls: [{ id: 'c', name: 'add', input: { a: 1, b: 2 }, error: null }] },
    ],
    [
      'an input that is an object',
      [
        start,
        block({ type: 'tool_use', id: 'c', name: 'add', input: null }),
        delta({ type: 'input_json_delta', partial_json: { a: 1, b: 2 } }),
        ...end(null, 'tool_use'),
      ],
      { toolCalls: [{ id: 'c', name: 'add', input: { a: 1, b: 2 }, error: null }] },
    ],
  ])('may have %s', async (_, frames, expected) => {
    expect(await respond('anthropic', { body: sse(...frames) })).toMatchObject(expected)
  })
})

describe('responses', () => {
  const completed = (response: object = {}) => ({ type: 'response.completed', response })
  const yes = { type: 'response.output_text.delta', output_index: 0, item_id: 'm', delta: 'Yes.' }
  const item = { type: 'function_call', call_id: 'c', name: 'add', arguments: { a: 1, b: 2 } }

  it.each<[string, unknown[], object]>([
    ['no start of its text', [yes, completed()], { text: 'Yes.' }],
    [
      'its output in its last event only',
      [completed({ output: [{ type: 'message', content: [{ type: 'output_text', text: 'Yes.' }] }, item] })],
      { text: 'Yes.', toolCalls: [{ id: 'c', name: 'add', input: { a: 1, b: 2 }, error: null }] },
    ],
    [
      'a call without an id, a status and an end',
      [
        { type: 'response.output_item.added', output_index: 0, item: { ...item, arguments: '' } },
        { type: 'response.function_call_arguments.delta', output_index: 0, delta: '{"a":1,' },
        { type: 'response.function_call_arguments.delta', output_index: 0, delta: '"b":2}' },
        completed({ usage: null }),
      ],
      { toolCalls: [{ id: 'c', name: 'add', input: { a: 1, b: 2 }, error: null }], stopReason: 'tool-calls' },
    ],
    [
      'one index for all of its items',
      [
        { type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'm' } },
        yes,
        { type: 'response.output_item.done', output_index: 0, item: { type: 'message', id: 'm' } },
        { type: 'response.output_item.added', output_index: 0, item: { ...item, id: 'f', arguments: '' } },
        { type: 'response.output_item.done', output_index: 0, item: { ...item, id: 'f' } },
        completed(),
      ],
      { text: 'Yes.', toolCalls: [{ id: 'c', name: 'add', input: { a: 1, b: 2 }, error: null }] },
    ],
    [
      'counts that are texts',
      [yes, completed({ usage: { input_tokens: '100', output_tokens: 7, total_tokens: null } })],
      { usage: { inputTokens: 100, outputTokens: 7 } },
    ],
  ])('may have %s', async (_, frames, expected) => {
    expect(await respond('openai', { body: sse(...frames) })).toMatchObject(expected)
  })

  it('may name the type of an event only before its data', async () => {
    const body = `event: response.output_text.delta\ndata: {"delta": "Yes."}\n\nevent: response.completed\ndata: {}\n\n`
    expect(await respond('openai', { body })).toMatchObject({ text: 'Yes.' })
  })
})

describe('converse', () => {
  const yes = { contentBlockDelta: { delta: { text: 'Yes.' } } }
  const stop = (stopReason = 'end_turn') => ({ messageStop: { stopReason } })

  it.each<[string, Record<string, unknown>[], object]>([
    [
      'no indexes and no usage',
      [yes, stop(), { metadata: { usage: null } }],
      { text: 'Yes.', usage: { estimated: true } },
    ],
    [
      'an input that is an object, without an end',
      [
        { contentBlockStart: { contentBlockIndex: 0, start: { toolUse: { toolUseId: 'c', name: 'add' } } } },
        { contentBlockDelta: { contentBlockIndex: 0, delta: { toolUse: { input: { a: 1, b: 2 } } } } },
        stop('tool_use'),
        { metadata: { usage: { inputTokens: 100, outputTokens: '7' } } },
      ],
      {
        toolCalls: [{ id: 'c', name: 'add', input: { a: 1, b: 2 }, error: null }],
        usage: { inputTokens: 100, outputTokens: 7 },
      },
    ],
  ])('may have %s', async (_, frames, expected) => {
    expect(await respond('bedrock', { body: binary(...frames) })).toMatchObject(expected)
  })
})

const TEXT = 'The GPU fell off the bus.'
const bodies = (code: string, status: number) => [
  { error: { message: TEXT, type: code, code } },
  { error: { message: TEXT, code: status } },
  { error: { message: TEXT, code: String(status) } },
  { object: 'error', message: TEXT, type: code, code: status },
  { error: { error: { message: TEXT, type: code } } },
  { type: 'error', error: { type: code, message: TEXT } },
  { error: TEXT, code },
  { error: true, message: TEXT, status: status },
]

describe.each(['openai-compatible', 'openai', 'anthropic'] as const)(
  'an error in a stream of %s',
  (format) => {
    it.each([
      ...bodies('server_error', 503).map((frame) => [true, frame] as const),
      ...bodies('overloaded_error', 529).map((frame) => [true, frame] as const),
      ...bodies('invalid_request_error', 400).map((frame) => [false, frame] as const),
      ...bodies('BadRequestError', 422).map((frame) => [false, frame] as const),
      [true, { error: TEXT }] as const,
      [true, { detail: TEXT }] as const,
      [true, { message: TEXT }] as const,
      [true, [{ error: { code: 503, message: TEXT, status: 'UNAVAILABLE' } }]] as const,
    ])('is transient: %s, and keeps its text: %j', async (isTransient, frame) => {
      const error = { isTransient, message: expect.stringContaining(TEXT) }
      await expect(respond(format, { body: sse(frame) })).rejects.toMatchObject(error)
      const body = [...CASES[format].frames().map((bytes) => bytes.slice(0, 300)), '\n\n', sse(frame)]
      const [first = '', ...rest] = body as string[]
      const late = [first.slice(0, first.lastIndexOf('\n\n')), ...rest]
      await expect(respond(format, { body: late })).rejects.toMatchObject(error)
    })

    it.each([
      `event: error\ndata: ${TEXT}\n\n`,
      `event: error\ndata: {"message": "${TEXT}"}\n\n`,
      `error: {"code": 500, "message": "${TEXT}", "type": "server_error"}\n\n`,
      `data: Internal error: ${TEXT}\n\n`,
    ])('keeps its text: %j', async (body) => {
      await expect(respond(format, { body })).rejects.toMatchObject({
        isTransient: true,
        message: expect.stringContaining(TEXT),
      })
    })

    it('is recognized as an overflow', async () => {
      const message = "The input (61709 tokens) is longer than the model's context length (40960 tokens)."
      const body = sse({ object: 'error', message, type: 'BadRequestError', param: null, code: 400 })
      await expect(respond(format, { body })).rejects.toMatchObject({ isOverflow: true, isTransient: false })
    })
  },
)

describe('an error in a stream of bedrock', () => {
  it.each([
    ['throttlingException', true],
    ['modelTimeoutException', true],
    ['validationException', false],
    ['accessDeniedException', false],
  ])('keeps its text: %s', async (type, isTransient) => {
    const body = [...binary({ messageStart: {} }), message('exception', type, { message: TEXT })]
    const error = { isTransient, message: expect.stringContaining(TEXT) }
    await expect(respond('bedrock', { body })).rejects.toMatchObject(error)
  })
})

describe('a response that is not a stream', () => {
  const CHAT = {
    choices: [
      {
        index: 0,
        message: {
          role: 'model',
          reasoning_content: 'Let me see.',
          content: 'I add.',
          tool_calls: [{ id: 7, function: { name: 'add', arguments: { a: 1, b: 2 } } }, null],
          function_call: null,
        },
        finish_reason: 'tool_calls',
      },
      { index: 1, message: { content: 'Or not.' } },
    ],
    created: '1700000000',
    usage: { prompt_tokens: 100, completion_tokens: 7, total_tokens: null },
  }
  const MESSAGE = {
    content: [
      { type: 'thinking', thinking: 'Let me see.', signature: 'signed' },
      { type: 'text', text: 'I add.' },
      { type: 'canvas' },
      null,
      { type: 'tool_use', id: 'c', name: 'add', input: { a: 1, b: 2 } },
    ],
    role: null,
    stop_reason: 'tool_use',
    usage: { input_tokens: 100, output_tokens: 7, cache_read_input_tokens: null },
  }
  const RESPONSE = {
    output: [
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Let me see.' }] },
      { type: 'message', content: [{ type: 'output_text', text: 'I add.' }] },
      { type: 'canvas' },
      { type: 'function_call', call_id: 'c', name: 'add', arguments: { a: 1, b: 2 } },
    ],
    usage: { input_tokens: 100, output_tokens: 7, total_tokens: 107, input_tokens_details: null },
  }
  const CONVERSE = {
    output: {
      message: {
        content: [
          { reasoningContent: { reasoningText: { text: 'Let me see.', signature: 'signed' } } },
          { text: 'I add.' },
          { canvas: {} },
          { toolUse: { toolUseId: 'c', name: 'add', input: { a: 1, b: 2 } } },
        ],
      },
    },
    stopReason: 'tool_use',
    usage: { inputTokens: 100, outputTokens: 7 },
  }
  const WHOLE = { 'openai-compatible': CHAT, anthropic: MESSAGE, openai: RESPONSE, bedrock: CONVERSE }

  it.each(
    Object.entries(WHOLE).flatMap(([format, body]) =>
      ['application/json', 'text/event-stream', 'text/plain'].map((type) => [format, type, body] as const),
    ),
  )('is read: %s as %s', async (format, contentType, whole) => {
    const body = `\n ${JSON.stringify(whole, null, 2)}`
    const response = await respond(format as ScriptedProvider, { body, contentType })
    expect(summaryOf(response)).toEqual(EXPECTED)
    expect(JSON.stringify(response.messages)).toContain('Let me see.')
  })

  it.each(Object.entries(WHOLE))('has no part that is missing: %s', async (format, whole) => {
    const body = JSON.stringify(whole).slice(0, -40)
    const responding = respond(format as ScriptedProvider, { body, contentType: 'application/json' })
    await expect(responding).rejects.toMatchObject({
      isTransient: true,
      message: expect.stringContaining('in an unknown format'),
    })
  })

  it('may be a stream with another content type', async () => {
    const { frames } = CASES['openai-compatible']
    const response = await respond('openai-compatible', { body: frames(), contentType: 'application/json' })
    expect(summaryOf(response)).toEqual(EXPECTED)
  })

  it('keeps the digits of numbers, which are an error of the call', async () => {
    const body = JSON.stringify(MESSAGE).replace('"a":1', '"a":7615917337495251231')
    const { toolCalls } = await respond('anthropic', { body })
    expect(toolCalls[0]?.error).toContain('contains a number with more digits')
  })
})
