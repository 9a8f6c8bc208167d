import { describe, expect, it } from 'vitest'
import type { Json } from '../../lib/core/json/json.ts'
import { estimateInputTokens, estimateTokens } from '../../lib/models/estimate-tokens.ts'
import { toToolMessage, toUserMessage } from '../../lib/models/requests/to-prompt.ts'
import { countReads } from '../support/data/count-reads.ts'

/** Texts with the tokens that `o200k_base` of gpt-tokenizer 4.0.0 counts. */
const TEXTS: [kind: string, text: string, tokens: number][] = [
  [
    'English',
    'The order was shipped on Monday and should arrive within three working days. Please check the delivery address.',
    20,
  ],
  [
    'German',
    'Die Bestellung wurde am Montag versandt und sollte innerhalb von drei Werktagen eintreffen.',
    18,
  ],
  ['Russian', 'Заказ был отправлен в понедельник и должен прибыть в течение трёх рабочих дней.', 21],
  ['Chinese', '订单已于星期一发货,预计将在三个工作日内送达。请检查送货地址。', 23],
  [
    'JSON',
    '{"orderId":"A-7919","price":29.6,"customer":{"name":"Jane Doe","email":"jane@example.com"},"shipped":true}',
    35,
  ],
  [
    'code',
    'export const isRefused = (reason: string): boolean =>\n  reason === "refusal" || reason === "content-filter"',
    27,
  ],
  ['UUIDs', '019a4f3e-7c1b-7d62-9f0a-1b2c3d4e5f60 5b8f0e7a-3d44-4c1e-a6b5-92c7d81f3e20', 64],
  [
    'base64',
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    53,
  ],
  ['CSV', '1042,583920,2024-01-17,EUR,19.99\n1043,9920,2024-01-18,USD,5.00', 37],
]

describe('estimateTokens', () => {
  it.each(TEXTS)('is at most a quarter too low and three quarters too high for %s', (_, text, tokens) => {
    const ratio = estimateTokens(text) / tokens
    expect(ratio).toBeGreaterThan(0.75)
    expect(ratio).toBeLessThan(1.75)
  })

  it('is 0 for nothing', () => expect(estimateTokens('')).toBe(0))
})

describe('estimateInputTokens', () => {
  const call = { id: 'c1', name: 'look_up', input: {}, error: null }
  const withResult = (value: Json) => toToolMessage([{ call, result: { ok: true, value } }])
  const ofMessages = (...messages: Json[]) => estimateInputTokens({ instructions: '', messages, tools: [] })

  it('counts the instructions, the messages and the tools', () => {
    const text = 'word '.repeat(1_000)
    expect(ofMessages(toUserMessage(text))).toBeGreaterThan(1_000)
    expect(ofMessages(withResult({ text }))).toBeGreaterThan(1_000)
    const tool = { name: 'look_up', description: text, inputSchema: {} }
    expect(estimateInputTokens({ instructions: text, messages: [], tools: [tool] })).toBeGreaterThan(2_000)
  })

  it('does not count the bytes of an image as text', () => {
    const images = [{ mediaType: 'image/png', data: 'A'.repeat(1_000_000) }]
    const message = toToolMessage([{ call, result: { ok: true, value: '[Image]', images } }])
    expect(ofMessages(message)).toBeLessThan(2_000)
  })

  it('reads each message once', () => {
    let reads = 0
    const message = countReads({ role: 'user', content: 'Why?' } as Json & object, () => void reads++)
    ofMessages(message)
    const first = reads
    ofMessages(message)
    expect(first).toBeGreaterThan(0)
    expect(reads).toBe(first)
  })
})
