import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../lib/core/json/json.ts'
import { openModel } from '../../../lib/models/open-model.ts'
import type { Provider } from '../../../lib/models/providers/providers.ts'
import { MIN_CACHED_CHARACTERS } from '../../../lib/models/requests/prompt-caching.ts'
import { system } from '../../../lib/system.ts'
import { costOfLongConversation } from '../../support/scripted-model/long-conversation.ts'
import { ADD, requestOf, useScriptedModel } from '../support.ts'

const scripted = useScriptedModel()
const call = { calls: [{ name: 'add', input: { a: 1, b: 2 } }] }
const FINAL = { ...ADD, name: 'final_answer' }

/** The bodies of the requests of three steps. */
async function bodiesOf(
  format: Provider,
  family: string,
  { instructions = 'Be brief.', input = 'What is 1 + 2?', tools = [ADD] } = {},
) {
  const id = `${family}-${system.newId()}`
  scripted.server.script(id, () => call)
  const model = await openModel(scripted.server.modelFor(format, id), scripted.server.environmentFor(format))
  const messages: Json[] = [model.userMessage(input)]
  for (let step = 0; step < 3; step++) {
    const response = await model.respond(requestOf(model, { instructions, tools, messages }))
    const results = response.toolCalls.map((each) => ({
      call: each,
      result: { ok: true as const, value: 3 },
    }))
    messages.push(...response.messages, model.toolMessage(results))
  }
  return scripted.server.requests(id).map(({ body }) => body)
}

const contentOf = (body: JsonObject = {}) =>
  (body.messages as { content: JsonObject[] }[]).map(({ content }) => content)
const countMarks = (body: JsonObject | undefined) =>
  JSON.stringify(body).split(/"cache_control"|"cachePoint"/).length - 1

describe('prompt caching', () => {
  it('marks the system prompt and the last messages of this and the previous request at Anthropic', async () => {
    const bodies = await bodiesOf('anthropic', 'claude-sonnet-4-5')
    const mark = { cache_control: { type: 'ephemeral' } }
    expect(bodies[0]?.system).toMatchObject([mark])
    expect(contentOf(bodies[0])).toMatchObject([[mark]])
    expect(bodies.map(countMarks)).toEqual([2, 3, 3])
    expect(contentOf(bodies[2]).map((content) => content.some((part) => 'cache_control' in part))).toEqual([
      false,
      false,
      true,
      false,
      true,
    ])
  })

  it('sets cache points at the same places at Bedrock', async () => {
    const bodies = await bodiesOf('bedrock', 'eu.anthropic.claude-sonnet-4-5')
    expect(bodies[0]?.system).toMatchObject([{}, { cachePoint: { type: 'default' } }])
    expect(bodies.map(countMarks)).toEqual([2, 3, 3])
    expect(contentOf(bodies[2]).map((content) => 'cachePoint' in (content.at(-1) ?? {}))).toEqual([
      false,
      false,
      true,
      false,
      true,
    ])
  })

  it('sends OpenAI a key that all runs with the same instructions have in common', async () => {
    const [run, otherInput, other] = [
      await bodiesOf('openai', 'gpt-5'),
      await bodiesOf('openai', 'gpt-5', { input: 'What is 3 + 4?' }),
      await bodiesOf('openai', 'gpt-5', { instructions: 'x' }),
    ]
    const keys = [...run, ...otherInput].map((body) => body.prompt_cache_key)
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/)
    expect(new Set(keys).size).toBe(1)
    expect(other[0]?.prompt_cache_key).not.toBe(keys[0])
  })

  it.each<[Provider, string]>([
    ['bedrock', 'meta.llama3-3-70b-instruct'],
    ['bedrock', 'anthropic.claude-3-haiku'],
    ['openai-compatible', 'qwen3:8b'],
  ])('sends %s/%s nothing, which would reject or ignore it', async (format, family) => {
    const bodies = await bodiesOf(format, family)
    expect(bodies.map(countMarks)).toEqual([0, 0, 0])
    expect(JSON.stringify(bodies)).not.toContain('cache')
  })

  it('is used without tools above a size only', async () => {
    const small = await bodiesOf('anthropic', 'claude-sonnet-4-5', { tools: [FINAL] })
    expect(small.map(countMarks)).toEqual([0, 0, 0])
    const instructions = 'x'.repeat(MIN_CACHED_CHARACTERS)
    const large = await bodiesOf('anthropic', 'claude-sonnet-4-5', { tools: [FINAL], instructions })
    expect(large.map(countMarks)).toEqual([2, 3, 3])
  })

  it.each(['anthropic', 'bedrock'] as const)(
    'reduces a run of 20 steps from 480,000 to 97,000 input tokens at %s',
    async (format) => {
      const { cached, uncached } = await costOfLongConversation(scripted.server, format)
      expect(uncached / 480_000).toBeGreaterThan(1)
      expect(uncached / 480_000).toBeLessThan(1.1)
      expect(cached / 97_000).toBeGreaterThan(1)
      expect(cached / 97_000).toBeLessThan(1.1)
    },
  )
})
