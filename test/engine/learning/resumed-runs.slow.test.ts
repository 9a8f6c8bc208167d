import { describe, expect, it } from 'vitest'
import type { Version } from '../../../lib/core/agent.ts'
import { executionStore } from '../../../lib/dynamodb/executions/execution-store.ts'
import { executionKey } from '../../../lib/dynamodb/table/keys.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { aModelAgent, finalAnswer } from '../../support/engine/model-agent.ts'
import { sharedTable } from '../../support/engine/organization.ts'
import { aMessage, startScriptedEngine } from '../../support/engine/scripted-engine.ts'
import { answersIn, messageOf, pastExecutions, QUESTION } from '../../support/learning/past-executions.ts'

const table = sharedTable()
const executions = executionStore(table)
const { engine, queued } = await startScriptedEngine()
const { past, rate } = pastExecutions(executions)

/** An agent that also learns from results that nobody rated. */
const aLearner = () => aModelAgent({ learning: { unrated: true } })

/** A run of two steps whose first worker dies when it stores this step. `shown`: the answers in each model request. */
async function begun(version: Version, dyingStep = 1) {
  const { execution, stored, requests } = await queued(
    ({ history }) =>
      history.length > 1 ? { calls: [finalAnswer({ answer: 'Done.' })] } : { text: 'Well, it depends.' },
    version,
    { input: { question: QUESTION }, options: { useDynamicLearning: true } },
  )
  const append: typeof engine.steps.append = (params) =>
    params.step.number === dyingStep ? Promise.reject(new Error('It dies.')) : engine.steps.append(params)
  await processMessage({ ...engine, steps: { ...engine.steps, append } }, execution.id, aMessage(1))
  return {
    execution,
    stored,
    shown: () => requests.map((request) => answersIn(messageOf(request))),
    resume: async () => {
      expect(await processMessage(engine, execution.id, aMessage(2))).toBe('processed')
      expect(await stored()).toMatchObject({ status: 'SUCCESS', steps: 2 })
    },
  }
}

const better = { feedback: { rating: 1 as const, correctedOutput: { answer: 'Better.' } } }

describe('a run that learns and that another worker resumes', () => {
  it.each([1, 2])(
    'shows the same examples in all requests, despite new feedback: step %i',
    async (dyingStep) => {
      const version = await aLearner()
      const first = await past(version, { answer: 'First.' })
      const { stored, shown, resume } = await begun(version, dyingStep)
      expect(await stored()).toMatchObject({ learnedFrom: [first.id], steps: dyingStep - 1 })
      await past(version, better)
      await rate(first, { rating: -1 })
      await resume()
      expect(shown()).toEqual(Array(3).fill(['First.']))
      expect((await stored()).learnedFrom).toEqual([first.id])
    },
  )

  it('gets no examples if it had none', async () => {
    const version = await aLearner()
    const { shown, resume } = await begun(version)
    await past(version, better)
    await resume()
    expect(shown()).toEqual([[], [], []])
  })

  it('gets no examples if it had stored a step before it chose any', async () => {
    const version = await aLearner()
    await past(version, { answer: 'First.' })
    const { execution, shown, resume } = await begun(version, 2)
    await table.update(executionKey(execution.id), { remove: ['learnedFrom'] })
    await resume()
    expect(shown()).toEqual([['First.'], ['First.'], []])
  })

  it('omits an example that was deleted in the meantime', async () => {
    const version = await aLearner()
    const kept = await past(version, { question: 'When will his parcel arrive?', answer: 'Kept.' })
    const deleted = await past(version, { answer: 'Deleted.' })
    const { stored, shown, resume } = await begun(version)
    expect((await stored()).learnedFrom).toEqual([deleted.id, kept.id])
    expect(await executions.delete({ ...deleted, now: Date.now() })).toBe('deleted')
    await resume()
    expect(shown().slice(1)).toEqual([['Kept.'], ['Kept.']])
  })
})
