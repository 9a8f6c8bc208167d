import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { finalAnswer } from '../support/engine/model-agent.ts'
import { type ScriptedModel, startScriptedModel } from '../support/scripted-model/start-scripted-model.ts'
import { type ApiClient, createLocalClient } from '../support/service/client.ts'
import type { Service } from '../support/service/start-service.ts'
import { temporaryServices } from '../support/service/temporary-services.ts'
import { secret } from '../tools/tools.ts'

const services = temporaryServices()
const folder = services.newFolder()
const PATH = '/v1/agents/at-endpoint/executions'
const KEY = 'the-key-of-groq-4711'
const summary = { summary: 'Short.', topics: ['brevity'] }
const sample = readFileSync(new URL('../../agents/summarize-text/agent.md', import.meta.url), 'utf8')
let scripted: ScriptedModel
let service: Service
let call: ApiClient

const publish = (slug: string, fields: string) =>
  call('POST', '/v1/agents', {
    body: { document: sample.replace('---\n', `---\nslug: ${slug}\n${fields}\n`) },
  })

beforeAll(async () => {
  scripted = await startScriptedModel()
  const groq = {
    baseUrl: `${scripted.url}/openai-compatible/v1`,
    apiKey: secret('GROQ_KEY'),
    traits: { json: false },
    prices: { 'priced*': { input: 1000, output: 2000 } },
  }
  const azure = {
    baseUrl: `${scripted.url}/openai/v1`,
    format: 'openai',
    headers: { 'api-key': secret('GROQ_KEY') },
  }
  service = await services.start(folder, {
    DYNAMODB_ENDPOINT: inject('dynamodb'),
    POWERTOOLS_LOG_LEVEL: 'INFO',
    GROQ_KEY: KEY,
    MODEL_ENDPOINTS: JSON.stringify({ groq, azure }),
  })
  call = createLocalClient(service.url, folder)
  expect((await publish('at-endpoint', 'model: groq/priced-own')).status).toBe(201)
})
afterAll(() => scripted.stop())

describe('an agent whose model is of an endpoint', () => {
  it('runs with the key of the endpoint, and its record names it', async () => {
    scripted.script('priced-own', [{ calls: [finalAnswer(summary)] }])
    const response = await call('POST', PATH, { body: { text: 'A long text.' } })
    expect(response.json).toEqual(summary)
    scripted.assertDone('priced-own')
    expect(scripted.requests('priced-own')[0]?.headers.authorization).toBe(`Bearer ${KEY}`)
    const record = (await call('GET', response.headers.get('location') ?? '')).json
    expect(record).toMatchObject({ status: 'SUCCESS', model: 'groq/priced-own', costUsd: 0.02 })
  })

  it.each([
    ['groq/other', null],
    ['azure/other', 'Allowed models: those of the endpoint groq.'],
    ['openai-compatible/other', 'Allowed models: those of the endpoint groq.'],
    ['grok/other', 'with one of bedrock, anthropic, openai, openai-compatible, groq, azure.'],
  ])('accepts overrides of the same endpoint only: %s', async (model, problem) => {
    scripted.script('other', [{ calls: [finalAnswer(summary)] }])
    const { json } = await call('POST', `${PATH}?model=${encodeURIComponent(model)}`, { body: { text: 'x' } })
    if (problem === null) expect(json).toEqual(summary)
    else
      expect(json).toMatchObject({ code: 'InvalidModelOverride', detail: expect.stringContaining(problem) })
  })

  it('does not show the key in errors or logs', async () => {
    const message = `The key ${KEY} is wrong.`
    scripted.script('priced-own', [{ status: 401, message }])
    const { json } = await call('POST', PATH, { body: { text: 'x' } })
    expect(json.error).toMatchObject({ message: expect.stringContaining('groq returned HTTP 401') })
    expect(JSON.stringify(json)).not.toContain(KEY)
    expect(service.output()).not.toContain(KEY)
  })
})
