import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { describe, expect, it } from 'vitest'
import { type Provider, traitsOf } from '../../../lib/models/providers/providers.ts'
import { collectStream } from '../../../lib/models/responses/collect-stream.ts'
import { SCRIPTED_PROVIDERS } from '../../support/scripted-model/start-scripted-model.ts'

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
  raw: {},
}
const finish: LanguageModelV4StreamPart = {
  type: 'finish',
  finishReason: { unified: 'stop', raw: 'stop' },
  usage,
}

/** Collects the parts, and records which limit applied after each of them. */
async function collect(parts: LanguageModelV4StreamPart[], provider: Provider = 'openai') {
  const limits: string[] = []
  const timeout = { expectFirst: () => void limits.push('first'), expectNext: () => void limits.push('next') }
  const stream = new ReadableStream<LanguageModelV4StreamPart>({
    start(controller) {
      for (const part of [...parts, finish]) controller.enqueue(part)
      controller.close()
    },
  })
  return { ...(await collectStream(stream, timeout, traitsOf(provider).stream)), limits }
}

describe('collectStream', () => {
  it('keeps the order of parts that overlap, and their last metadata', async () => {
    const { content } = await collect([
      { type: 'reasoning-start', id: 'r', providerMetadata: { p: { signature: null } } },
      { type: 'text-start', id: 't' },
      { type: 'reasoning-delta', id: 'r', delta: 'Let ' },
      { type: 'text-delta', id: 't', delta: 'Three' },
      { type: 'reasoning-delta', id: 'r', delta: 'me see.' },
      { type: 'reasoning-end', id: 'r', providerMetadata: { p: { signature: 'signed' } } },
      { type: 'text-delta', id: 't', delta: '.' },
      { type: 'text-end', id: 't' },
    ])
    expect(content).toEqual([
      { type: 'reasoning', text: 'Let me see.', providerMetadata: { p: { signature: 'signed' } } },
      { type: 'text', text: 'Three.' },
    ])
  })

  it('allows a model that begins to reason the time of a first token', async () => {
    const { limits } = await collect([
      { type: 'text-start', id: 't' },
      { type: 'text-delta', id: 't', delta: 'Three' },
      { type: 'reasoning-start', id: 'r' },
      { type: 'reasoning-delta', id: 'r', delta: 'Hm.' },
    ])
    expect(limits).toEqual(['next', 'first', 'next'])
  })

  it.each(SCRIPTED_PROVIDERS)(
    'allows a call of %s that time only if its input is buffered',
    async (provider) => {
      const { limits } = await collect(
        [
          { type: 'tool-input-start', id: 'c', toolName: 'add' },
          { type: 'tool-input-delta', id: 'c', delta: '{}' },
          { type: 'tool-call', toolCallId: 'c', toolName: 'add', input: '{}' },
        ],
        provider,
      )
      const duringInput = provider === 'bedrock' ? 'first' : 'next'
      expect(limits).toEqual([duringInput, duringInput, 'next'])
    },
  )
})
