import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../lib/core/json/json.ts'
import type { ModelRequest } from '../../../lib/core/model.ts'
import { openModel } from '../../../lib/models/open-model.ts'
import type { Provider } from '../../../lib/models/providers/providers.ts'
import type { RecordedRequest } from '../../support/scripted-model/recorded-request.ts'
import type { Reply, Script } from '../../support/scripted-model/turn.ts'
import { ADD, openScripted, requestOf, useScriptedModel } from '../support.ts'

const server = await useScriptedModel()

const ANSWER = {
  ...ADD,
  name: 'final_answer',
  inputSchema: {
    type: 'object',
    properties: {
      größe: { type: 'number', minimum: 0 },
      note: { type: 'string', maxLength: 20 },
      tags: { type: 'object', additionalProperties: { type: 'string' } },
    },
    required: ['größe'],
    additionalProperties: false,
  },
} as unknown as typeof ADD

const SENT = { gro_e: 5, note: null, tags: '{"a":"b"}' }
const MEANT = { größe: 5, tags: { a: 'b' } }

const CLAUDE: [Provider, string] = ['anthropic', 'claude-sonnet-4-5']
const FAMILIES: [Provider, string][] = [
  ['openai', 'gpt-5'],
  CLAUDE,
  ['bedrock', 'eu.anthropic.claude-sonnet-4-5'],
]

async function respond(
  [provider, family]: [Provider, string],
  script: Script,
  given: Partial<ModelRequest> = { answerMode: 'structured', tools: [ANSWER] },
) {
  const { model, requests } = await openScripted(server, provider, script, { family })
  const send = () => model.respond(requestOf(model, given))
  return { response: await send(), send, requests: requests() }
}

describe.each(FAMILIES)('native structured output of %s/%s', (...model) => {
  it('has a schema that the provider enforces, and no tool', async () => {
    const { response, requests } = await respond(model, [{ text: JSON.stringify(SENT) }])
    expect(requests[0]).toMatchObject({
      tools: [],
      forcedTool: null,
      responseSchema: {
        type: 'object',
        required: ['gro_e', 'note', 'tags'],
        additionalProperties: false,
        properties: { note: { type: ['string', 'null'] }, tags: { type: ['string', 'null'] } },
      },
    })
    expect(JSON.parse(response.text)).toEqual(MEANT)
    if (model[0] === 'openai')
      expect(requests[0]?.body.text).toMatchObject({ format: { type: 'json_schema', strict: true } })
  })

  it('leaves a text that is not JSON to the caller', async () => {
    const { response } = await respond(model, [{ text: 'Well.' }])
    expect(response.text).toBe('Well.')
  })

  it('is replaced by the tool, which has to be called, at a server that rejects it', async () => {
    const script = ({ responseSchema }: RecordedRequest): Reply =>
      responseSchema
        ? { status: 400, message: 'output_config.format: Extra inputs are not permitted' }
        : { calls: [{ name: 'final_answer', input: SENT }] }
    const { response, send, requests } = await respond(model, script)
    expect(response.toolCalls).toMatchObject([{ input: MEANT, error: null }])
    await send()
    expect(requests.map(({ forcedTool }) => forcedTool)).toEqual([null, 'final_answer', 'final_answer'])
  })
})

describe.each(FAMILIES)('strict tools of %s/%s', (...model) => {
  const isStrict = ({ body }: RecordedRequest) => JSON.stringify(body).includes('"strict":true')

  it('are sent as others to a server that rejects them, for the rest of the run', async () => {
    const script = (request: RecordedRequest): Reply =>
      isStrict(request)
        ? { status: 400, message: 'tools.0: Schema is too complex.' }
        : { calls: [{ name: 'final_answer', input: { gro_e: 5, tags: { a: 'b' } } }] }
    const { response, send, requests } = await respond(model, script, { tools: [ANSWER] })
    expect(response.toolCalls).toMatchObject([{ input: MEANT, error: null }])
    await send()
    expect(requests.map(isStrict)).toEqual([true, false, false])
  })

  it('are not sent again after another error', async () => {
    const sent = respond(model, [{ status: 400, message: 'max_tokens is too large' }], { tools: [ANSWER] })
    await expect(sent).rejects.toThrow('max_tokens is too large')
  })
})

describe('an inference profile of an application on Bedrock', () => {
  const ARN = 'arn:aws:bedrock:eu-central-1:123456789012:application-inference-profile/abc123'

  it('has the capabilities of the model that follows its ARN, which Bedrock does not get', async () => {
    server.script(ARN, [{ text: JSON.stringify(SENT) }, { text: 'Done.' }])
    const name = `bedrock/${ARN}#eu.anthropic.claude-sonnet-4-5-20250929-v1:0`
    const model = await openModel(name, server.environmentFor('bedrock'))
    const { text } = await model.respond(requestOf(model, { answerMode: 'structured', tools: [ANSWER] }))
    await model.respond(requestOf(model, { tools: [ANSWER, ADD] }))
    const [first, second] = server.requests(ARN)
    expect(model.name).toBe(name)
    expect(JSON.parse(text)).toEqual(MEANT)
    expect(first?.responseSchema).toMatchObject({ required: ['gro_e', 'note', 'tags'] })
    expect(JSON.stringify(second?.body)).toMatch(/"cachePoint"/)
    expect(JSON.stringify(second?.body)).toMatch(/"strict":true/)
  })
})

describe('the limits of strict tools', () => {
  const fields = (count: number, schema: JsonObject) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, schema]))
  const tool = (name: string, properties: JsonObject) =>
    ({ name, description: name, inputSchema: { type: 'object', properties } }) as unknown as typeof ADD
  const optional = (name: string, count: number) => tool(name, fields(count, { type: 'string' }))
  const strictOf = async (model: [Provider, string], tools: (typeof ADD)[]) => {
    const { requests } = await respond(model, [{ text: 'Done.' }], { tools })
    const sent = (requests[0]?.body.tools ?? []) as JsonObject[]
    const required = requests[0]?.tools.map(({ inputSchema }) => (inputSchema.required as string[])?.length)
    return { strict: sent.map(({ strict }) => strict ?? null), required }
  }

  it('at Anthropic: 16 values with alternatives, else 24 fields that may be missing, in all schemas', async () => {
    const tools = ['a', 'b', 'c', 'd'].map((name) => optional(name, 10))
    const expected = { strict: [true, true, true, null], required: [10, 0, 0, undefined] }
    expect(await strictOf(CLAUDE, tools)).toEqual(expected)
  })

  it('are used for the final answer first', async () => {
    const answer = optional('final_answer', 30)
    const unions = tool('b', fields(30, { type: ['string', 'null'] }))
    const tools = [optional('a', 16), optional('final_answer', 16)]
    expect(await strictOf(CLAUDE, tools)).toEqual({ strict: [true, true], required: [0, 16] })
    expect((await strictOf(CLAUDE, [unions, answer])).strict).toEqual([null, null])
  })

  it('do not exist at OpenAI', async () => {
    const tools = [optional('a', 90), optional('b', 90)]
    expect(await strictOf(['openai', 'gpt-5'], tools)).toEqual({ strict: [true, true], required: [90, 90] })
  })
})
