import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { stepRecord } from '../../lib/api/schemas/step-record.ts'
import { executionStore } from '../../lib/dynamodb/execution-store.ts'
import { system } from '../../lib/system.ts'
import { type ApiClient, createLocalClient, getExecutionId, readDevToken } from '../support/client.ts'
import { finalAnswer } from '../support/model-agent.ts'
import { sharedTable } from '../support/organization.ts'
import { type ScriptedModel, startScriptedModel } from '../support/scripted-model/start-scripted-model.ts'
import { type Service, startService } from '../support/service.ts'
import { waitForExecution } from '../support/wait-for-execution.ts'

const folder = mkdtempSync(join(tmpdir(), 'aes-models-'))
const SUMMARIZE = '/v1/agents/summarize-text/executions'
const TRIAGE = '/v1/agents/triage-ticket/executions'
let scripted: ScriptedModel
let service: Service
let call: ApiClient

beforeAll(async () => {
  scripted = await startScriptedModel()
  service = await startService({
    dataDir: folder,
    environment: {
      ...(scripted.environmentFor() as Record<string, string>),
      ANTHROPIC_API_KEY: '',
      DYNAMODB_ENDPOINT: inject('dynamodb'),
      POWERTOOLS_LOG_LEVEL: 'INFO',
      DEFAULT_MODEL: scripted.modelFor('openai', 'default-model'),
    },
  })
  call = createLocalClient(service.url, folder)
})
afterAll(async () => {
  await service.stop()
  await scripted.stop()
  rmSync(folder, { recursive: true })
})

const summary = { summary: 'Short.', topics: ['brevity'] }

describe('the sample agents', () => {
  it('summarize-text runs synchronously with the default model', async () => {
    scripted.script('default-model', [{ calls: [finalAnswer(summary)] }])
    const response = await call('POST', SUMMARIZE, { body: { text: 'A long text.' } })
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

    const organizationId = (await call('GET', '/v1/agents/triage-ticket')).json.orgId
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
  })
})

describe('model=', () => {
  const invalid: [model: string, detail: string][] = [
    ['acme/best', 'bedrock, anthropic, openai, openai-compatible'],
    ['best', 'openai-compatible'],
    ['', 'openai-compatible'],
    ['openai/', 'name'],
    ['anthropic/claude-sonnet-4-5', 'ANTHROPIC_API_KEY'],
    ['openai/gpt-4o:high', 'reasoning'],
  ]
  it.each(invalid)(
    '%j is rejected with InvalidModelOverride before an execution is created',
    async (model, detail) => {
      const before = (await call('GET', `${SUMMARIZE}?limit=1`)).text
      const response = await call('POST', `${SUMMARIZE}?model=${encodeURIComponent(model)}`, {
        body: { text: 'x' },
      })
      expect(response.json).toMatchObject({ status: 400, code: 'InvalidModelOverride' })
      expect(response.json.detail).toContain(detail)
      expect((await call('GET', `${SUMMARIZE}?limit=1`)).text).toBe(before)
    },
  )

  it('selects the model and the reasoning level', async () => {
    const name = `gpt-5-${system.newId()}`
    scripted.script(name, [{ calls: [finalAnswer(summary)] }])
    const model = encodeURIComponent(scripted.modelFor('openai', name, 'low'))
    const response = await call('POST', `${SUMMARIZE}?model=${model}`, { body: { text: 'x' } })
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

    await vi.waitFor(() => expect(service.output()).toContain('"code":"InvalidJson"'), { timeout: 10_000 })
    const log = service.output()
    expect(log).toContain(getExecutionId(done))
    expect(log).toContain('"code":"ExecutionFailed"')
    for (const secret of secrets) expect(log).not.toContain(secret)
    // Once, in the printed curl command.
    const token = readDevToken(folder)
    expect(log.split(token)).toHaveLength(2)
  })
})
