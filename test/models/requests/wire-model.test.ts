import { AwsV4Signer } from 'aws4fetch'
import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../lib/core/json/json.ts'
import type { ToolResult } from '../../../lib/core/model.ts'
import type { Provider } from '../../../lib/models/providers/providers.ts'
import { toJsonSchema } from '../../../lib/schema/field-map.ts'
import { PIXEL } from '../../support/data/files.ts'
import { KEY, SCRIPTED_PROVIDERS } from '../../support/scripted-model/start-scripted-model.ts'
import type { Script } from '../../support/scripted-model/turn.ts'
import { ADD, openScripted, requestOf, useScriptedModel } from '../support.ts'

const scripted = await useScriptedModel()

const text = { type: 'string' }
const SIZE = { name: 'size', description: ' ', inputSchema: toJsonSchema({ größe: { type: 'number' } }) }
const ANY = {
  name: 'any',
  description: 'Takes a or b.',
  inputSchema: {
    type: 'object',
    properties: { a: text, b: text },
    anyOf: [{ required: ['a'] }, { required: ['b'] }],
  },
}

/** A model whose id begins with a real one, so that rules for it apply. */
const open = (format: Provider, script: Script, family = 'script') =>
  openScripted(scripted, format, script, { family })

type Opened = Awaited<ReturnType<typeof open>>

const CALL = { name: 'add', input: { a: 1, b: 2 } }

/** Sends so many requests, each with the calls before it and this result of each. */
async function converse({ model }: Opened, count: number, result: ToolResult) {
  const messages: Json[] = [model.userMessage('?')]
  for (let step = 0; step < count; step++) {
    const { messages: said, toolCalls } = await model.respond(requestOf(model, { messages }))
    messages.push(...said, model.toolMessage(toolCalls.map((call) => ({ call, result }))))
  }
}

/** Sends a request, and a second one with the results of its calls. */
async function exchange({ model, requests }: Opened, tools: (typeof ADD)[], results: ToolResult[]) {
  const first = await model.respond(requestOf(model, { tools }))
  const pairs = first.toolCalls.map((call, i) => ({ call, result: results[i] ?? { ok: true, value: null } }))
  const messages = [model.userMessage('?'), ...first.messages, model.toolMessage(pairs)]
  await model.respond(requestOf(model, { tools, messages }))
  return { first, history: requests()[1]?.history ?? [], request: requests()[1] }
}

/** `ANY` in strict mode. */
const STRICT_ANY = {
  type: 'object',
  description: '(anyOf: [{"required":["a"]},{"required":["b"]}])',
  properties: { a: { type: ['string', 'null'] }, b: { type: ['string', 'null'] } },
  required: ['a', 'b'],
  additionalProperties: false,
}

describe.each(SCRIPTED_PROVIDERS)('a model of %s', (format) => {
  const isStrict = format === 'openai'

  it('receives renamed keys and wrapped schemas; calls have the declared names', async () => {
    const calls = [
      { name: 'size', input: { gro_e: 5 } },
      { name: 'any', input: { value: { b: 'x' } } },
      { name: 'size', raw: '{"gro_e": ' },
    ]
    const opened = await open(format, [{ calls }, { text: 'Done.' }])
    const { first, history } = await exchange(opened, [SIZE, ANY] as (typeof ADD)[], [])
    expect(first.toolCalls).toMatchObject([
      { input: { größe: 5 } },
      { input: { b: 'x' } },
      { error: expect.stringContaining('JSON') },
    ])
    const sent = opened.requests()[0]?.tools ?? []
    expect(sent.map(({ inputSchema }) => inputSchema)).toEqual([
      {
        type: 'object',
        properties: { gro_e: { type: 'number', description: 'größe' } },
        required: ['gro_e'],
        additionalProperties: false,
      },
      {
        type: 'object',
        properties: { value: isStrict ? STRICT_ANY : ANY.inputSchema },
        required: ['value'],
        additionalProperties: false,
      },
    ])
    expect(sent[0]?.description).toBeUndefined()
    const inputs = history.flatMap((item) => (item.type === 'call' ? [item.input] : []))
    expect(inputs.slice(0, 2)).toEqual([{ gro_e: 5 }, { value: { ...(isStrict && { a: null }), b: 'x' } }])
    expect(JSON.stringify(first.messages)).not.toContain('gro_e"')
  })

  it('receives no blank text', async () => {
    const opened = await open(format, [{ text: ' \n', calls: [CALL, CALL] }, { text: 'Done.' }])
    const blank: ToolResult[] = [
      { ok: true, value: '' },
      { ok: false, error: ' ' },
    ]
    const { history } = await exchange(opened, [ADD], blank)
    expect(history.filter(({ type }) => type === 'text')).toHaveLength(1)
    const outputs = history.flatMap((item) => (item.type === 'result' ? [item.output] : []))
    expect(outputs).toEqual(['(empty)', '(empty)'])
  })
})

const strictOf = (tools: Json | undefined): Json[] =>
  (tools as Record<string, JsonObject>[]).map(
    (tool) => (tool.toolSpec ?? tool.function ?? tool).strict ?? null,
  )

describe('strict', () => {
  const CLOSED = { ...ADD, name: 'closed', inputSchema: { ...ADD.inputSchema, additionalProperties: false } }
  it.each<[Provider, string, Json[]]>([
    ['openai', 'gpt-5', [true, true]],
    ['anthropic', 'claude-sonnet-4-5', [true, true]],
    ['anthropic', 'claude-3-haiku', [null, null]],
    ['bedrock', 'anthropic.claude-sonnet-4-5', [true, true]],
    ['bedrock', 'amazon.nova-lite', [null, null]],
    ['openai-compatible', 'qwen', [null, null]],
  ])('is used by %s/%s for all schemas', async (format, family, expected) => {
    const { model, requests } = await open(format, [{ text: 'Done.' }], family)
    await model.respond(requestOf(model, { tools: [CLOSED, ADD] as (typeof ADD)[] }))
    const { body } = requests()[0] ?? { body: {} as JsonObject }
    expect(strictOf(body.tools ?? (body.toolConfig as JsonObject).tools)).toEqual(expected)
  })

  it('is used for 20 tools of a request to Anthropic at most', async () => {
    const { model, requests } = await open('anthropic', [{ text: 'Done.' }], 'claude-sonnet-4-5')
    const tools = Array.from({ length: 30 }, (_, i) => ({ ...CLOSED, name: `tool_${i}` }))
    await model.respond(requestOf(model, { tools: tools as (typeof ADD)[] }))
    expect(strictOf(requests()[0]?.body.tools).filter((strict) => strict === true)).toHaveLength(20)
  })
})

describe('a failed tool call at Bedrock', () => {
  const results: ToolResult[] = [
    { ok: false, error: 'Too hard.' },
    { ok: true, value: 3 },
  ]

  it('has the status error, in a body with a valid signature', async () => {
    const opened = await open('bedrock', [{ calls: [CALL, CALL] }, { text: 'Done.' }])
    const { history, request } = await exchange(opened, [ADD], results)
    expect(history.slice(3)).toMatchObject([
      { output: 'Too hard.', isError: true },
      { output: '3', isError: null },
    ])
    const { headers = {}, body, model } = request ?? {}
    const signer = new AwsV4Signer({
      url: `${scripted.url}/bedrock/model/${encodeURIComponent(String(model))}/converse-stream`,
      method: 'POST',
      body: JSON.stringify(body),
      headers: Object.entries(headers).filter(
        ([name]) => name.startsWith('x-amz-') || name === 'user-agent' || name === 'content-type',
      ),
      datetime: String(headers['x-amz-date']),
      accessKeyId: 'AKIASCRIPTED',
      secretAccessKey: KEY,
      region: 'eu-central-1',
      service: 'bedrock',
    })
    expect((await signer.sign()).headers.get('authorization')).toBe(headers.authorization)
  })
})

describe('reasoning_content', () => {
  it.each([
    ['deepseek-v4', 2],
    ['moonshotai/kimi-k2', 2],
    ['zai/glm-4.6', 2],
    ['mistral-large', 0],
    ['qwen3:8b', 0],
  ])('is sent back to %s %i times', async (family, times) => {
    const calls = [CALL]
    const script = [{ reasoning: 'Hm.', calls }, { calls }, { text: 'Done.' }]
    const opened = await open('openai-compatible', script, family)
    await converse(opened, 3, { ok: true, value: 3 })
    const sent = (opened.requests()[2]?.body.messages ?? []) as JsonObject[]
    const echoed = sent.filter((message) => 'reasoning_content' in message)
    expect(echoed.map((message) => message.reasoning_content)).toEqual(['Hm.', ''].slice(0, times))
  })
})

const SOURCE = { type: 'base64', media_type: 'image/png', data: PIXEL }
const IMAGE_URL = { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } }

describe('an image in a tool result', () => {
  const photo: ToolResult = {
    ok: true,
    value: '[Image of type image/png, 70 bytes.]',
    images: [{ mediaType: 'image/png', data: PIXEL }],
  }

  it.each<[Provider, string, JsonObject | null]>([
    ['anthropic', 'claude-sonnet-4-5', { type: 'image', source: SOURCE }],
    ['bedrock', 'eu.anthropic.claude-sonnet-4-5', { image: { format: 'png', source: { bytes: PIXEL } } }],
    ['openai', 'gpt-5', { type: 'input_image', image_url: `data:image/png;base64,${PIXEL}` }],
    ['bedrock', 'eu.amazon.nova-micro', null],
    ['openai', 'gpt-3.5-turbo', null],
    ['openai-compatible', 'qwen3:8b', null],
    ['openai-compatible', 'gemma3:1b', null],
    ['openai-compatible', 'vllm/mistral-7b', null],
    ['openai-compatible', 'qwen3-vl:8b', IMAGE_URL],
    ['openai-compatible', 'gemma3:12b', IMAGE_URL],
    ['openai-compatible', 'gemma3:12b-01b', IMAGE_URL],
    ['openai-compatible', 'meta-llama/llama-4-scout', IMAGE_URL],
  ])('reaches %s/%s, or its description does', async (format, family, image) => {
    const opened = await open(format, [{ calls: [CALL] }, { text: 'Done.' }], family)
    const { request } = await exchange(opened, [ADD], [photo])
    const body = JSON.stringify(request?.body)
    expect(body).toContain('[Image of type image/png, 70 bytes.]')
    if (image) expect(body).toContain(JSON.stringify(image))
    else expect(body).not.toContain(PIXEL)
  })

  it('follows the last result of a response on an openai-compatible server', async () => {
    const calls = [CALL, { name: 'unknown', input: {} }, CALL]
    const opened = await open('openai-compatible', [{ calls }, { text: 'Done.' }], 'qwen3-vl')
    const { request } = await exchange(opened, [ADD], [photo, photo, photo])
    const messages = (request?.body.messages ?? []) as JsonObject[]
    expect(messages.map(({ role }) => role).join()).toBe('system,user,assistant,tool,tool,tool,user')
    expect(messages.at(-1)?.content).toMatchObject([
      { text: expect.stringMatching(/^Images in the result of add \(.+_1\):$/) },
      IMAGE_URL,
      { text: expect.stringMatching(/^Images in the result of add \(.+_3\):$/) },
      IMAGE_URL,
    ])
    expect(messages).toContainEqual(expect.objectContaining({ role: 'tool', content: photo.value }))
  })

  it('is left out once 20 later ones follow', async () => {
    const opened = await open('anthropic', () => ({ calls: [CALL] }), 'claude-sonnet-4-5')
    await converse(opened, 25, photo)
    const body = JSON.stringify(opened.requests().at(-1)?.body)
    expect(body.split(PIXEL)).toHaveLength(20 + 1)
    expect(body.split('[Image of type')).toHaveLength(24 + 1)
  })
})
