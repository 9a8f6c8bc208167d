import { describe, expect, it } from 'vitest'
import type { Json } from '../../lib/core/json/json.ts'
import type { ModelRequest } from '../../lib/core/model.ts'
import { toRequestKey } from '../../lib/engine/request-key.ts'

const aRequest = (overrides: Partial<ModelRequest> = {}): ModelRequest => ({
  instructions: 'Answer the question.',
  messages: [{ role: 'user', content: 'Why?' }],
  tools: [{ name: 'look', description: 'Looks.', inputSchema: { type: 'object' } }],
  signal: new AbortController().signal,
  ...overrides,
})

const keyOf = (overrides: Partial<ModelRequest> = {}) => toRequestKey('openai/m', aRequest(overrides))

describe('toRequestKey', () => {
  it('is the same for a request that was stored and read again, whatever the order of its members', () => {
    const message = { role: 'assistant', id: undefined, content: [{ type: 'text', text: 'é' }] }
    const read = { content: [{ text: 'é', type: 'text' }], role: 'assistant' }
    const key = keyOf({ messages: [message as unknown as Json] })
    expect(keyOf({ messages: [read] })).toEqual(key)
  })

  it.each<[string, Partial<ModelRequest>]>([
    ['instructions', { instructions: 'Answer.' }],
    ['tools', { tools: [] }],
    ['messages', { messages: [{ role: 'user', content: 'Who?' }] }],
    ['messages', { messages: [...aRequest().messages, { role: 'assistant', content: '' }] }],
    ['answerMode', { answerMode: 'json' }],
    ['truncatedAfter', { truncatedAfter: 7 }],
  ])('differs only in %s', (part, overrides) => {
    const [key, other] = [keyOf(), keyOf(overrides)] as Record<string, unknown>[]
    const parts = Object.keys({ ...key, ...other })
    expect(parts.filter((each) => key?.[each] !== other?.[each])).toEqual([part])
  })

  it('distinguishes one message with two parts from two messages', () => {
    const [one, two] = ['first', 'second']
    expect(keyOf({ messages: [[one, two]] })).not.toEqual(keyOf({ messages: [one, two] }))
  })

  it('reads each message of a growing history once', () => {
    let reads = 0
    const aMessage = () =>
      Object.defineProperty({ role: 'tool' }, 'content', { enumerable: true, get: () => `${reads++}` })
    const messages: Json[] = []
    for (let step = 0; step < 50; step++) {
      messages.push(aMessage() as unknown as Json)
      keyOf({ messages: [...messages] })
    }
    const readsOfOne = reads / 50
    expect(readsOfOne).toBeLessThan(5)
  })
})
