import { describe, expect, it } from 'vitest'
import type { ModelResponse } from '../../../lib/core/model.ts'
import type { ScriptedProvider } from '../../support/scripted-model/recorded-request.ts'
import { FORMATS, SCRIPTED_PROVIDERS } from '../../support/scripted-model/start-scripted-model.ts'
import { completeResponse, type ScriptedResponse } from '../../support/scripted-model/turn.ts'
import { openScripted, requestOf, useScriptedModel } from '../support.ts'

const scripted = useScriptedModel()

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
  const request = { stream_options: { include_usage: true } }
  const { length } = FORMATS[format].encode(completeResponse(RESPONSE, '1', 'model'), request)
  return { length, sufficient: format === 'openai-compatible' ? length - 2 : length }
}

/** What a request returns after the first one was answered with a part of the response. */
async function afterCut(format: ScriptedProvider, chunks: number, by: 'close' | 'end') {
  const script = [{ cut: RESPONSE, chunks, by }, RESPONSE]
  const { model, requests } = await openScripted(scripted.server, format, script)
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
      expect(response.toolCalls.map(({ input }) => input)).toEqual([
        { a: 1, b: 2 },
        { a: 3, b: 4 },
      ])
    }
  })

  it('that reports an error at any chunk boundary has that error', async () => {
    const code = format === 'bedrock' ? 'throttlingException' : 'rate_limit_error'
    for (const chunks of boundaries.slice(0, sufficient)) {
      const by = { code, message: 'Too fast.' }
      const { model } = await openScripted(scripted.server, format, [{ cut: RESPONSE, chunks, by }])
      await expect(model.respond(requestOf(model))).rejects.toMatchObject({
        isTransient: true,
        message: expect.stringContaining('Too fast.'),
      })
    }
  })

  it('reports a permanent error', async () => {
    const code = format === 'bedrock' ? 'validationException' : 'invalid_request_error'
    const by = { code, message: 'Not allowed.' }
    const { model } = await openScripted(scripted.server, format, [{ cut: RESPONSE, by }])
    await expect(model.respond(requestOf(model))).rejects.toMatchObject({
      isTransient: false,
      message: expect.stringContaining('Not allowed.'),
    })
  })

  it('may take longer than the limits if its tokens do not', async () => {
    const timeouts = { firstMs: 1_500, nextMs: 1_500 }
    const slow = { ...RESPONSE, text: 'I add, slowly.', pause: { ms: 150 } }
    const { model } = await openScripted(scripted.server, format, [slow], { timeouts })
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
    const { model } = await openScripted(scripted.server, format, script, { timeouts })
    await expect(model.respond(requestOf(model))).rejects.toMatchObject({
      isTransient: true,
      message: `${format} sent no token for 0.05 s.`,
    })
  })
})
