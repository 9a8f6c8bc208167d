import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Version } from '../../lib/core/agent.ts'
import { giveFeedback } from '../../lib/engine/learning/feedback.ts'
import { runInProcess } from '../../lib/engine/submit/submit.ts'
import { runOptions } from '../support/engine/executions.ts'
import { aModelAgent, finalAnswer } from '../support/engine/model-agent.ts'
import { startScriptedEngine } from '../support/engine/scripted-engine.ts'
import {
  answersIn,
  CORRECTIONS,
  messageOf,
  pastExecutions,
  SIMILAR,
} from '../support/learning/corrections.ts'
import { findSmolLM2, startModelServer } from './agents.ts'

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
