import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { describe, expect, it } from 'vitest'
import type { ResponsePart } from '../../../lib/core/model.ts'
import { collectStream } from '../../../lib/models/responses/collect-stream.ts'

const timeout = { expectFirst: () => undefined, expectNext: () => undefined }

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } } as never
const finish = { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage } as const

async function partsOf(stream: LanguageModelV4StreamPart[]): Promise<ResponsePart[]> {
  const parts: ResponsePart[] = []
  const all = async function* () {
    yield* [...stream, finish]
  }
  await collectStream(all(), timeout, {}, { text: '' }, (part) => parts.push(part))
  return parts
}

describe('collectStream', () => {
  it('shows pieces of text and of arguments, and no reasoning', async () => {
    const parts = await partsOf([
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
    expect(parts).toEqual([
      { text: 'I ' },
      { text: 'ask.' },
      { toolCall: { id: 'c', name: 'add', arguments: '{"a"' } },
      { toolCall: { id: 'c', name: 'add', arguments: ':1}' } },
    ])
  })

  it('shows the arguments of a provider that sends no pieces at once', async () => {
    expect(await partsOf([{ type: 'tool-call', toolCallId: 'c', toolName: 'add', input: '{}' }])).toEqual([
      { toolCall: { id: 'c', name: 'add', arguments: '{}' } },
    ])
  })

  it('shows no inputs of tools that the provider executes', async () => {
    const provider = { providerExecuted: true } as const
    const parts = await partsOf([
      { type: 'tool-input-start', id: 's', toolName: 'web_search', ...provider },
      { type: 'tool-input-delta', id: 's', delta: '{}' },
      { type: 'tool-call', toolCallId: 's', toolName: 'web_search', input: '{}', ...provider },
    ])
    expect(parts).toEqual([])
  })
})
