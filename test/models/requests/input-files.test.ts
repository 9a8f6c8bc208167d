import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../lib/core/json/json.ts'
import { findMediaProblem } from '../../../lib/models/check-model.ts'
import { parseModelName } from '../../../lib/models/model-name.ts'
import { openModel } from '../../../lib/models/open-model.ts'
import type { Provider } from '../../../lib/models/providers/providers.ts'
import { system } from '../../../lib/system.ts'
import { IMAGE, PDF } from '../../support/data/files.ts'
import { ADD, requestOf, useScriptedModel } from '../support.ts'

const scripted = useScriptedModel()

/** Opens a model whose name says which one it is, so that it has the capabilities of that one. */
async function open(provider: Provider, family: string, replies = 1) {
  const reply = { calls: [{ name: 'add', input: { a: 1, b: 2 } }] }
  const { server } = scripted
  const name = `${family}-${system.newId()}`
  server.script(name, Array(replies).fill(reply))
  const model = await openModel(server.modelFor(provider, name), server.environmentFor(provider))
  return { model, requests: () => server.requests(name) }
}

const files = [
  { path: '/invoice', ...PDF },
  { path: '/photos/0', ...IMAGE },
]

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
      {
        type: 'input_file',
        filename: 'part-2.pdf',
        file_data: `data:application/pdf;base64,${PDF.data}`,
      },
      { type: 'input_image', image_url: `data:image/png;base64,${IMAGE.data}` },
    ],
    [
      'openai-compatible',
      'qwen3-vl:8b',
      {
        type: 'file',
        file: { filename: 'document.pdf', file_data: `data:application/pdf;base64,${PDF.data}` },
      },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${IMAGE.data}` } },
    ],
  ])('are native parts of the first message of %s/%s', async (provider, family, document, image) => {
    const { model, requests } = await open(provider, family, 2)
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
    const call = (id: string) => ({ id, name: 'add', input: { a: 1, b: 2 }, error: null })
    const ids = ['1', '2', '3', '4']
    const asked = {
      role: 'assistant',
      content: ids.map((toolCallId) => ({ type: 'tool-call', toolCallId, toolName: 'add', input: {} })),
    }
    const results = ids.map((id) => ({
      call: call(id),
      result: { ok: true as const, value: `[Image ${id}]`, images: [{ ...IMAGE }] },
    }))
    const messages = [model.userMessage('{}', photos), asked, model.toolMessage(results)]
    await model.respond(requestOf(model, { messages, tools: [ADD] }))
    const body = JSON.stringify(requests()[0]?.body)
    expect(body.split(IMAGE.data)).toHaveLength(20 + 1)
  })
})
