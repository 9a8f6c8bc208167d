import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { type ScriptedModel, startScriptedModel } from '../support/scripted-model/start-scripted-model.ts'
import { type ApiClient, createLocalClient } from '../support/service/client.ts'
import { temporaryServices } from '../support/service/temporary-services.ts'

const services = temporaryServices()
let scripted: ScriptedModel
let call: ApiClient

beforeAll(async () => {
  scripted = await startScriptedModel()
  const folder = services.newFolder()
  const service = await services.start(folder, {
    ...(scripted.environmentFor('openai') as Record<string, string>),
    DYNAMODB_ENDPOINT: inject('dynamodb'),
    DEFAULT_MODEL: scripted.modelFor('openai', 'silent'),
    // Ten minutes between heartbeats: nothing else stops the run.
    LEASE_SECONDS: '3600',
  })
  call = createLocalClient(service.url, folder)
})
afterAll(() => scripted.stop())

describe('cancelling a synchronous run', () => {
  it.each([
    ['waits for its first token', { text: 'Late.', delayMs: 300_000 }],
    ['streams', { text: 'Slow.', pause: { ms: 300_000, chunk: -1 } }],
  ])('aborts its model request at once while it %s', async (_, turn) => {
    scripted.script('silent', [turn])
    const running = call('POST', '/v1/agents/summarize-text/executions', { body: { text: 'A text.' } })
    await vi.waitUntil(() => scripted.requests('silent').length === 1)
    const [open] = (await call('GET', '/v1/agent_executions?status=IN_PROGRESS')).json
    expect((await call('POST', `/v1/agent_executions/${open.id}/cancel`)).status).toBe(200)
    expect((await running).json).toMatchObject({ error: { code: 'Cancelled' } })
    await vi.waitUntil(() => scripted.unfinished('silent') === 1)
  })
})
