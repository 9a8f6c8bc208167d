import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { describe, expect, it } from 'vitest'
import type { ResponsePart } from '../../../lib/core/model.ts'
import { type Provider, traitsOf } from '../../../lib/models/providers/providers.ts'
import { collectStream } from '../../../lib/models/responses/collect-stream.ts'
import { SCRIPTED_PROVIDERS } from '../../support/scripted-model/start-scripted-model.ts'

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } } as never
const finish = { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage } as const

/** Collects the parts, and records what is shown, and which limit applied after each of them. */
async function collect(stream: LanguageModelV4StreamPart[], provider: Provider = 'openai') {
  const limits: string[] = []
  const timeout = { expectFirst: () => void limits.push('first'), expectNext: () => void limits.push('next') }
  const shown: ResponsePart[] = []
  const all = async function* () {
    yield* [...stream, finish]
  }
  const show = (part: ResponsePart) => shown.push(part)
  const { content } = await collectStream(all(), timeout, traitsOf(provider).stream, { text: '' }, show)
  return { content, limits, shown }
}

describe('collectStream', () => {
  it('shows pieces of text and of arguments, and no reasoning', async () => {
    const { shown } = await collect([
      { type: 'reasoning-start', id: 'r' },
      { type: 'reasoning-delta', id: 'r', delta: 'private' },
      { type: 'reasoning-end', id: 'r' },
      { type: 'text-start', id: 't' },
      { type: 'text-delta', id: 't', delta: 'I ' },
      { type: 'text-delta', id: 't', delta: 'ask.' },
      { type: 'text-end', id: 't' },
      { type: 'tool-input-start', id: 'c', toolName: 'add' },
      { type: 'tool-input-delta', id: 'c', delta: '{"a"' },
      { type: 'tool-input-delta', id: 'c', delta: ':1}' },
      { type: 'tool-input-end', id: 'c' },
      { type: 'tool-call', toolCallId: 'c', toolName: 'add', input: '{"a":1}' },
    ])
    expect(shown).toEqual([
      { text: 'I ' },
      { text: 'ask.' },
      { toolCall: { id: 'c', name: 'add', arguments: '{"a"' } },
      { toolCall: { id: 'c', name: 'add', arguments: ':1}' } },
    ])
  })

  it('shows the arguments of a provider that sends no pieces at once', async () => {
    const call = { type: 'tool-call', toolCallId: 'c', toolName: 'add', input: '{}' } as const
    const { shown } = await collect([call])
    expect(shown).toEqual([{ toolCall: { id: 'c', name: 'add', arguments: '{}' } }])
  })

  it('shows no inputs of tools that the provider executes', async () => {
    const provider = { providerExecuted: true } as const
    const { shown } = await collect([
      { type: 'tool-input-start', id: 's', toolName: 'web_search', ...provider },
      { type: 'tool-input-delta', id: 's', delta: '{}' },
      { type: 'tool-call', toolCallId: 's', toolName: 'web_search', input: '{}', ...provider },
    ])
    expect(shown).toEqual([])
  })

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
