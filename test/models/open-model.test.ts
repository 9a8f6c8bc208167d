import { describe, expect, it } from 'vitest'
import { isJsonObject, type Json } from '../../lib/core/json/json.ts'
import type { Model, ModelResponse, ToolResult } from '../../lib/core/model.ts'
import { openModel } from '../../lib/models/open-model.ts'
import { countReads } from '../support/data/count-reads.ts'
import { SCRIPTED_PROVIDERS } from '../support/scripted-model/start-scripted-model.ts'
import type { ScriptedCall } from '../support/scripted-model/turn.ts'
import { ADD, openScripted, requestOf, throughJson, useScriptedModel } from './support.ts'

const server = await useScriptedModel()

const ONE = { name: 'add', input: { a: 1, b: 2 } }
const OTHER = { name: 'add', input: { a: 3, b: 4 } }
/** Without null: the Bedrock format omits it, which means an empty object. */
const INVALID: [string, ScriptedCall][] = [
  ['with invalid JSON', { name: 'add', raw: '{"a": 1, ' }],
  ['with a string as input', { name: 'add', raw: '"one and two"' }],
  ['with an array as input', { name: 'add', input: [1, 2] }],
  ['of an unknown tool', { name: 'subtract', input: { a: 1, b: 2 } }],
]
const ok = (value: Json) => ({ ok: true as const, value })

describe.each(SCRIPTED_PROVIDERS)('a model of %s', (format) => {
  it('returns text, usage and finish reason', async () => {
    const { model, id, requests } = await openScripted(server, format, [
      { text: 'Three.', usage: { inputTokens: 21, outputTokens: 4 } },
    ])
    const response = await model.respond(requestOf(model))
    expect(response).toMatchObject({
      text: 'Three.',
      toolCalls: [],
      usage: { inputTokens: 21, outputTokens: 4 },
      stopReason: 'stop',
    })
    expect(requests()).toHaveLength(1)
    expect(requests()[0]).toMatchObject({
      instructions: 'Be brief.',
      history: [{ type: 'text', role: 'user', text: 'What is 1 + 2?' }],
      tools: [ADD],
      reasoning: {},
    })
    expect(model.name).toBe(`${format}/${id}`)
    server.assertDone(id)
  })

  it.each(['length', 'content-filter'] as const)('returns the stop reason %s', async (finish) => {
    const { model } = await openScripted(server, format, [{ text: 'Thr', finish }])
    const isRefusal = format === 'anthropic' && finish === 'content-filter'
    const { stopReason, text } = await model.respond(requestOf(model))
    expect({ stopReason, text }).toEqual({ stopReason: isRefusal ? 'refusal' : finish, text: 'Thr' })
  })

  it('returns the text of a refusal', async () => {
    const { model } = await openScripted(server, format, [{ refusal: 'I cannot help with that.' }])
    const { stopReason, text } = await model.respond(requestOf(model))
    const expected = format === 'bedrock' ? 'content-filter' : 'refusal'
    expect({ stopReason, text }).toEqual({ stopReason: expected, text: 'I cannot help with that.' })
  })

  it('estimates the usage if the provider returns none', async () => {
    const { model } = await openScripted(server, format, [{ text: 'Three.', usage: null }])
    const { usage } = await model.respond(requestOf(model))
    expect(usage).toMatchObject({ estimated: true, outputTokens: 2 })
    expect(usage.inputTokens).toBeGreaterThan(20)
    expect(usage.inputTokens).toBeLessThan(200)
  })

  it('omits empty instructions and tools, and returns an empty response', async () => {
    const { model, requests } = await openScripted(server, format, [{}])
    const response = await model.respond(requestOf(model, { instructions: '', tools: [] }))
    expect(response).toMatchObject({ text: '', toolCalls: [], messages: [] })
    expect(requests()[0]).toMatchObject({ instructions: '', tools: [] })
  })

  it('receives the result of a call', async () => {
    const { model, id, requests } = await openScripted(server, format, [{ calls: [ONE] }, { text: 'Three.' }])
    const first = await model.respond(requestOf(model))
    expect(first.stopReason).toBe('tool-calls')
    expect(first.toolCalls).toEqual([{ id: expect.any(String), ...ONE, error: null }])

    const second = await model.respond(
      requestOf(model, { messages: withResults(model, first, [ok({ sum: 3 })]) }),
    )

    expect(second.text).toBe('Three.')
    const callId = first.toolCalls[0]?.id
    expect(requests()[1]?.history).toEqual([
      { type: 'text', role: 'user', text: 'What is 1 + 2?' },
      { type: 'call', id: callId, ...ONE },
      { type: 'result', id: callId, output: '{"sum":3}', isError: format === 'anthropic' ? false : null },
    ])
    server.assertDone(id)
  })

  it('receives the results of two parallel calls, including an error, after its text and reasoning', async () => {
    const { model, id, requests } = await openScripted(server, format, [
      { reasoning: 'Let me see.', text: 'I add.', calls: [ONE, OTHER] },
      { text: 'Three, and I do not know.' },
    ])
    const first = await model.respond(requestOf(model))
    expect(first.text).toBe('I add.')
    expect(first.toolCalls.map(({ input }) => input)).toEqual([ONE.input, OTHER.input])

    const results = [ok('three'), { ok: false as const, error: 'Too hard.' }]
    await model.respond(requestOf(model, { messages: withResults(model, first, results) }))

    const [callId, otherId] = first.toolCalls.map((call) => call.id)
    const signature = `${format === 'openai' ? 'sealed' : 'signed'} Let me see.`
    const hasStatus = format === 'anthropic' || format === 'bedrock'
    expect(requests()[1]?.history.slice(1)).toEqual([
      ...(format === 'openai-compatible' ? [] : [{ type: 'reasoning', text: 'Let me see.', signature }]),
      { type: 'text', role: 'assistant', text: 'I add.' },
      { type: 'call', id: callId, ...ONE },
      { type: 'call', id: otherId, ...OTHER },
      { type: 'result', id: callId, output: 'three', isError: format === 'anthropic' ? false : null },
      { type: 'result', id: otherId, output: 'Too hard.', isError: hasStatus ? true : null },
    ])
    server.assertDone(id)
  })

  it.each(INVALID)('receives exactly one error for a call %s', async (_, call) => {
    const { model, id, requests } = await openScripted(server, format, [
      { calls: [call, ONE] },
      { calls: [call] },
      { text: 'Three.' },
    ])
    const first = await model.respond(requestOf(model))
    const [bad, good] = first.toolCalls
    expect(bad?.error).toMatch(/input|tool/)
    expect(good?.error).toBeNull()

    const messages = withResults(model, first, [ok('not to be sent'), ok(3)])
    const second = await model.respond(requestOf(model, { messages }))
    const again = withResults(model, second, [ok('not to be sent')])
    expect(again.at(-1)).toBeNull()
    await model.respond(requestOf(model, { messages: [...messages, ...again.slice(1)] }))

    const [, , third] = requests()
    expect(JSON.stringify(third)).not.toContain('not to be sent')
    expect(third?.history.filter(({ type }) => type === 'result')).toHaveLength(3)
    const inputs = third?.history.flatMap((item) => (item.type === 'call' ? [item.input] : [])) ?? []
    expect(inputs.filter((input) => !isJsonObject(input as Json))).toEqual([])
    server.assertDone(id)
  })

  it('does not validate or convert the history again for each request', async () => {
    const { model, id } = await openScripted(server, format, () => ({ calls: [ONE] }))
    const messages = [model.userMessage('What is 1 + 2?')]
    const reads: number[] = []
    for (let step = 0; step <= 20; step++) {
      let count = 0
      const history = messages.map((message) => countReads(message, () => count++))
      const response = await model.respond(requestOf(model, { messages: history }))
      reads.push(count)
      messages.push(...withResults(model, response, [ok({ sum: 3 })]).slice(1))
    }
    const readsPerStep = ((reads[20] ?? 0) - (reads[10] ?? 0)) / 10
    expect(readsPerStep).toBeGreaterThan(0)
    // 27 to 65 by format; the SDK's `generateText` reads 230 to 282.
    expect(readsPerStep).toBeLessThan(100)
    server.assertDone(id)
  })

  it('rejects duplicate call ids, or has them replaced by the SDK', async () => {
    const calls = [ONE, OTHER].map((call) => ({ ...call, id: 'call_1' }))
    const { model } = await openScripted(server, format, [{ calls }])
    const responding = model.respond(requestOf(model))
    if (format === 'openai-compatible')
      return expect(new Set((await responding).toolCalls.map(({ id }) => id)).size).toBe(2)
    await expect(responding).rejects.toMatchObject({ name: 'ModelError', isTransient: true })
  })

  it('returns plain JSON messages from which another worker continues', async () => {
    const { model, id, requests } = await openScripted(server, format, [
      { reasoning: 'Let me see.', text: 'I add.', calls: [ONE, { name: 'nope', input: {} }] },
      { text: 'Three.' },
      { text: 'Three.' },
    ])
    const first = await model.respond(requestOf(model))
    expect(throughJson(first)).toStrictEqual(first)
    const messages = withResults(model, first, [ok({ sum: 3 }), ok(0)])
    expect(throughJson(messages)).toStrictEqual(messages)
    await model.respond(requestOf(model, { messages }))
    const other = await openModel(server.modelFor(format, id), server.environmentFor(format))
    const response = await other.respond(requestOf(other, { messages: throughJson(messages) }))
    expect(response.text).toBe('Three.')
    expect(requests()[2]?.body).toEqual(requests()[1]?.body)
    server.assertDone(id)
  })
})

describe('credentials', () => {
  it.each([
    ['openai', 'authorization', /^Bearer sk-scripted-4f9a1c77$/],
    ['openai-compatible', 'authorization', /^Bearer sk-scripted-4f9a1c77$/],
    ['anthropic', 'x-api-key', /^sk-scripted-4f9a1c77$/],
    ['bedrock', 'authorization', /^AWS4-HMAC-SHA256 Credential=AKIASCRIPTED\/\d+\/eu-central-1\/bedrock\//],
  ] as const)('of %s come from the given environment', async (format, header, value) => {
    const { model, requests } = await openScripted(server, format, [{ text: 'Three.' }])
    await model.respond(requestOf(model))
    expect(requests()[0]?.headers[header]).toMatch(value)
  })
})

function withResults(model: Model, response: ModelResponse, results: ToolResult[]): Json[] {
  const pairs = response.toolCalls.map((call, index) => ({ call, result: results[index] ?? ok(null) }))
  return [model.userMessage('What is 1 + 2?'), ...response.messages, model.toolMessage(pairs)]
}
