import { describe, expect, it } from 'vitest'
import type { ScriptedProvider } from '../../support/scripted-model/recorded-request.ts'
import { SCRIPTED_PROVIDERS } from '../../support/scripted-model/start-scripted-model.ts'
import { ADD } from '../support.ts'
import { chunk, framesOf, JUNK } from './junk.ts'
import { binary, message, respond, sse, summaryOf } from './support.ts'

const SCRIPTED = {
  text: 'I add.',
  calls: [{ id: 'call_1', name: 'add', input: { a: 1, b: 2 } }],
  usage: { inputTokens: 100, outputTokens: 7 },
}
const EXPECTED = {
  text: SCRIPTED.text,
  calls: [{ name: 'add', input: { a: 1, b: 2 }, error: null }],
  usage: SCRIPTED.usage,
  stopReason: 'tool-calls',
}

describe.each(SCRIPTED_PROVIDERS)('a stream of %s', (format) => {
  it.each(JUNK[format])('may contain %s', async (_, junk) => {
    const body = framesOf(format, SCRIPTED).flatMap((frame) => [junk, frame])
    expect(summaryOf(await respond(format, { body: [...body, junk] }))).toEqual(EXPECTED)
  })
})

const DONE = '[DONE]'
const YES = chunk({ content: 'Yes.' })
const STOP = [chunk({}, 'stop'), DONE]
const CALLS = [chunk({}, 'tool_calls'), DONE]
const call = (part: object, more: object = {}) =>
  chunk({ tool_calls: [{ index: 0, ...more, function: part }] })
const pieces = (more?: object) => [call({ arguments: '{"a":1,' }, more), call({ arguments: '"b":2}' }, more)]

const INPUT = { a: 1, b: 2 }
const ADDED = { toolCalls: [{ name: 'add', input: INPUT, error: null }] }
const ADDED_AS_C = { toolCalls: [{ id: 'c', ...ADDED.toolCalls[0] }] }

describe('chat completions', () => {
  it.each<[string, unknown[], object]>([
    [
      'a text after the end',
      [YES, ...STOP, chunk({ content: ' Or no.' }, 'length')],
      { text: 'Yes.', stopReason: 'stop' },
    ],
    ['arguments that are an object', [call({ name: 'add', arguments: INPUT }, { id: 'c' }), ...CALLS], ADDED],
    [
      'a name in pieces',
      [
        call({ name: 'get_', arguments: '' }, { id: 'c', type: 'function' }),
        call({ name: 'weather', arguments: null }),
        ...pieces(),
        ...CALLS,
      ],
      { toolCalls: [{ name: 'get_weather', input: INPUT, error: null }] },
    ],
    [
      'names that are repeated, of two calls',
      [
        ...['', '{"a":1,', '"b":2}'].map((text) => call({ name: 'add', arguments: text }, { id: 'c' })),
        call({ name: 'get_weather' }, { id: 'd', index: 1 }),
        call({ name: 'get_weather', arguments: '' }, { id: 'd', index: 1 }),
        ...CALLS,
      ],
      { toolCalls: [ADDED_AS_C.toolCalls[0], { id: 'd', name: 'get_weather', input: {} }] },
    ],
    [
      'a legacy call',
      [
        chunk({ function_call: { name: 'add', arguments: '' } }),
        chunk({ function_call: { arguments: '{"a":1,"b":2}' } }),
        chunk({}, 'function_call'),
        DONE,
      ],
      { ...ADDED, stopReason: 'tool-calls' },
    ],
    [
      'ids and indexes of other types',
      [call({ name: 'add' }, { id: 7, index: '0' }), ...pieces({ index: '0' }), ...CALLS],
      { toolCalls: [{ id: '7', input: INPUT }] },
    ],
    [
      'its parts in a list',
      [chunk({ content: [{ type: 'text', text: 'Yes' }, null, '.'] }), ...STOP],
      { text: 'Yes.' },
    ],
  ])('may have %s', async (_, frames, expected) => {
    const tools = [ADD, { ...ADD, name: 'get_weather' }]
    expect(await respond('openai-compatible', { body: sse(...frames) }, { tools })).toMatchObject(expected)
  })

  it.each([
    ['no empty line at its end', sse(YES, STOP[0]).trimEnd()],
    ['carriage returns', sse(YES, ...STOP).replaceAll('\n', '\r\n')],
    ['one line for each frame', sse(YES, ...STOP).replaceAll('\n\n', '\n')],
  ])('may have %s', async (_, body) => {
    expect(await respond('openai-compatible', { body })).toMatchObject({ text: 'Yes.' })
  })

  it('ends with its mark, although the server holds the connection', async () => {
    const body = sse(YES, ...STOP)
    expect(await respond('openai-compatible', { body, holds: true })).toMatchObject({ text: 'Yes.' })
  })

  it('is not complete without a reason to finish', async () => {
    const responding = respond('openai-compatible', { body: sse(chunk({ content: 'Cut' }, '')) })
    await expect(responding).rejects.toMatchObject({ isTransient: true, message: /ended its response early/ })
  })
})

describe('messages', () => {
  const startWith = (message: object) => ({ type: 'message_start', message })
  const start = startWith({ id: 'm', usage: { input_tokens: 1_000, output_tokens: 1 } })
  const block = (content_block: object, index: unknown = 0) => ({
    type: 'content_block_start',
    index,
    content_block,
  })
  const delta = (part: object, index = 0) => ({ type: 'content_block_delta', index, delta: part })
  const end = (usage: unknown = { output_tokens: 5 }, stop_reason = 'end_turn') => [
    { type: 'message_delta', delta: { stop_reason }, usage },
    { type: 'message_stop' },
  ]
  const text = { type: 'text', text: '' }
  const yes = { type: 'text_delta', text: 'Yes.' }
  const tool = { type: 'tool_use', id: 'c', name: 'add' }

  it.each<[string, unknown[], object]>([
    ['no usage at its start', [startWith({}), block(text), delta(yes), ...end()], { text: 'Yes.' }],
    [
      'a second usage with zeros',
      [start, block(text), delta(yes), ...end({ input_tokens: 0, output_tokens: 5 })],
      { usage: { inputTokens: 1_000, outputTokens: 5 } },
    ],
    [
      'its input at its end',
      [
        startWith({ usage: { input_tokens: 0 } }),
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
      'a block that is unknown, whose text is omitted',
      [
        startWith({}),
        block({ type: 'canvas' }),
        delta({ ...yes, text: 'Or not.' }),
        { type: 'content_block_stop', index: 0 },
        delta(yes, 1),
        ...end(),
      ],
      { text: 'Yes.' },
    ],
    [
      'an input at the start of a call, without an end',
      [start, block({ ...tool, input: INPUT }, '0'), ...end({}, 'tool_use')],
      ADDED_AS_C,
    ],
    [
      'an input that is an object',
      [
        start,
        block({ ...tool, input: null }),
        delta({ type: 'input_json_delta', partial_json: INPUT }),
        ...end(null, 'tool_use'),
      ],
      ADDED_AS_C,
    ],
  ])('may have %s', async (_, frames, expected) => {
    expect(await respond('anthropic', { body: sse(...frames), holds: true })).toMatchObject(expected)
  })
})

describe('responses', () => {
  const completed = (response: object = {}) => ({ type: 'response.completed', response })
  const itemOf = (event: string, item: object) => ({
    type: `response.output_item.${event}`,
    output_index: 0,
    item,
  })
  const yes = { type: 'response.output_text.delta', output_index: 0, item_id: 'm', delta: 'Yes.' }
  const item = { type: 'function_call', call_id: 'c', name: 'add', arguments: INPUT }
  const said = { type: 'message', id: 'm' }
  const argumentsDelta = { type: 'response.function_call_arguments.delta', output_index: 0 }

  it.each<[string, unknown[], object]>([
    ['no start of its text', [yes, completed()], { text: 'Yes.' }],
    [
      'its output in its last event only',
      [completed({ output: [{ type: 'message', content: [{ type: 'output_text', text: 'Yes.' }] }, item] })],
      { text: 'Yes.', ...ADDED_AS_C },
    ],
    [
      'a call without an id, a status and an end',
      [
        itemOf('added', { ...item, arguments: '' }),
        { ...argumentsDelta, delta: '{"a":1,' },
        { ...argumentsDelta, delta: '"b":2}' },
        completed({ usage: null }),
      ],
      { ...ADDED_AS_C, stopReason: 'tool-calls' },
    ],
    [
      'one index for all of its items',
      [
        itemOf('added', said),
        yes,
        itemOf('done', said),
        itemOf('added', { ...item, id: 'f', arguments: '' }),
        itemOf('done', { ...item, id: 'f' }),
        completed(),
      ],
      { text: 'Yes.', ...ADDED_AS_C },
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
  it.each<[string, Record<string, unknown>[], object]>([
    [
      'no indexes and no usage',
      [
        { contentBlockDelta: { delta: { text: 'Yes.' } } },
        { messageStop: { stopReason: 'end_turn' } },
        { metadata: { usage: null } },
      ],
      { text: 'Yes.', usage: { estimated: true } },
    ],
    [
      'an input that is an object, without an end',
      [
        { contentBlockStart: { contentBlockIndex: 0, start: { toolUse: { toolUseId: 'c', name: 'add' } } } },
        { contentBlockDelta: { contentBlockIndex: 0, delta: { toolUse: { input: INPUT } } } },
        { messageStop: { stopReason: 'tool_use' } },
        { metadata: { usage: { inputTokens: 100, outputTokens: '7' } } },
      ],
      { ...ADDED_AS_C, usage: { inputTokens: 100, outputTokens: 7 } },
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
      ...[
        ...bodies('server_error', 503),
        ...bodies('overloaded_error', 529),
        ...[{ error: TEXT }, { detail: TEXT }, { message: TEXT }],
        [{ error: { code: 503, message: TEXT, status: 'UNAVAILABLE' } }],
      ].map((frame) => [true, frame] as const),
      ...[...bodies('invalid_request_error', 400), ...bodies('BadRequestError', 422)].map(
        (frame) => [false, frame] as const,
      ),
    ])('is transient: %s, and keeps its text: %j', async (isTransient, frame) => {
      const error = { isTransient, message: expect.stringContaining(TEXT) }
      for (const begun of [[], framesOf(format, SCRIPTED).slice(0, 4)])
        await expect(respond(format, { body: [...begun, sse(frame)] })).rejects.toMatchObject(error)
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
    const body = framesOf('openai-compatible', SCRIPTED)
    const response = await respond('openai-compatible', { body, contentType: 'application/json' })
    expect(summaryOf(response)).toEqual(EXPECTED)
  })

  it('keeps the digits of numbers, which are an error of the call', async () => {
    const body = JSON.stringify(MESSAGE).replace('"a":1', '"a":7615917337495251231')
    const { toolCalls } = await respond('anthropic', { body })
    expect(toolCalls[0]?.error).toContain('contains a number with more digits')
  })
})
