import { readFile } from 'node:fs/promises'
import { calcPrice, findProvider } from '@pydantic/genai-prices'
import { describe, expect, it } from 'vitest'
import {
  costOf,
  findPrice,
  type PriceTable,
  parseModelPrices,
} from '../../../lib/models/prices/price-table.ts'
import { toPriceTable } from '../../../lib/models/prices/write-prices.ts'

const FILE = 'lib/models/prices/prices.json'
const PROVIDERS = [
  ['anthropic', 'anthropic'],
  ['bedrock', 'aws'],
  ['openai', 'openai'],
] as const

const PROFILE_OF_APPLICATION =
  'bedrock/arn:aws:bedrock:eu-central-1:123456789012:application-inference-profile/abc'

const withPrices = (prices: object) => ({ MODEL_PRICES: JSON.stringify(prices) })

describe('prices.json', () => {
  it('is what npm run prices writes on its date', async () => {
    const table = JSON.parse(await readFile(FILE, 'utf8')) as PriceTable
    expect(table).toEqual(await toPriceTable(table.date))
  })
})

describe('findPrice', () => {
  it.each(PROVIDERS)('gives every %s model of the package the same cost', async (provider, providerId) => {
    const { date } = JSON.parse(await readFile(FILE, 'utf8')) as PriceTable
    const models = findProvider({ providerId })?.models.map(({ id }) => id) ?? []
    const usages = [
      { inputTokens: 3_000, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 500 },
      { inputTokens: 90_000, cachedInputTokens: 60_000, cacheWriteTokens: 20_000, outputTokens: 4_000 },
      { inputTokens: 300_000, cachedInputTokens: 100_000, cacheWriteTokens: 50_000, outputTokens: 8_000 },
    ]
    let compared = 0
    for (const model of models) {
      const price = await findPrice(`${provider}/${model}`, {})
      if (!price) continue
      for (const usage of usages) {
        const named = {
          input_tokens: usage.inputTokens,
          cache_read_tokens: usage.cachedInputTokens,
          cache_write_tokens: usage.cacheWriteTokens,
          output_tokens: usage.outputTokens,
        }
        const expected = calcPrice(named, model, { providerId, timestamp: new Date(date) })
        const cost = costOf(price, usage)
        expect([model, cost]).toEqual([model, expect.closeTo(expected?.total_price ?? Number.NaN, 8)])
        compared++
      }
    }
    expect(compared).toBeGreaterThan(60)
  })

  it.each([
    ['anthropic/claude-sonnet-4-5-20250929', 3],
    ['openai/gpt-4.1-mini-2025-04-14', 0.4],
    ['openai/gpt-4.1-mini:high', 0.4],
    ['bedrock/amazon.nova-lite-v1:0', 0.06],
    ['bedrock/eu.amazon.nova-lite-v1:0', 0.06],
    ['anthropic/claude-sonnet-5', 2],
    ['anthropic/claude-sonnet-5-20260401', 2],
    ['anthropic/claude-sonnet-5@20260401', 2],
    ['bedrock/eu.anthropic.claude-sonnet-5-v1:0', 2.2],
    ['bedrock/arn:aws:bedrock:eu-central-1:123456789012:inference-profile/eu.anthropic.claude-opus-5', 5.5],
    [`${PROFILE_OF_APPLICATION}#eu.anthropic.claude-opus-5`, 5.5],
    ['bedrock/arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-opus-5-5', 4.4],
    ['bedrock/arn:aws:bedrock:us-east-1:123456789012:inference-profile/global.anthropic.claude-sonnet-5', 2],
  ])('knows %s', async (name, input) => {
    expect(await findPrice(name, {})).toMatchObject({ input })
  })

  it.each([
    'openai/gpt-1000',
    'openai-compatible/gpt-4.1-mini',
    PROFILE_OF_APPLICATION,
    'openai/gpt-4o-mini-tts-x',
    'anthropic/claude-sonnet-5-5',
    'anthropic/claude-sonnet-5.5-20270101',
    'anthropic/claude-haiku-4-50',
    'bedrock/eu.anthropic.claude-sonnet-5-5-v1:0',
    'bedrock/arn:aws:bedrock:eu-central-1:123456789012:inference-profile/eu.anthropic.claude-sonnet-5-5',
  ])('knows no price of %s', async (name) => {
    expect(await findPrice(name, {})).toBeNull()
  })

  it('prefers MODEL_PRICES: the exact name, then the longest beginning', async () => {
    const environment = withPrices({
      'openai-compatible/*': { input: 0, output: 0 },
      'openai-compatible/qwen*': { input: 1, output: 2 },
      'openai-compatible/qwen3:8b': { input: 3, output: 4, cachedInput: 1 },
      'openai/gpt-4.1-mini': { input: 9, output: 9 },
    })
    expect(await findPrice('openai-compatible/llama', environment)).toEqual({ input: 0, output: 0 })
    expect(await findPrice('openai-compatible/qwen3:4b', environment)).toEqual({ input: 1, output: 2 })
    expect(await findPrice('openai-compatible/qwen3:8b', environment)).toMatchObject({ input: 3 })
    expect(await findPrice('openai/gpt-4.1-mini:low', environment)).toMatchObject({ input: 9 })
    expect(await findPrice('openai/gpt-4.1', environment)).toMatchObject({ input: 2 })
  })
})

describe('costOf', () => {
  it('charges cached tokens like others if they have no rate of their own', () => {
    const usage = { inputTokens: 1_000_000, outputTokens: 0, cachedInputTokens: 400_000 }
    expect(costOf({ input: 2, output: 1 }, usage)).toBe(2)
    expect(costOf({ input: 2, output: 1, cachedInput: 0.5 }, usage)).toBe(1.4)
  })

  it('has no binary fractions', () => {
    expect(costOf({ input: 0.1, output: 0.2 }, { inputTokens: 3, outputTokens: 0 })).toBe(0.0000003)
  })
})

describe('parseModelPrices', () => {
  it.each<[string, string]>([
    ['{', 'it must be a JSON object'],
    ['[]', 'it must be a JSON object'],
    ['{"gpt-5": {}}', 'Invalid MODEL_PRICES: The model name "gpt-5" has no known provider.'],
    ['{"openai/gpt-5:high": {"input": 1, "output": 1}}', '"openai/gpt-5:high" must not contain a reasoning'],
    ['{"openai/gpt-5": 1}', '"openai/gpt-5" must have a price'],
    ['{"openai/gpt-5": {"input": 1}}', '"openai/gpt-5" must have a rate "output" of 0 or more US dollars'],
    ['{"openai/gpt-5": {"input": -1, "output": 1}}', 'must have a rate "input" of 0 or more US dollars'],
    ['{"openai/gpt-5": {"input": "1", "output": 1}}', 'must have a rate "input" of 0 or more US dollars'],
    ['{"openai/gpt-5": {"input": 1, "output": 1, "cached": 1}}', 'unknown rate "cached"; allowed: input'],
  ])('rejects %s', (text, message) => {
    expect(() => parseModelPrices(text)).toThrow(message)
  })
})
