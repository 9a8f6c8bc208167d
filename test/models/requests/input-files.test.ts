import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../lib/core/json/json.ts'
import { findMediaProblem } from '../../../lib/models/check-model.ts'
import { parseModelName } from '../../../lib/models/model-name.ts'
import type { Provider } from '../../../lib/models/providers/providers.ts'
import { MIN_CACHED_CHARACTERS } from '../../../lib/models/requests/prompt-caching.ts'
import { IMAGE, PDF } from '../../support/data/files.ts'
import { costOfLongConversation } from '../../support/scripted-model/long-conversation.ts'
import { ADD, openScripted, requestOf, useScriptedModel } from '../support.ts'

const server = await useScriptedModel()

/** Opens a model whose name says which one it is, so that it has the capabilities of that one. */
const open = (provider: Provider, family: string) =>
  openScripted(server, provider, () => ({ calls: [{ name: 'add', input: { a: 1, b: 2 } }] }), { family })

const files = [
  { path: '/invoice', ...PDF },
  { path: '/photos/0', ...IMAGE },
]

const PDF_URL = `data:application/pdf;base64,${PDF.data}`

describe('files of an input', () => {
  it.each<[Provider, string, JsonObject, JsonObject]>([
    [
      'anthropic',
      'claude-sonnet-4-5',
      { type: 'document', source: { type: 'base64', media_type: PDF.mediaType, data: PDF.data } },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: IMAGE.data } },
    ],
    [
      'bedrock',
      'eu.anthropic.claude-sonnet-4-5',
      { document: { format: 'pdf', name: 'document-1', source: { bytes: PDF.data } } },
      { image: { format: 'png', source: { bytes: IMAGE.data } } },
    ],
    [
      'openai',
      'gpt-5',
      { type: 'input_file', filename: 'part-2.pdf', file_data: PDF_URL },
      { type: 'input_image', image_url: `data:image/png;base64,${IMAGE.data}` },
    ],
    [
      'openai-compatible',
      'qwen3-vl:8b',
      { type: 'file', file: { filename: 'document.pdf', file_data: PDF_URL } },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${IMAGE.data}` } },
    ],
  ])('are native parts of the first message of %s/%s', async (provider, family, document, image) => {
    const { model, requests } = await open(provider, family)
    const message = model.userMessage('{"invoice":{}}', files)
    await model.respond(requestOf(model, { messages: [message], tools: [ADD] }))
    await model.respond(requestOf(model, { messages: [JSON.parse(JSON.stringify(message))], tools: [ADD] }))
    const [first, second] = requests()
    const parts = first?.history.filter((item) => item.type === 'file').map(({ part }) => part)
    expect(parts).toMatchObject([document, image])
    const texts = JSON.stringify(first?.history.filter(({ type }) => type === 'text'))
    expect(texts).toMatch(/invoice.*File \/invoice:.*File \/photos\/0:/s)
    expect(second?.body).toEqual(first?.body)
  })

  it.each([
    ['anthropic/claude-3-haiku-20240307', 'application/pdf'],
    ['anthropic/claude-2.1', 'image/png'],
    ['openai/gpt-3.5-turbo', 'image/png'],
    ['openai/o3-mini', 'application/pdf'],
    ['bedrock/eu.amazon.nova-micro-v1:0', 'image/jpeg'],
    ['bedrock/us.meta.llama4-maverick-17b-instruct-v1:0', 'application/pdf'],
  ])('are refused for %s, which does not read %s', (name, mediaType) => {
    expect(findMediaProblem(parseModelName(name), [mediaType])).toBe(
      `The model ${name} does not accept files of type ${mediaType}.`,
    )
  })

  it('leave room for fewer images of tool results', async () => {
    const { model, requests } = await open('anthropic', 'claude-sonnet-4-5')
    const photos = Array.from({ length: 18 }, (_, index) => ({ path: `/photos/${index}`, ...IMAGE }))
    const ids = ['1', '2', '3', '4']
    const asked = {
      role: 'assistant',
      content: ids.map((toolCallId) => ({ type: 'tool-call', toolCallId, toolName: 'add', input: {} })),
    }
    const results = ids.map((id) => ({
      call: { id, name: 'add', input: { a: 1, b: 2 }, error: null },
      result: { ok: true as const, value: `[Image ${id}]`, images: [{ ...IMAGE }] },
    }))
    const messages = [model.userMessage('{}', photos), asked, model.toolMessage(results)]
    await model.respond(requestOf(model, { messages, tools: [ADD] }))
    const body = JSON.stringify(requests()[0]?.body)
    expect(body.split(IMAGE.data)).toHaveLength(20 + 1)
  })
})

const FINAL = { ...ADD, name: 'final_answer' }

/** The bodies of the requests of three steps. */
async function bodiesOf(
  format: Provider,
  family: string,
  { instructions = 'Be brief.', input = 'What is 1 + 2?', tools = [ADD] } = {},
) {
  const { model, requests } = await open(format, family)
  const messages: Json[] = [model.userMessage(input)]
  for (let step = 0; step < 3; step++) {
    const response = await model.respond(requestOf(model, { instructions, tools, messages }))
    const results = response.toolCalls.map((call) => ({ call, result: { ok: true as const, value: 3 } }))
    messages.push(...response.messages, model.toolMessage(results))
  }
  return requests().map(({ body }) => body)
}

const contentOf = (body: JsonObject = {}) =>
  (body.messages as { content: JsonObject[] }[]).map(({ content }) => content)

const countMarks = (body: JsonObject | undefined) =>
  JSON.stringify(body).split(/"cache_control"|"cachePoint"/).length - 1

/** Which messages of the third request are marked. */
const MARKED = [false, false, true, false, true]

describe('prompt caching', () => {
  it('marks the system prompt and the last messages of this and the previous request at Anthropic', async () => {
    const bodies = await bodiesOf('anthropic', 'claude-sonnet-4-5')
    const mark = { cache_control: { type: 'ephemeral' } }
    expect(bodies[0]?.system).toMatchObject([mark])
    expect(contentOf(bodies[0])).toMatchObject([[mark]])
    expect(bodies.map(countMarks)).toEqual([2, 3, 3])
    const isMarked = contentOf(bodies[2]).map((content) => content.some((part) => 'cache_control' in part))
    expect(isMarked).toEqual(MARKED)
  })

  it('sets cache points at the same places at Bedrock', async () => {
    const bodies = await bodiesOf('bedrock', 'eu.anthropic.claude-sonnet-4-5')
    expect(bodies[0]?.system).toMatchObject([{}, { cachePoint: { type: 'default' } }])
    expect(bodies.map(countMarks)).toEqual([2, 3, 3])
    const isMarked = contentOf(bodies[2]).map((content) => 'cachePoint' in (content.at(-1) ?? {}))
    expect(isMarked).toEqual(MARKED)
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
      const { cached, uncached } = await costOfLongConversation(server, format)
      for (const ratio of [uncached / 480_000, cached / 97_000]) {
        expect(ratio).toBeGreaterThan(1)
        expect(ratio).toBeLessThan(1.1)
      }
    },
  )
})
