import { mkdtempSync, rmSync, statSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Version } from '../../lib/core/agent.ts'
import type { JsonObject } from '../../lib/core/json/json.ts'
import { giveFeedback } from '../../lib/engine/learning/feedback.ts'
import { runInProcess } from '../../lib/engine/submit/submit.ts'
import { runOptions } from '../support/engine/executions.ts'
import {
  aModelAgent,
  finalAnswer,
  httpTool,
  startToolServer,
  type ToolServer,
} from '../support/engine/model-agent.ts'
import { startScriptedEngine } from '../support/engine/scripted-engine.ts'
import {
  answersIn,
  CORRECTIONS,
  messageOf,
  pastExecutions,
  SIMILAR,
} from '../support/learning/corrections.ts'
import { agentsOn, buildTinyModel, findSmolLM2, type ServedFormat, startModelServer } from './agents.ts'
import { BOOLEAN_SCHEMAS, OUTPUT_SCHEMAS, object } from './output-schemas.ts'

describe('tiny model', () => {
  const folder = mkdtempSync(join(tmpdir(), 'aes-tiny-model-'))
  const file = join(folder, 'tiny.gguf')
  const held: ServerResponse[] = []
  let model: Awaited<ReturnType<typeof startModelServer>>
  let server: ToolServer

  beforeAll(async () => {
    await buildTinyModel(file)
    model = await startModelServer(file)
    server = await startToolServer((_path, response) => {
      held.push(response)
      // Calls one after the other would wait here for ever.
      if (held.length === 2) for (const each of held.splice(0)) each.end('found')
    })
  })
  afterAll(async () => {
    await model?.stop()
    await server?.stop()
    rmSync(folder, { recursive: true })
  })

  const anAgent = (output: JsonObject, tools: object[] = []) => ({
    frontMatter: {
      title: 'Agent of a real model server',
      input: { question: { type: 'string', description: 'What to answer.' } },
      output,
      tools: JSON.parse(JSON.stringify(tools)),
    },
    instructions: 'Answer the question.',
  })

  it('is a model of about 130 kB', () => {
    expect(statSync(file).size).toBeGreaterThan(100_000)
    expect(statSync(file).size).toBeLessThan(150_000)
  })

  const FORMATS: ServedFormat[] = ['openai-compatible', 'anthropic']

  describe.each(FORMATS)('an agent with tools on %s', (format) => {
    it('executes the two calls of a response at the same time, then returns the final answer', async () => {
      // A random text could be an id that the tool rejects, such as the empty one.
      const input = { id: { type: 'string', description: 'An id.', enum: ['7', '8', '9'] } }
      const tools = ['order', 'user'].map((name) =>
        httpTool(server, `get_${name}`, `/${name}s/{id}`, { input }),
      )
      const agents = agentsOn(model.url, format)
      const version = await agents.publish(anAgent(object({ answer: { type: 'string' } }), tools))
      if (Array.isArray(version)) throw new Error(version.join('\n'))
      const { execution, steps } = await agents.run(version, { question: 'Why?' })
      expect(execution).toMatchObject({ status: 'SUCCESS', error: null, steps: 2 })
      expect(execution.output).toEqual({ answer: expect.any(String) })
      expect(execution.usage.inputTokens).toBeGreaterThan(0)
      const [first] = steps
      const calls = first?.step.kind === 'MODEL' ? first.step.calls : []
      expect(calls.map(({ name, error }) => [/^get_(order|user)$/.test(name), error])).toEqual([
        [true, null],
        [true, null],
      ])
      expect([...(first?.results.values() ?? [])].map(({ result }) => result)).toEqual([
        { ok: true, value: 'found' },
        { ok: true, value: 'found' },
      ])
      expect(server.calls.splice(0)).toHaveLength(2)
    })
  })

  describe.each(FORMATS)('on %s, an agent whose output is', (format) => {
    it.each(Object.entries(OUTPUT_SCHEMAS))(
      '%s ends in SUCCESS, unless it cannot be published',
      async (name, output) => {
        const agents = agentsOn(model.url, format)
        const version = await agents.publish(anAgent(output))
        if (Array.isArray(version)) {
          expect(BOOLEAN_SCHEMAS, version.join('\n')).toContain(name)
          return expect(version).toEqual([expect.stringMatching(/agent\.md:\d+: output\./)])
        }
        const { execution } = await agents.run(version, { question: 'Why?' })
        expect(execution).toMatchObject({ status: 'SUCCESS', error: null })
      },
    )
  })
})

describe('embeddings', async () => {
  const { engine, scriptModel } = await startScriptedEngine()
  const { past } = pastExecutions(engine.executions)
  let server: Awaited<ReturnType<typeof startModelServer>>
  let version: Version

  /** The embeddings are of llama.cpp, the answers of a scripted model. */
  const environment = () => ({
    ...engine.environment,
    EMBEDDING_MODEL: 'openai/smollm2',
    OPENAI_API_KEY: 'unused',
    OPENAI_BASE_URL: server.url,
  })

  beforeAll(async () => {
    server = await startModelServer(await findSmolLM2(), 'embeddings')
    version = await aModelAgent()
    await engine.agents.publish({ version, code: null })
    for (const [index, { question }] of CORRECTIONS.entries()) {
      const { organizationId, id } = await past(version, { question })
      const feedback = { rating: -1 as const, correctedOutput: { answer: `Of ${index}.` }, note: null }
      await giveFeedback(
        { ...engine, environment: environment() },
        { organizationId, id, feedback, isReview: true },
      )
    }
  })
  afterAll(() => server?.stop())

  /** How many of the questions are shown the right correction. */
  async function countFound(questions: { question: string; of: number }[]): Promise<number> {
    let found = 0
    for (const { question, of } of questions) {
      const { model, requests } = scriptModel([{ calls: [finalAnswer({ answer: 'Done.' })] }])
      const options = runOptions({ model, useDynamicLearning: true })
      const request = { version, input: { question }, tenantId: null, options }
      const { error } = await runInProcess({ ...engine, environment: environment() }, request)
      expect(error).toBeNull()
      if (answersIn(messageOf(requests[0])).includes(`Of ${of}.`)) found++
    }
    return found
  }

  /** SmolLM2 was trained to continue texts, not to compare them: the figures say what the path reaches with it. */
  describe('learning with the embeddings of SmolLM2', { timeout: 300_000 }, () => {
    it('stores a vector with each correction', async () => {
      const { organizationId, agentId } = version
      const lessons = await engine.executions.listLessons({
        organizationId,
        agentId,
        tenantId: null,
        limit: 500,
      })
      expect(lessons.map(({ embedding }) => [embedding?.model, embedding?.vector.length])).toEqual(
        CORRECTIONS.map(() => ['openai/smollm2', 576]),
      )
    })

    it('finds the correction of similar inputs and of paraphrases', async () => {
      const asked = (name: 'paraphrase' | 'synonyms') =>
        countFound(CORRECTIONS.map((correction, of) => ({ question: correction[name], of })))
      const similar = await countFound(SIMILAR)
      const [paraphrases, synonyms] = [await asked('paraphrase'), await asked('synonyms')]
      console.log(
        `SmolLM2 embeddings: ${similar} of 30 similar inputs, ${paraphrases} of 20 paraphrases, ${synonyms} of 20 with hardly a word in common`,
      )
      expect(similar).toBeGreaterThanOrEqual(27)
    })
  })
})
