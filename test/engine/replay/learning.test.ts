import { describe, expect, it } from 'vitest'
import type { Feedback } from '../../../lib/core/execution.ts'
import { giveFeedback } from '../../../lib/engine/learning/feedback.ts'
import { executionOf, runOptions } from '../../support/engine/executions.ts'
import { finalAnswer } from '../../support/engine/model-agent.ts'
import { answer, startScriptedEngine } from '../../support/engine/scripted-engine.ts'
import { answersIn, messageOf, pastExecutions } from '../../support/learning/corrections.ts'
import { originalsOn, replayOf, runReplay } from '../../support/replay/a-replay.ts'

const scripted = await startScriptedEngine()
const { engine } = scripted
const { anOriginal, aDraft } = originalsOn(scripted)

const liked = { rating: 1 as const, correctedOutput: null, note: null }
const corrected = { ...liked, correctedOutput: { answer: 'Corrected.' } }

/** What `answer` has. */
const answerOfDraft = 'Because.'

describe('a trial', () => {
  it.each([
    ['that nobody rated', null],
    ['that somebody liked', liked],
    ['that somebody corrected', corrected],
  ])('%s teaches nobody', async (_, given: Omit<Feedback, 'updatedAt'> | null) => {
    const { original, version } = await anOriginal([answer])
    const { draft } = await aDraft(version, [answer])
    const { execution } = await runReplay(engine, original, draft)
    expect(execution).toMatchObject({ status: 'SUCCESS', source: 'TRIAL' })
    await engine.executions.delete({ ...original, now: Date.now() })
    const { id, organizationId, agentId, tenantId } = execution
    if (given) {
      const params = { organizationId, id, feedback: given, isReview: true }
      expect(await giveFeedback(engine, params)).toMatchObject({ feedback: given })
    }
    const scope = { organizationId, agentId, tenantId, teachers: 'all' as const }
    expect(await engine.executions.listLessons({ ...scope, limit: 10 })).toEqual([])
    expect(await engine.executions.listExamples({ ...scope, limit: 10 })).toEqual([])
    expect(await engine.executions.getExamples({ ...scope, ids: [id] })).toEqual([])
  })

  it.each([
    ['CHANGED', [false], undefined],
    ['CORRECTED', [true], undefined],
    ['CORRECTED', [true, false], undefined],
    ['CORRECTED', [false], { feedback: 'all' as const }],
  ])(
    'is %s by the feedback of a reviewer (%j), unless the document trusts all: %j',
    async (verdict, reviews, learning) => {
      const { original, version } = await anOriginal([{ calls: [finalAnswer({ answer: 'Wrong.' })] }])
      for (const isReview of reviews) {
        const answered = isReview || reviews.length === 1 ? answerOfDraft : 'Wrong.'
        const feedback = { ...liked, correctedOutput: { answer: answered } }
        await giveFeedback(engine, { ...original, feedback, isReview })
      }
      const { draft } = await aDraft(version, [answer], { ...(learning && { learning }) })
      const { execution } = await runReplay(engine, original, draft)
      expect(execution.judgement?.verdict).toBe(verdict)
    },
  )

  it('is shown no examples if its original was not', async () => {
    const { original, version } = await anOriginal([answer])
    const { past } = pastExecutions(engine.executions)
    await past(version, { question: 'Why?', feedback: { correctedOutput: { answer: 'Later.' } } })
    const { draft, requests } = await aDraft(version, [answer])
    const options = runOptions({ useDynamicLearning: true })
    const { execution } = await runReplay(engine, original, draft, { options })
    expect(execution).toMatchObject({ status: 'SUCCESS', learnedFrom: null })
    expect(answersIn(messageOf(requests[0]))).toEqual([])
  })

  it('neither reads nor writes a cache entry', async () => {
    const { original, version } = await anOriginal([answer])
    const cache = { key: `key-${original.id}`, ttlSeconds: null }
    expect(executionOf(version, { cache }).cache).toEqual(cache)
    expect(executionOf(version, { cache, replay: replayOf(original) }).cache).toBeNull()
    const isTrial = false
    expect(executionOf(version, { cache, replay: replayOf(original, { isTrial }) }).cache).toEqual(cache)
  })
})
