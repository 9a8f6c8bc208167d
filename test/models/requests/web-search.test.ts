import { describe, expect, it } from 'vitest'
import type { Json } from '../../../lib/core/json/json.ts'
import { type ModelResponse, type ToolCall, WEB_SEARCH, type WebSearch } from '../../../lib/core/model.ts'
import { findSearchProblem } from '../../../lib/models/check-model.ts'
import { parseModelName } from '../../../lib/models/model-name.ts'
import { findPrice, withCost } from '../../../lib/models/prices/price-table.ts'
import type { Script } from '../../support/scripted-model/turn.ts'
import { ADD, openScripted, requestOf, throughJson, useScriptedModel } from '../support.ts'

const server = await useScriptedModel()

const declarationOf = (webSearch: WebSearch) => ({
  name: WEB_SEARCH,
  description: 'Searches the web.',
  inputSchema: { type: 'object' },
  webSearch,
})
const SEARCH = declarationOf({ maxUses: 3 })

const MODELS = { anthropic: 'claude-sonnet-4-5', openai: 'gpt-5' } as const
type SearchProvider = keyof typeof MODELS
const PROVIDERS = Object.keys(MODELS) as SearchProvider[]

async function open(provider: SearchProvider, script: Script) {
  const family = MODELS[provider]
  const { model, requests } = await openScripted(server, provider, script, { family })
  return { model: withCost(model, await findPrice(`${provider}/${family}`, {})), requests }
}

const searches = [
  { query: 'AWS regions', urls: ['https://a.example/1', 'https://b.example/2'] },
  { query: 'new regions', urls: [] },
]

/** The history after a response, as a worker reads it from the journal. */
const historyWith = (messages: Json[], response: ModelResponse, ...more: Json[]) => [
  ...messages,
  ...(throughJson(response.messages) as Json[]),
  ...more,
]

const listOf = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : [])

describe.each(PROVIDERS)('a web search of %s', (provider) => {
  it('is a tool of the provider, with what the document allows', async () => {
    const { model, requests } = await open(provider, [{ text: 'a' }, { text: 'b' }])
    const domains = ['a.example', 'b.example/docs']
    const restricted = declarationOf({ maxUses: 2, allowedDomains: domains })
    await model.respond(requestOf(model, { tools: [restricted, ADD] }))
    const blocked = provider === 'anthropic' ? { blockedDomains: domains } : {}
    await model.respond(requestOf(model, { tools: [declarationOf({ maxUses: 4, ...blocked })] }))
    const [first, second] = requests().map(({ body }) => body)
    const last = listOf(first?.tools).at(-1)
    if (provider === 'anthropic') {
      const tool = { type: 'web_search_20250305', name: 'web_search' }
      expect(last).toEqual({ ...tool, max_uses: 2, allowed_domains: domains })
      expect(second?.tools).toEqual([{ ...tool, max_uses: 4, blocked_domains: domains }])
    } else {
      expect(last).toEqual({ type: 'web_search', filters: { allowed_domains: domains } })
      expect(second?.tools).toEqual([{ type: 'web_search' }])
      expect([first?.max_tool_calls, second?.max_tool_calls]).toEqual([2, 4])
      expect(first).toMatchObject({ store: false })
    }
    expect(first?.tools).toHaveLength(2)
  })

  it('is no call of the response; it is counted and has a price', async () => {
    const usage = { inputTokens: 1_000, outputTokens: 100 }
    const calls = [{ name: 'add', input: { a: 1, b: 2 } }]
    const found = { text: 'Found.', usage }
    const { model } = await open(provider, [{ searches, calls, ...found }, found])
    const response = await model.respond(requestOf(model, { tools: [SEARCH, ADD] }))
    expect(response).toMatchObject({ text: 'Found.', usage: { ...usage, webSearches: 2 } })
    expect(response.toolCalls).toMatchObject([{ name: 'add', error: null }])
    const without = await model.respond(requestOf(model, { tools: [ADD] }))
    expect(without.usage.webSearches).toBeUndefined()
    expect((response.usage.costUsd ?? 0) - (without.usage.costUsd ?? 0)).toBeCloseTo(0.02, 9)
  })

  it('is in the history as the provider sent it, with its results', async () => {
    const calls = [{ id: 'call_1', name: 'add', input: {} }]
    const first = { reasoning: 'I look it up.', searches, text: 'Found.', calls }
    const { model, requests } = await open(provider, [first, { text: 'b' }])
    const request = requestOf(model, { tools: [SEARCH, ADD] })
    const response = await model.respond(request)
    const [call] = response.toolCalls
    const result = model.toolMessage([{ call: call as ToolCall, result: { ok: true, value: 3 } }])
    await model.respond({ ...request, messages: historyWith(request.messages, response, result) })
    const history = requests()[1]?.history ?? []
    const searched = Array(provider === 'anthropic' ? 4 : 2).fill('search')
    const types = ['text', 'reasoning', ...searched, 'text', 'call', 'result']
    expect(history.map(({ type }) => type)).toEqual(types)
    const sent = history.flatMap((item) => (item.type === 'search' ? [item.value] : []))
    const { id } = sent[0] as { id: string }
    if (provider === 'anthropic') {
      expect(sent.slice(0, 2)).toMatchObject([
        { type: 'server_tool_use', name: 'web_search', input: { query: 'AWS regions' } },
        {
          type: 'web_search_tool_result',
          tool_use_id: id,
          content: searches[0]?.urls.map((url) => ({
            type: 'web_search_result',
            url,
            encrypted_content: `sealed ${url}`,
          })),
        },
      ])
      expect(sent[3]).toMatchObject({ content: [] })
    } else {
      const sources = searches[0]?.urls.map((url) => ({ type: 'url', url }))
      const action = { type: 'search', query: 'AWS regions', sources }
      expect(sent[0]).toEqual({ type: 'web_search_call', id, status: 'completed', action })
      expect(id).toMatch(/^ws_/)
      expect(JSON.stringify(requests()[1]?.body)).not.toContain('web-search-')
    }
  })

  it('leaves searches of another provider out of the history', async () => {
    const other = PROVIDERS.find((each) => each !== provider) ?? provider
    const { model } = await open(other, [{ searches, text: 'Found.' }])
    const request = requestOf(model, { tools: [SEARCH] })
    const response = await model.respond(request)
    const next = await open(provider, [{ text: 'b' }])
    const messages = historyWith(request.messages, response, next.model.userMessage('Go on.'))
    await next.model.respond({ ...request, messages })
    expect(next.requests()[0]?.history.map(({ type }) => type)).toEqual(['text', 'text', 'text'])
  })
})

describe('a web search of anthropic', () => {
  it('keeps a failed search in the history with its error, at no cost', async () => {
    const failed = [{ query: 'x', error: 'max_uses_exceeded' }]
    const { model, requests } = await open('anthropic', [{ searches: failed, text: 'Hm.' }, { text: 'b' }])
    const request = requestOf(model, { tools: [SEARCH] })
    const response = await model.respond(request)
    expect(response.usage.webSearches).toBeUndefined()
    const messages = historyWith(request.messages, response, model.userMessage('Go on.'))
    await model.respond({ ...request, messages })
    expect(JSON.stringify(requests()[1]?.history)).toContain('"error_code":"max_uses_exceeded"')
  })

  it('can pause the response, which the next request continues', async () => {
    const script = [{ searches, stopReason: 'pause_turn' }, { text: 'b' }]
    const { model, requests } = await open('anthropic', script)
    const request = requestOf(model, { tools: [SEARCH] })
    const response = await model.respond(request)
    expect(response).toMatchObject({ isPaused: true, toolCalls: [], text: '' })
    const next = await model.respond({ ...request, messages: historyWith(request.messages, response) })
    expect(next.isPaused).toBeUndefined()
    expect(listOf(requests()[1]?.body.messages).at(-1)).toMatchObject({ role: 'assistant' })
  })
})

describe('a model without web search', () => {
  const problemOf = (name: string, search = {}) => findSearchProblem(parseModelName(name), search)

  it.each([
    'bedrock/eu.anthropic.claude-sonnet-4-5-20250929-v1:0',
    'openai-compatible/qwen3:8b',
    'openai/gpt-4.1-nano',
    'anthropic/claude-2.1',
  ])('is rejected for an agent that has the tool: %s', (name) => {
    expect(problemOf(name)).toContain(`The provider of the model ${name} does not search the web for it`)
  })

  it.each([
    'openai/gpt-5-mini:low',
    'openai/gpt-4o',
    'anthropic/claude-opus-4-6',
    'anthropic/claude-haiku-4-5',
  ])('is not %s', (name) => {
    expect(problemOf(name)).toBeUndefined()
  })

  it('is one of openai if the document blocks domains', () => {
    const search = { blockedDomains: ['a.example'] }
    const message = 'has no blockedDomains for searches of the web. Use allowedDomains.'
    expect(problemOf('openai/gpt-5', search)).toContain(message)
    expect(problemOf('anthropic/claude-sonnet-4-5', search)).toBeUndefined()
  })
})
