import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Version } from '../../../lib/core/agent.ts'
import { executionStore } from '../../../lib/dynamodb/executions/execution-store.ts'
import { cosinesTo, quantize } from '../../../lib/engine/learning/embedding.ts'
import { giveFeedback } from '../../../lib/engine/learning/feedback.ts'
import { runInProcess } from '../../../lib/engine/submit/submit.ts'
import { checkEmbeddingModel } from '../../../lib/models/embed-text.ts'
import { runOptions } from '../../support/engine/executions.ts'
import { aModelAgent, finalAnswer } from '../../support/engine/model-agent.ts'
import { startScriptedEngine } from '../../support/engine/scripted-engine.ts'
import { answersIn, messageOf, pastExecutions } from '../../support/learning/corrections.ts'
import { engineTable } from '../../support/tables/memory-table.ts'

const executions = executionStore(await engineTable())
const { engine, scriptModel } = await startScriptedEngine()
const { past } = pastExecutions(executions)

type Respond = (text: string, response: ServerResponse) => void
const TOPICS = [/parcel|package/i, /lamp|light/i, /password|sign in/i, /invoice|bill/i, /refund|money/i]

/** A vector by topic: what a model makes of texts without a word in common. */
const vectorOf = (text: string) => [...TOPICS.map((topic) => (topic.test(text) ? 1 : 0)), 0.1, 0.2, 0.3]

const sendVector = (response: ServerResponse, embedding: number[]) => {
  const data = [{ object: 'embedding', index: 0, embedding }]
  const usage = { prompt_tokens: 1, total_tokens: 1 }
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ object: 'list', data, model: 'm', usage }))
}
const send: Respond = (text, response) => sendVector(response, vectorOf(text))

let respond = send
const requests: { text: string; key: string | undefined }[] = []
const server = createServer(async (request: IncomingMessage, response) => {
  const { input } = (await json(request)) as { input: string[] }
  requests.push({ text: input[0] ?? '', key: request.headers.authorization })
  respond(input[0] ?? '', response)
})
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
afterAll(() => {
  server.closeAllConnections()
  server.close()
})
beforeEach(() => {
  respond = send
  requests.length = 0
})

const environmentFor = (model: string) => ({
  ...engine.environment,
  EMBEDDING_MODEL: `openai/${model}`,
  OPENAI_API_KEY: 'sk-embedding',
  OPENAI_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
})

/** A past execution with a correction, given as clients give it. */
async function teach(version: Version, question: string, answer: string, model = 'embed') {
  const { organizationId, id } = await past(version, { question })
  const feedback = { rating: -1 as const, correctedOutput: { answer }, note: null }
  await engine.agents.publish({ version, code: null })
  const parts = { ...engine, environment: environmentFor(model) }
  await giveFeedback(parts, { organizationId, id, feedback, isReview: true })
}

const QUESTIONS = {
  'My parcel is lost.': 'Parcel.',
  'The lamp is broken.': 'Lamp.',
  'I forgot my password.': 'Password.',
  'The invoice is wrong.': 'Invoice.',
  'Give me a refund.': 'Refund.',
}

async function taught(model = 'embed') {
  const version = await aModelAgent({ instructions: 'Answer the question. '.repeat(100) })
  for (const [question, answer] of Object.entries(QUESTIONS)) await teach(version, question, answer, model)
  return version
}

async function run(version: Version, question: string, model = 'embed') {
  const scripted = scriptModel([{ calls: [finalAnswer({ answer: 'Done.' })] }])
  const options = runOptions({ model: scripted.model, useDynamicLearning: true })
  const request = { version, input: { question }, tenantId: null, options }
  const execution = await runInProcess({ ...engine, environment: environmentFor(model) }, request)
  expect(execution.error).toBeNull()
  return answersIn(messageOf(scripted.requests[0]))
}

describe('a run with an embedding model', () => {
  it('finds corrections without a word in common, and sends the values of inputs alone', async () => {
    const version = await taught()
    expect(requests.map(({ text }) => text)).toEqual(Object.keys(QUESTIONS))
    expect((await run(version, 'Where did our package go?'))[0]).toBe('Parcel.')
    expect((await run(version, 'New light damaged'))[0]).toBe('Lamp.')
    expect(requests.at(-1)).toEqual({ text: 'New light damaged', key: 'Bearer sk-embedding' })
  })

  it('sends no request if no rated execution has a vector', async () => {
    const version = await aModelAgent()
    await past(version, { feedback: { correctedOutput: { answer: 'Right.' } } })
    expect(await run(version, 'Where did our package go?')).toEqual(['Right.'])
    expect(requests).toEqual([])
  })

  it('compares words where vectors are of another model', async () => {
    const version = await taught('other')
    expect((await run(version, 'Is the broken lamp covered?'))[0]).toBe('Lamp.')
  })

  it('cuts very long inputs', async () => {
    const version = await aModelAgent()
    await teach(version, `parcel ${'x '.repeat(3_000)}`, 'Right.')
    await run(version, `${'package '.repeat(500_000)}`)
    expect(Math.max(...requests.map(({ text }) => Buffer.byteLength(text)))).toBeLessThanOrEqual(1_000)
  })

  const faults: [string, Respond][] = [
    ['never responds', () => undefined],
    ['fails', (_, response) => response.writeHead(500).end('{"error":{"message":"down"}}')],
    ['returns a vector of another length', (_, response) => sendVector(response, [1, 2, 3])],
    ['returns an empty vector', (_, response) => sendVector(response, [])],
    ['returns zeros', (_, response) => sendVector(response, Array(8).fill(0))],
    ['returns no JSON', (_, response) => response.end('<html>')],
    ['redirects', (_, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()],
  ]
  it.each(faults)('compares words when the model %s', async (_, fault) => {
    const version = await taught()
    respond = fault
    expect((await run(version, 'Is the broken lamp covered?'))[0]).toBe('Lamp.')
  })

  it('stores feedback without a vector when the model fails', async () => {
    respond = (_, response) => response.writeHead(503).end()
    const version = await taught()
    respond = send
    expect((await run(version, 'Is the broken lamp covered?'))[0]).toBe('Lamp.')
  })
})

describe('quantize', () => {
  it('keeps cosines, whatever the scale, and however large single dimensions are', () => {
    const random = (seed: number) =>
      Array.from({ length: 700 }, (_, i) => Math.sin(seed * 999 + i * (seed + 1)) * 0.03)
    const cosine = (a: number[], b: number[]) => {
      const product = (x: number[], y: number[]) => x.reduce((sum, value, i) => sum + value * (y[i] ?? 0), 0)
      return product(a, b) / Math.sqrt(product(a, a) * product(b, b))
    }
    const [a, b] = [random(1), random(2).map((value, i) => value + (random(1)[i] ?? 0))]
    const quantized = (vector: number[]) => ({ model: 'm', vector: quantize(vector) ?? new Int8Array() })
    const anything = { id: '', versionId: '', isCorrected: true, inputHash: '', text: '' }
    const lesson = (vector: number[]) => ({ ...anything, embedding: quantized(vector) })
    const [close] = cosinesTo(quantized(a), [lesson(b)])
    expect(close).toBeCloseTo(cosine(a, b), 2)
    const outlier = (vector: number[]) => vector.with(0, 1_000)
    const [same, other] = cosinesTo(quantized(outlier(a)), [lesson(outlier(a)), lesson(outlier(random(5)))])
    expect(same).toBeCloseTo(1, 5)
    expect(other).toBeLessThan(0.5)
  })

  it.each([[[]], [[0, 0]], [[Number.NaN, 1]], [[1, Number.POSITIVE_INFINITY]]])('refuses %j', (vector) => {
    expect(quantize(vector)).toBeNull()
  })

  it('cuts long vectors', () => {
    expect(quantize(Array.from({ length: 4_000 }, (_, i) => i + 1))).toHaveLength(1_536)
  })
})

it('checkEmbeddingModel refuses providers without embedding models', () => {
  const check = () => checkEmbeddingModel('anthropic/claude', { ANTHROPIC_API_KEY: 'k' })
  expect(check).toThrow('The provider anthropic has no embedding models.')
})
