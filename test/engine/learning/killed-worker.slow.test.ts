import { describe, expect, it } from 'vitest'
import type { Version } from '../../../lib/core/agent.ts'
import type { Execution } from '../../../lib/core/execution.ts'
import { executionStore } from '../../../lib/dynamodb/executions/execution-store.ts'
import { executionKey } from '../../../lib/dynamodb/table/keys.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { executionOf, runOptions } from '../../support/engine/executions.ts'
import { aModelAgent, finalAnswer } from '../../support/engine/model-agent.ts'
import { sharedTable } from '../../support/engine/organization.ts'
import { startScriptedEngine } from '../../support/engine/scripted-engine.ts'
import { answersIn, messageOf, pastExecutions, QUESTION } from '../../support/learning/past-executions.ts'
import { runWorker } from '../../support/processes/worker-process.ts'

const table = sharedTable()
const executions = executionStore(table)
const { engine, scriptModel } = await startScriptedEngine()
const { past, rate } = pastExecutions(executions)

/** An agent that also learns from results that nobody rated. */
const aLearner = () => aModelAgent({ learning: { unrated: true } })

describe('a run whose worker is killed', () => {
  /** A queued execution. `shown` are the answers of the examples in each model request. */
  async function queued(version: Version) {
    const { model, requests } = scriptModel(({ history }) =>
      history.length > 1 ? { calls: [finalAnswer({ answer: 'Done.' })] } : { text: 'Hm.' },
    )
    const options = runOptions({ model, useDynamicLearning: true })
    const execution = executionOf(version, { input: { question: QUESTION }, options })
    await executions.create({ execution })
    const shown = () => requests.map((request) => answersIn(messageOf(request)))
    return { execution, shown }
  }
  /** Processes the execution in a child process that is killed after its nth write. */
  const runKilled = async ({ id }: Execution, killAfterWrites: number) => {
    const { signal } = await runWorker(id, { killAfterWrites, environment: engine.environment })
    expect(signal).toBe('SIGKILL')
  }
  const resume = async (execution: Execution) => {
    await table.update(executionKey(execution.id), { set: { leaseExpiresAt: Date.now() - 1 } })
    expect(await processMessage(engine, execution.id)).toBe('processed')
    expect(await executions.get(execution)).toMatchObject({ status: 'SUCCESS', steps: 2 })
  }
  const better = { feedback: { rating: 1 as const, correctedOutput: { answer: 'Better.' } } }

  /** The writes: claim, ids of the examples, lease renewal of the first step, first step. */
  const kills: [when: string, killAfterWrites: number, requestsBefore: number][] = [
    ['after choosing examples', 2, 0],
    ['before storing the first step', 3, 1],
    ['after storing the first step', 4, 1],
  ]
  it.each(kills)('%s shows the same examples again, despite new feedback', async (_, writes, before) => {
    const version = await aLearner()
    const first = await past(version, { answer: 'First.' })
    const { execution, shown } = await queued(version)
    await runKilled(execution, writes)
    expect(shown()).toHaveLength(before)
    expect((await executions.get(execution))?.learnedFrom).toEqual([first.id])
    await past(version, better)
    await rate(first, { rating: -1 })
    await resume(execution)
    expect(shown().length).toBeGreaterThan(before)
    for (const answers of shown()) expect(answers).toEqual(['First.'])
    expect((await executions.get(execution))?.learnedFrom).toEqual([first.id])
  })

  it('and that had no examples gets none afterwards', async () => {
    const version = await aLearner()
    const { execution, shown } = await queued(version)
    await runKilled(execution, 2)
    await past(version, better)
    await resume(execution)
    expect(shown()).toEqual([[], []])
  })

  it('and whose first step was stored before learning existed gets no examples', async () => {
    const version = await aLearner()
    await past(version, { answer: 'First.' })
    const { execution, shown } = await queued(version)
    await runKilled(execution, 4)
    await table.update(executionKey(execution.id), { remove: ['learnedFrom'] })
    await resume(execution)
    expect(shown()).toEqual([['First.'], []])
  })

  it('before choosing examples chooses them later', async () => {
    const version = await aLearner()
    const { execution, shown } = await queued(version)
    await runKilled(execution, 1)
    await past(version, better)
    await resume(execution)
    expect(shown()).toEqual([['Better.'], ['Better.']])
  })

  it('omits an example that was deleted in the meantime', async () => {
    const version = await aLearner()
    const kept = await past(version, { question: 'When will his parcel arrive?', answer: 'Kept.' })
    const deleted = await past(version, { answer: 'Deleted.' })
    const { execution, shown } = await queued(version)
    await runKilled(execution, 2)
    expect((await executions.get(execution))?.learnedFrom).toEqual([deleted.id, kept.id])
    expect(await executions.delete({ ...deleted, now: Date.now() })).toBe('deleted')
    await resume(execution)
    expect(shown()).toEqual([['Kept.'], ['Kept.']])
  })
})
