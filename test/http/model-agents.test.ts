import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { stepRecord } from '../../lib/api/schemas/execution-record.ts'
import { executionStore } from '../../lib/dynamodb/executions/execution-store.ts'
import { PROVIDERS } from '../../lib/models/providers/providers.ts'
import { system } from '../../lib/system.ts'
import { finalAnswer } from '../support/engine/model-agent.ts'
import { sharedTable } from '../support/engine/organization.ts'
import { type ScriptedModel, startScriptedModel } from '../support/scripted-model/start-scripted-model.ts'
import {
  type ApiClient,
  createLocalClient,
  getExecutionId,
  readDevToken,
  waitForExecution,
} from '../support/service/client.ts'
import type { Service } from '../support/service/start-service.ts'
import { temporaryServices } from '../support/service/temporary-services.ts'

const services = temporaryServices()
const folder = services.newFolder()
/** The sample, which uses the default model. */
const DEFAULT = '/v1/agents/summarize-text/executions'
/** The samples with a model of the provider that most scripts use: calls may choose another one of it. */
const SUMMARIZE = '/v1/agents/summarize-scripted/executions'
const TRIAGE = '/v1/agents/triage-scripted/executions'
let scripted: ScriptedModel
let service: Service
let call: ApiClient

beforeAll(async () => {
  scripted = await startScriptedModel()
  service = await services.start(folder, {
    ...(scripted.environmentFor() as Record<string, string>),
    ANTHROPIC_API_KEY: '',
    DYNAMODB_ENDPOINT: inject('dynamodb'),
    POWERTOOLS_LOG_LEVEL: 'INFO',
    DEFAULT_MODEL: scripted.modelFor('openai', 'default-model'),
    MODEL_PRICES: '{"openai-compatible/priced*": {"input": 1000, "output": 2000}}',
  })
  call = createLocalClient(service.url, folder)
  await publishScripted('summarize-text', 'summarize-scripted')
  await publishScripted('triage-ticket', 'triage-scripted')
})
afterAll(() => scripted.stop())

async function publishScripted(sample: string, slug: string) {
  const text = readFileSync(new URL(`../../agents/${sample}/agent.md`, import.meta.url), 'utf8')
  const document = text.replace(
    '---\n',
    `---\nslug: ${slug}\nmodel: ${scripted.modelFor('openai-compatible', 'own')}\n`,
  )
  const { status } = await call('POST', '/v1/agents', { body: { document } })
  expect([200, 201]).toContain(status)
}

const summary = { summary: 'Short.', topics: ['brevity'] }

describe('the sample agents', () => {
  it('summarize-text runs synchronously with the default model', async () => {
    scripted.script('default-model', [{ calls: [finalAnswer(summary)] }])
    const response = await call('POST', DEFAULT, { body: { text: 'A long text.' } })
    expect(response.json).toEqual(summary)
    scripted.assertDone('default-model')
    const record = (await call('GET', response.headers.get('location') ?? '')).json
    expect(record).toMatchObject({
      status: 'SUCCESS',
      model: 'openai/default-model',
      steps: 1,
      usage: { inputTokens: 10, outputTokens: 5 },
    })
    expect(scripted.requests('default-model')[0]?.instructions).toContain('You summarize texts')
  })

  it('triage-ticket runs asynchronously, calls another agent as a tool and records its steps', async () => {
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
    expect(Date.parse(steps[0].toolCalls[0].startedAt)).toBeGreaterThanOrEqual(
      Date.parse(steps[0].finishedAt),
    )
  })
})

describe('model=', () => {
  const invalid: [model: string, detail: string][] = [
    ['acme/best', PROVIDERS.join(', ')],
    ['best', 'openai-compatible'],
    ['', 'openai-compatible'],
    ['openai/', 'name'],
    ['anthropic/claude-sonnet-4-5', 'Allowed models: those of the provider openai.'],
    ['openai/gpt-4o:high', 'reasoning'],
  ]
  it.each(invalid)(
    '%j is rejected with InvalidModelOverride before an execution is created',
    async (model, detail) => {
      const before = (await call('GET', `${DEFAULT}?limit=1`)).text
      const response = await call('POST', `${DEFAULT}?model=${encodeURIComponent(model)}`, {
        body: { text: 'x' },
      })
      expect(response.json).toMatchObject({ status: 400, code: 'InvalidModelOverride' })
      expect(response.json.detail).toContain(detail)
      expect((await call('GET', `${DEFAULT}?limit=1`)).text).toBe(before)
    },
  )

  it('selects the model and the reasoning level', async () => {
    const name = `gpt-5-${system.newId()}`
    scripted.script(name, [{ calls: [finalAnswer(summary)] }])
    const model = encodeURIComponent(scripted.modelFor('openai', name, 'low'))
    const response = await call('POST', `${DEFAULT}?model=${model}`, { body: { text: 'x' } })
    expect(response.json).toEqual(summary)
    expect(JSON.stringify(scripted.requests(name)[0]?.reasoning)).toContain('low')
  })
})

describe('maxAgentSteps', () => {
  it('overrides the setting of the version', async () => {
    const name = system.newId()
    scripted.script(name, () => ({ text: 'Hm.' }))
    const model = encodeURIComponent(scripted.modelFor('openai-compatible', name))
    const response = await call('POST', `${SUMMARIZE}?model=${model}&maxAgentSteps=1`, {
      body: { text: 'x' },
    })
    expect(response.json).toMatchObject({ code: 'ExecutionFailed', error: { code: 'MaxAgentStepsExceeded' } })
    expect(scripted.requests(name)).toHaveLength(1)
  })

  it.each(['', '&execMode=async'])('is at most that of the version, which says so: %j', async (mode) => {
    const { json } = await call('POST', `${SUMMARIZE}?maxAgentSteps=6${mode}`, { body: { text: 'x' } })
    expect(json).toMatchObject({
      status: 400,
      code: 'InvalidQueryParameter',
      errors: [{ path: 'maxAgentSteps', message: expect.stringContaining('at most 5') }],
    })
    const [limited] = (await call('GET', '/v1/agents/summarize-text/versions')).json
    const limits = { maxAgentSteps: 5, maxAgentStepsAllowed: 5, models: null }
    expect(limited.execution).toMatchObject(limits)
    const [free] = (await call('GET', '/v1/agents/redact-pii/versions')).json
    expect(free.execution).toMatchObject({ maxAgentSteps: 100, maxAgentStepsAllowed: 500 })
  })
})

describe('a budget', () => {
  const usage = { inputTokens: 1_000, outputTokens: 5 }
  const wrong = () => ({ calls: [finalAnswer({ wrong: true })], usage })

  it('in tokens ends the run in ERROR BudgetExceeded', async () => {
    const name = system.newId()
    scripted.script(name, wrong)
    const model = encodeURIComponent(scripted.modelFor('openai-compatible', name))
    const { json } = await call('POST', `${SUMMARIZE}?model=${model}&maxTokens=1800`, { body: { text: 'x' } })
    expect(json).toMatchObject({
      status: 500,
      code: 'ExecutionFailed',
      error: { code: 'BudgetExceeded', step: 2, spent: { tokens: 2_010, costUsd: null } },
    })
    const record = (await call('GET', `/v1/agent_executions/${json.executionId}`)).json
    expect(record).toMatchObject({ steps: 2, costUsd: null, usage: { inputTokens: 2_000, outputTokens: 10 } })
    const [step] = (await call('GET', `/v1/agent_executions/${json.executionId}/steps`)).json
    expect(step).toMatchObject({ costUsd: null, usage: { cacheWriteTokens: null, reasoningTokens: null } })
  })

  it('in US dollars ends the run in ERROR BudgetExceeded; executions and steps have a cost', async () => {
    const name = `priced-${system.newId()}`
    scripted.script(name, wrong)
    const model = encodeURIComponent(scripted.modelFor('openai-compatible', name))
    const { json } = await call('POST', `${SUMMARIZE}?model=${model}&maxCostUsd=1`, {
      body: { text: 'x' },
    })
    expect(json.error).toMatchObject({ code: 'BudgetExceeded', spent: { tokens: 1_005, costUsd: 1.01 } })
    expect((await call('GET', `/v1/agent_executions/${json.executionId}`)).json.costUsd).toBe(1.01)
    const steps = (await call('GET', `/v1/agent_executions/${json.executionId}/steps`)).json
    expect(steps.map(({ costUsd }: { costUsd: number }) => costUsd)).toEqual([1.01])
  })

  it.each([
    ['summarize-scripted', 'model=openai-compatible%2Ffree&maxCostUsd=1', 'maxCostUsd', 'has no price'],
    ['summarize-text', 'maxCostUsd=1', 'maxCostUsd', 'openai/default-model has no price'],
    ['redact-pii', 'maxTokens=5', 'maxTokens', 'is a code agent; it does not accept maxTokens'],
    ['redact-pii', 'maxCostUsd=5', 'maxCostUsd', 'is a code agent; it does not accept maxCostUsd'],
  ])('of %s that cannot be enforced is rejected: %s', async (slug, query, path, message) => {
    const { json } = await call('POST', `/v1/agents/${slug}/executions?${query}`, { body: {} })
    expect(json).toMatchObject({ status: 400, code: 'InvalidQueryParameter', errors: [{ path }] })
    expect(json.detail).toContain(message)
  })

  it('belongs to the request of an Idempotency-Key, but not to the key of the cache', async () => {
    const name = system.newId()
    scripted.script(name, [{ calls: [finalAnswer(summary)] }])
    const model = encodeURIComponent(scripted.modelFor('openai-compatible', name))
    const post = (query: string, headers = {}) =>
      call('POST', `${SUMMARIZE}?model=${model}&useCache=true${query}`, { body: { text: name }, headers })
    const keyed = { 'Idempotency-Key': name }
    expect((await post('&maxTokens=5000', keyed)).json).toEqual(summary)
    expect((await post('&maxTokens=5000', keyed)).json).toEqual(summary)
    expect((await post('&maxTokens=5001', keyed)).json.code).toBe('IdempotencyKeyReused')
    expect((await post('', keyed)).json.code).toBe('IdempotencyKeyReused')
    const hit = await post('&maxTokens=5')
    expect(hit.headers.get('cache-status')).toContain('hit')
    const record = (await call('GET', hit.headers.get('location') ?? '')).json
    expect(record).toMatchObject({ cached: true, costUsd: 0 })
  })
})

describe('the log', () => {
  it('contains IDs and outcomes, but no input, output or model text', async () => {
    const name = system.newId()
    const secrets = ['sent-4711', 'said-4712', 'returned-4713', 'failed-4714']
    scripted.script(name, [
      { text: secrets[1] as string, calls: [{ name: 'redact', input: { content: secrets[1] as string } }] },
      { calls: [finalAnswer({ summary: secrets[2] as string, topics: [] })] },
      { status: 400, message: secrets[3] as string },
    ])
    const model = encodeURIComponent(scripted.modelFor('openai-compatible', name))
    const options = { body: { text: secrets[0] } }
    const done = await call('POST', `${SUMMARIZE}?model=${model}`, options)
    expect(done.json.summary).toBe(secrets[2])
    const failed = await call('POST', `${SUMMARIZE}?model=${model}`, options)
    expect(failed.json.code).toBe('ExecutionFailed')
    await call('POST', SUMMARIZE, { raw: `{"text": "${secrets[0]}"` })

    await vi.waitFor(() => expect(service.output()).toContain('"code":"InvalidJson"'))
    const log = service.output()
    expect(log).toContain(getExecutionId(done))
    expect(log).toContain('"code":"ExecutionFailed"')
    for (const secret of secrets) expect(log).not.toContain(secret)
    // In the printed curl command and in the link to the console.
    const token = readDevToken(folder)
    expect(log.split(token)).toHaveLength(3)
  })
})
