import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MAX_PAYLOAD_BYTES } from '../../../lib/core/limits.ts'
import type { Model, ModelResponse } from '../../../lib/core/model.ts'
import { openModel } from '../../../lib/models/open-model.ts'
import { closeNow } from '../../../local/emulators/private-socket.ts'
import type { ScriptedProvider } from '../../support/scripted-model/recorded-request.ts'
import { SCRIPTED_PROVIDERS } from '../../support/scripted-model/start-scripted-model.ts'
import type { ScriptedResponse } from '../../support/scripted-model/turn.ts'
import { chunk, framesOf } from '../frames/junk.ts'
import { sse } from '../frames/support.ts'
import { openScripted, requestOf, useScriptedModel } from '../support.ts'

const scripted = await useScriptedModel()

const RESPONSE: ScriptedResponse = {
  reasoning: 'Let me see.',
  text: 'I add.',
  calls: [
    { id: 'call_a', name: 'add', input: { a: 1, b: 2 } },
    { id: 'call_b', name: 'add', input: { a: 3, b: 4 } },
  ],
}

/** The chunks of the response, and how many contain all of it: some formats end with a chunk that says nothing. */
function chunksOf(format: ScriptedProvider) {
  const { length } = framesOf(format, RESPONSE)
  return { length, sufficient: format === 'openai-compatible' ? length - 2 : length }
}

/** What a request returns after the first one was answered with a part of the response. */
async function afterCut(format: ScriptedProvider, chunks: number, by: 'close' | 'end') {
  const script = [{ cut: RESPONSE, chunks, by }, RESPONSE]
  const { model, requests } = await openScripted(scripted, format, script)
  const first = await model.respond(requestOf(model)).catch((error: unknown) => error)
  return { first, requests }
}

describe.each(SCRIPTED_PROVIDERS)('a stream of %s', { concurrent: true }, (format) => {
  const { length, sufficient } = chunksOf(format)
  const boundaries = Array.from({ length }, (_, index) => index)

  it.each(['close', 'end'] as const)(
    'that is cut at or in any chunk (%s) is a transient error',
    async (by) => {
      const lost = by === 'end' ? boundaries.slice(0, sufficient) : boundaries
      for (const chunks of lost.flatMap((chunk) => [chunk, chunk + 0.5])) {
        const { first } = await afterCut(format, chunks, by)
        expect(first, `after ${chunks} of ${length} chunks`).toMatchObject({
          name: 'ModelError',
          isTransient: true,
        })
      }
    },
  )

  it('that ends without its last, empty chunk is complete', async () => {
    for (const chunks of boundaries.slice(sufficient)) {
      const response = (await afterCut(format, chunks, 'end')).first as ModelResponse
      expect(response).toMatchObject({ text: 'I add.', stopReason: 'tool-calls' })
      expect(response.toolCalls).toMatchObject([{ input: { a: 1, b: 2 } }, { input: { a: 3, b: 4 } }])
    }
  })

  it('that reports an error at any chunk boundary has that error', async () => {
    const code = format === 'bedrock' ? 'throttlingException' : 'rate_limit_error'
    for (const chunks of boundaries.slice(0, sufficient)) {
      const by = { code, message: 'Too fast.' }
      const { model } = await openScripted(scripted, format, [{ cut: RESPONSE, chunks, by }])
      await expect(model.respond(requestOf(model))).rejects.toMatchObject({
        isTransient: true,
        message: expect.stringContaining('Too fast.'),
      })
    }
  })

  it('may take longer than the limits if its tokens do not', async () => {
    const timeouts = { firstMs: 1_500, nextMs: 1_500 }
    const slow = { ...RESPONSE, text: 'I add, slowly.', pause: { ms: 150 } }
    const { model } = await openScripted(scripted, format, [slow], { timeouts })
    const startedAt = performance.now()
    expect(await model.respond(requestOf(model))).toMatchObject({ text: 'I add, slowly.' })
    expect(performance.now() - startedAt).toBeGreaterThan(timeouts.firstMs)
  })

  it.each([
    ['first token', { firstMs: 50, nextMs: 20_000 }, { delayMs: 20_000 }],
    ['first token after its headers', { firstMs: 50, nextMs: 20_000 }, { pause: { ms: 20_000 } }],
    ['next token', { firstMs: 20_000, nextMs: 50 }, { pause: { ms: 20_000, chunk: -1 } }],
  ])('without its %s in time is a transient error', async (_, timeouts, pauses) => {
    const script = [{ text: 'Late.', ...pauses }]
    const { model } = await openScripted(scripted, format, script, { timeouts })
    await expect(model.respond(requestOf(model))).rejects.toMatchObject({
      isTransient: true,
      message: `${format} sent no token for 0.05 s.`,
    })
  })
})

const text = 'x'.repeat(100_000)

const tooLarge = {
  isTransient: false,
  isTooLarge: true,
  message: `The response of the model exceeds the limit of ${MAX_PAYLOAD_BYTES} bytes. Reading it was stopped.`,
}

const callWith = (input: string, call: object = {}) =>
  sse(chunk({ tool_calls: [{ index: 0, ...call, function: { name: 'add', arguments: input } }] }))

type Endless = { status?: number; type?: string; first?: string; next: string }

/** How a response begins, and what follows for ever. */
const ENDLESS: Record<string, Endless> = {
  'a stream of text': { next: sse(chunk({ content: text })) },
  'a stream of reasoning': { next: sse(chunk({ reasoning_content: text })) },
  'the input of a call': { first: callWith('', { id: 'c' }), next: callWith(text) },
  'one event of a stream': { first: 'data: {"id":"', next: text },
  'one event in many lines': { next: `data: ${text}\n` },
  'a JSON document': { type: 'application/json', first: '{"id":"', next: text },
  'an error': { status: 500, type: 'application/json', first: '{"error":"', next: text },
}

describe('a response without an end', () => {
  let sent = 0
  let closed: Promise<unknown> = Promise.resolve()
  const server = createServer((request, response) => {
    const [, name = ''] = decodeURIComponent(request.url ?? '').split('/')
    const { status = 200, type = 'text/event-stream', first = '', next } = ENDLESS[name] as Endless
    closed = once(response, 'close')
    response.writeHead(status, { 'content-type': type }).write(first)
    send(response, next)
  })
  const send = (response: ServerResponse, next: string) => {
    if (response.destroyed) return
    sent += next.length
    response.write(next, () => send(response, next))
  }
  beforeAll(() => once(server.listen(0, '127.0.0.1'), 'listening'))
  afterAll(() => closeNow(server))

  it.each(Object.keys(ENDLESS))('is read to the limit, and its connection is closed: %s', async (name) => {
    sent = 0
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/${encodeURIComponent(name)}`
    const model: Model = await openModel('openai-compatible/m', { OPENAI_COMPATIBLE_BASE_URL: url })
    await expect(model.respond(requestOf(model))).rejects.toMatchObject(tooLarge)
    await closed
    // With what is in the buffers of the sockets.
    expect(sent).toBeLessThan(5 * MAX_PAYLOAD_BYTES)
  })
})

describe.each(SCRIPTED_PROVIDERS)('a response of %s', (provider) => {
  it('may not be larger than the limit', async () => {
    const script = [{ text: 'x'.repeat(MAX_PAYLOAD_BYTES + 1) }, { text: 'Short.' }]
    const { model, requests } = await openScripted(scripted, provider, script)
    await expect(model.respond(requestOf(model))).rejects.toMatchObject(tooLarge)
    expect(requests()).toHaveLength(1)
    expect((await model.respond(requestOf(model))).text).toBe('Short.')
  })
})
