import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, inject, it, vi } from 'vitest'
import { stepRecord } from '../../lib/contract/records/step.ts'
import { executionStore } from '../../lib/dynamodb/executions/execution-store.ts'
import { system } from '../../lib/system.ts'
import { finalAnswer } from '../support/engine/model-agent.ts'
import { sharedTable } from '../support/engine/organization.ts'
import { startScriptedModel } from '../support/scripted-model/start-scripted-model.ts'
import {
  createLocalClient,
  getExecutionId,
  readDevToken,
  waitForExecution,
} from '../support/service/client.ts'
import { temporaryServices } from '../support/service/temporary-services.ts'
import { secret } from '../tools/tools.ts'

const services = temporaryServices()
const folder = services.newFolder()
/** The samples with a model of the provider that most scripts use: calls may choose another one of it. */
const SUMMARIZE = '/v1/agents/summarize-scripted/executions'
const TRIAGE = '/v1/agents/triage-scripted/executions'
const AT_ENDPOINT = '/v1/agents/at-endpoint/executions'
const KEY = 'the-key-of-groq-4711'
const summary = { summary: 'Short.', topics: ['brevity'] }
const scripted = await startScriptedModel()
const groq = {
  ...{ baseUrl: `${scripted.url}/openai-compatible/v1`, apiKey: secret('GROQ_KEY'), traits: { json: false } },
  prices: { 'priced*': { input: 1000, output: 2000 } },
}
const service = await services.start(folder, {
  ...(scripted.environmentFor() as Record<string, string>),
  DYNAMODB_ENDPOINT: inject('dynamodb'),
  POWERTOOLS_LOG_LEVEL: 'INFO',
  GROQ_KEY: KEY,
  MODEL_ENDPOINTS: JSON.stringify({ groq }),
})
const call = createLocalClient(service.url, folder)

beforeAll(async () => {
  const own = scripted.modelFor('openai-compatible', 'own')
  await publish('summarize-text', 'summarize-scripted', own)
  await publish('triage-ticket', 'triage-scripted', own)
  await publish('summarize-text', 'at-endpoint', 'groq/priced-own')
})
afterAll(() => scripted.stop())

async function publish(sample: string, slug: string, model: string) {
  const text = readFileSync(new URL(`../../agents/${sample}/agent.md`, import.meta.url), 'utf8')
  const document = text.replace('---\n', `---\nslug: ${slug}\nmodel: ${model}\n`)
  const { status } = await call('POST', '/v1/agents', { body: { document } })
  expect([200, 201]).toContain(status)
}

it('the sample agent triage-ticket runs asynchronously, calls another agent as a tool and records its steps', async () => {
  const name = system.newId()
  const triage = { priority: 'high', team: 'accounts', summary: 'Cannot log in.', knownIncident: false }
  scripted.script(name, [
    { text: 'First I redact.', calls: [{ name: 'redact', input: { content: 'I am ada@example.com.' } }] },
    { calls: [finalAnswer(triage)] },
  ])
  const model = encodeURIComponent(scripted.modelFor('openai-compatible', name))
  const { json } = await call('POST', `${TRIAGE}?execMode=async&model=${model}&useDynamicLearning=true`, {
    body: { subject: 'Help', body: 'I am ada@example.com.' },
  })
  const ended = await waitForExecution(call, json.id)
  scripted.assertDone(name)
  expect(ended).toMatchObject({ status: 'SUCCESS', output: triage, steps: 2, source: 'API' })

  const organizationId = (await call('GET', '/v1/agents/triage-scripted')).json.orgId
  const stored = await executionStore(sharedTable()).get({ organizationId, id: json.id })
  expect(stored?.options).toMatchObject({ useDynamicLearning: true, model: decodeURIComponent(model) })

  const steps = (await call('GET', `/v1/agent_executions/${json.id}/steps`)).json
  for (const step of steps) expect(stepRecord.strict().safeParse(step).error).toBeUndefined()
  expect(steps).toMatchObject([
    {
      number: 1,
      text: 'First I redact.',
      toolCalls: [{ name: 'redact', result: { redactedContent: 'I am [EMAIL_ADDRESS].' } }],
      usage: { inputTokens: 10, outputTokens: 5 },
    },
    { number: 2, toolCalls: [{ name: 'final_answer', input: triage }] },
  ])
  const children = (await call('GET', '/v1/agents/redact-pii/executions')).json
  expect(children[0]).toMatchObject({ source: 'AGENT', parentExecutionId: json.id, status: 'SUCCESS' })
  expect(steps[0].toolCalls[0]).toMatchObject({ executionId: children[0].id, attempt: 1 })
  const [{ finishedAt, toolCalls }] = steps
  expect(Date.parse(toolCalls[0].startedAt)).toBeGreaterThanOrEqual(Date.parse(finishedAt))
})

it('an agent runs with the key of the endpoint of its model, and its record names it', async () => {
  scripted.script('priced-own', [{ calls: [finalAnswer(summary)] }])
  const response = await call('POST', AT_ENDPOINT, { body: { text: 'A long text.' } })
  expect(response.json).toEqual(summary)
  scripted.assertDone('priced-own')
  expect(scripted.requests('priced-own')[0]?.headers.authorization).toBe(`Bearer ${KEY}`)
  const record = (await call('GET', response.headers.get('location') ?? '')).json
  expect(record).toMatchObject({ status: 'SUCCESS', model: 'groq/priced-own', costUsd: 0.02 })
})

it('the log contains IDs and outcomes, but no input, output or model text', async () => {
  const name = system.newId()
  const secrets = ['sent-4711', 'said-4712', 'returned-4713', 'failed-4714'] as const
  const [sent, said, returned, message] = secrets
  scripted.script(name, [
    { text: said, calls: [{ name: 'redact', input: { content: said } }] },
    { calls: [finalAnswer({ summary: returned, topics: [] })] },
    { status: 400, message },
  ])
  const model = encodeURIComponent(scripted.modelFor('openai-compatible', name))
  const options = { body: { text: sent } }
  const done = await call('POST', `${SUMMARIZE}?model=${model}`, options)
  expect(done.json.summary).toBe(returned)
  const failed = await call('POST', `${SUMMARIZE}?model=${model}`, options)
  expect(failed.json.code).toBe('ExecutionFailed')
  await call('POST', SUMMARIZE, { raw: `{"text": "${sent}"` })

  await vi.waitFor(() => expect(service.output()).toContain('"code":"InvalidJson"'))
  const log = service.output()
  expect(log).toContain(getExecutionId(done))
  expect(log).toContain('"code":"ExecutionFailed"')
  for (const secret of secrets) expect(log).not.toContain(secret)
  // In the printed curl command and in the link to the console.
  const token = readDevToken(folder)
  expect(log.split(token)).toHaveLength(3)
})
