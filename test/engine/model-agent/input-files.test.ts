import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Version } from '../../../lib/core/agent.ts'
import type { JsonObject } from '../../../lib/core/json/json.ts'
import { executionKey } from '../../../lib/dynamodb/table/keys.ts'
import { NEVER } from '../../../lib/engine/checkpoints/deadline.ts'
import { giveFeedback } from '../../../lib/engine/learning/feedback.ts'
import { buildRunRequest } from '../../../lib/engine/submit/run-request.ts'
import { runInProcess } from '../../../lib/engine/submit/submit.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { system } from '../../../lib/system.ts'
import { IMAGE, PDF, pdfOf } from '../../support/data/files.ts'
import { executionOf } from '../../support/engine/executions.ts'
import { aModelAgent, finalAnswer } from '../../support/engine/model-agent.ts'
import { answer, lookup, startScriptedEngine } from '../../support/engine/scripted-engine.ts'
import { SCRIPTED_PROVIDERS } from '../../support/scripted-model/start-scripted-model.ts'
import type { Script } from '../../support/scripted-model/turn.ts'
import { engineTable } from '../../support/tables/memory-table.ts'

const { engine, scripted, aToolAgent } = await startScriptedEngine()

const INPUT = { question: { type: 'string' }, document: { type: 'file' } } as unknown as JsonObject
const sent = { question: 'Why?', document: PDF }
const REFUSED = 'The model openai/gpt-3.5-turbo does not accept files of type application/pdf.'
const FAMILY = {
  anthropic: 'claude-sonnet-4-5',
  bedrock: 'claude-sonnet-4-5',
  openai: 'gpt-5',
  'openai-compatible': 'qwen',
}

/** A name of a script that begins with that of a model that reads files. */
const named = (provider: (typeof SCRIPTED_PROVIDERS)[number], script: Script) => {
  const name = `${FAMILY[provider]}-${system.newId()}`
  scripted.script(name, script)
  return { name, model: scripted.modelFor(provider, name) }
}

async function run(version: Version, input: JsonObject, overrides = {}) {
  return runInProcess(engine, await buildRunRequest(version, input, overrides))
}

describe('a run with a file', () => {
  it.each(SCRIPTED_PROVIDERS)(
    'sends it to a model of %s in each request, and stores it once',
    async (provider) => {
      const { name, model } = named(provider, [lookup, answer])
      const version = await aToolAgent({ model, inputSchema: INPUT })
      const execution = await run(version, sent)
      expect(execution).toMatchObject({ status: 'SUCCESS', input: sent, inputAdaptations: [] })
      const requests = scripted.requests(name).map(({ body }) => JSON.stringify(body))
      expect(requests.map((request) => request.split(PDF.data).length - 1)).toEqual([1, 1])
      expect(requests[0]).toContain(
        String.raw`{\"question\":\"Why?\",\"document\":{\"mediaType\":\"application/pdf\",\"bytes\":40`,
      )
      const steps = await engine.steps.read({ executionId: execution.id })
      expect(JSON.stringify(steps)).not.toContain(PDF.data)
    },
  )

  it('sends the same requests after another worker has taken over', async () => {
    const drain = new AbortController()
    const { name, model } = named('bedrock', (_, index) => {
      if (index === 0) drain.abort()
      return index === 0 ? lookup : answer
    })
    const version = await aToolAgent({ model, inputSchema: INPUT })
    const execution = executionOf(version, { input: sent })
    await engine.executions.create({ execution })
    await processMessage(engine, execution.id, { deadline: { drain: drain.signal, stop: NEVER } })
    expect(scripted.requests(name)).toHaveLength(1)
    await processMessage(engine, execution.id)
    const [first, second] = scripted.requests(name).map(({ body }) => body as { messages: unknown[] })
    expect(second?.messages[0]).toEqual(first?.messages[0])
    expect(await engine.executions.getStatus(execution)).toBe('SUCCESS')
  })

  it('ends in ModelNotConfigured if the model does not read it', async () => {
    const version = await aModelAgent({ model: 'openai/gpt-3.5-turbo', inputSchema: INPUT })
    const { error } = await run(version, sent)
    expect(error).toEqual({ code: 'ModelNotConfigured', message: REFUSED })
  })
})

describe('buildRunRequest, for a file', () => {
  it('rejects base64 in lines in strict mode only', async () => {
    const version = await aModelAgent({ inputSchema: INPUT })
    const input = { ...sent, document: { ...PDF, data: `${PDF.data}\n` } }
    expect(await buildRunRequest(version, input, {})).toMatchObject({ adaptedInput: sent })
    await expect(buildRunRequest(version, input, { enforceInputSchema: true })).rejects.toMatchObject({
      errors: [{ message: '/document/data must be valid base64.' }],
    })
  })

  it('rejects a model that does not read it, but not for an input without one', async () => {
    vi.stubEnv('OPENAI_API_KEY', 'sk-test')
    onTestFinished(() => void vi.unstubAllEnvs())
    const inputSchema = { ...INPUT, document: { type: 'file', required: false } } as JsonObject
    const version = await aModelAgent({ inputSchema, model: 'openai/gpt-5' })
    const overrides = { model: 'openai/gpt-3.5-turbo' }
    const error = { code: 'InvalidModelOverride', message: REFUSED }
    await expect(buildRunRequest(version, sent, overrides)).rejects.toMatchObject(error)
    expect(await buildRunRequest(version, { question: 'Why?' }, overrides)).toMatchObject({ input: {} })
    expect(await buildRunRequest(version, sent, { model: 'openai/gpt-4.1' })).toMatchObject({ input: sent })
  })

  it('has a cache key that depends on its bytes, not on how they were written', async () => {
    const version = await aModelAgent({ inputSchema: INPUT })
    const keyOf = async (document: unknown) =>
      (await buildRunRequest(version, { ...sent, document } as JsonObject, { useCache: true })).cache?.key
    const key = await keyOf(PDF)
    expect(key).toMatch(/^[0-9a-f]{64}$/)
    expect(await keyOf(`data:application/pdf;base64,${PDF.data}`)).toBe(key)
    expect(await keyOf({ ...PDF, data: pdfOf(41) })).not.toBe(key)
  })
})

it('an agent that is called as a tool is passed a file of the run by its path', async () => {
  const tools = [{ name: 'read', agent: 'reader' }]
  const child = named('openai-compatible', [{ calls: [finalAnswer({ answer: 'A total of 5.' })] }])
  const { organizationId } = await aModelAgent({
    ...{ slug: 'reader', model: child.model },
    inputSchema: { page: { type: 'file', description: 'A page.', mediaTypes: ['image/png'] } },
  })
  const call = { name: 'read', input: { page: '/pages/1' } }
  const parent = named('openai-compatible', [{ calls: [call] }, answer])
  const inputSchema = { pages: { type: 'array', items: { type: 'file' } } } as unknown as JsonObject
  const version = await aModelAgent({ organizationId, model: parent.model, inputSchema, tools })
  const execution = await run(version, { pages: [PDF, IMAGE] })
  expect(execution.status).toBe('SUCCESS')
  const declared = scripted.requests(parent.name)[0]?.tools.find(({ name }) => name === 'read')
  expect(declared?.inputSchema.properties).toEqual({
    page: {
      type: 'string',
      description: 'A page. The path of a file of the input, such as /document.',
      enum: ['/pages/1'],
    },
  })
  expect(JSON.stringify(scripted.requests(child.name)[0]?.body)).toContain(IMAGE.data)
  const [step] = await engine.steps.read({ executionId: execution.id })
  expect(JSON.stringify(step)).not.toContain(IMAGE.data)
  const { executionId = '' } = [...(step?.results.values() ?? [])][0]?.result ?? {}
  expect(await engine.executions.get({ organizationId, id: executionId })).toMatchObject({
    input: { page: IMAGE },
  })
})

it('a run that learns finds the correction of the same file, of which the index has a description', async () => {
  const { name, model } = named('anthropic', [answer, answer])
  const version = await aModelAgent({ model, inputSchema: INPUT })
  const past = await run(version, sent)
  const feedback = { rating: -1 as const, correctedOutput: { answer: 'Corrected.' }, note: null }
  await giveFeedback(engine, { ...past, feedback, isReview: true })
  const item = await (await engineTable()).get(executionKey(past.id), { consistent: true })
  expect(JSON.stringify(item?.lesson)).not.toContain('JVBER')
  const document = `data:application/pdf;base64,${PDF.data}`
  const { learnedFrom } = await run(version, { ...sent, document }, { useDynamicLearning: true })
  expect(learnedFrom).toEqual([past.id])
  const last = JSON.stringify(scripted.requests(name)[1]?.body)
  expect(last).toContain('Corrected.')
  expect(last.split(PDF.data)).toHaveLength(1 + 1)
})
