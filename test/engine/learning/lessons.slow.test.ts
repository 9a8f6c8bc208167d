import { describe, expect, it } from 'vitest'
import type { Version } from '../../../lib/core/agent.ts'
import { Unavailable } from '../../../lib/core/errors.ts'
import type { ExecutionStore } from '../../../lib/core/ports/executions.ts'
import { executionStore } from '../../../lib/dynamodb/executions/execution-store.ts'
import { buildRunRequest } from '../../../lib/engine/submit/run-request.ts'
import { runInProcess } from '../../../lib/engine/submit/submit.ts'
import { runOptions } from '../../support/engine/executions.ts'
import { aModelAgent, finalAnswer } from '../../support/engine/model-agent.ts'
import { startScriptedEngine } from '../../support/engine/scripted-engine.ts'
import {
  answersIn,
  CORRECTIONS,
  examplesIn,
  messageOf,
  pastExecutions,
  QUESTION,
  SIMILAR,
} from '../../support/learning/corrections.ts'
import { engineTable } from '../../support/tables/memory-table.ts'

const executions = executionStore(await engineTable())
const { engine, scriptModel } = await startScriptedEngine()
const { past, rate } = pastExecutions(executions)
const corrected = (answer: string) => ({ correctedOutput: { answer } })

/** Runs the version with learning. @returns the execution, and what its model was shown */
async function run(version: Version, question = QUESTION, store: ExecutionStore = executions) {
  const { model, requests } = scriptModel([{ calls: [finalAnswer({ answer: 'Soon.' })] }])
  const options = runOptions({ model, useDynamicLearning: true })
  const request = { version, input: { question }, tenantId: null, options }
  const execution = await runInProcess({ ...engine, executions: store }, request)
  expect(execution.error).toBeNull()
  const message = messageOf(requests[0])
  return { execution, examples: examplesIn(message), answers: answersIn(message) }
}

describe('a run that learns', () => {
  it('is shown the right one of 20 corrections for 30 similar inputs, and for 11 of 20 paraphrases at least', async () => {
    const version = await aModelAgent()
    for (const [index, { question }] of CORRECTIONS.entries())
      await past(version, { question, feedback: corrected(`Of ${index}.`) })
    const first = async (question: string) => (await run(version, question)).answers[0]
    const found = await Promise.all(
      SIMILAR.map(async ({ question, of }) => (await first(question)) === `Of ${of}.`),
    )
    expect(found.filter(Boolean)).toHaveLength(30)
    const again = await Promise.all(
      CORRECTIONS.map(async ({ paraphrase }, index) =>
        (await run(version, paraphrase)).answers.includes(`Of ${index}.`),
      ),
    )
    expect(again.filter(Boolean).length).toBeGreaterThanOrEqual(11)
  })

  it('is shown corrections that share no word with its input, but liked results only if they are similar', async () => {
    const version = await aModelAgent()
    await past(version, { question: 'Bom dia', feedback: corrected('Corrected.') })
    await past(version, { question: 'Do you sell gift vouchers?', answer: 'Other.', feedback: { rating: 1 } })
    expect((await run(version)).answers).toEqual(['Corrected.'])
    await past(version, {
      question: 'When does my parcel arrive?',
      answer: 'Liked.',
      feedback: { rating: 1 },
    })
    expect((await run(version)).answers).toEqual(['Corrected.', 'Liked.'])
    await past(version, { answer: 'Equal.', feedback: { rating: 1 } })
    expect((await run(version)).answers).toEqual(['Equal.', 'Corrected.', 'Liked.'])
  })

  it('is shown results that nobody rated only where the document asks for them, labelled', async () => {
    const version = await aModelAgent()
    const { organizationId } = version
    await past(version, { answer: 'Plain.' })
    expect((await run(version, 'Unrelated?')).examples).toEqual([])
    const asking = await aModelAgent({ organizationId, learning: { unrated: true } })
    expect((await run(asking)).examples).toMatchObject([{ output: { answer: 'Plain.' }, unreviewed: true }])
    await past(version, { question: 'When will his parcel arrive?', feedback: corrected('Right.') })
    const { examples } = await run(asking)
    expect(examples.map(({ unreviewed = false }) => unreviewed)).toEqual([true, false])
  })

  it('is shown the note of the feedback, unless it does not fit', async () => {
    const version = await aModelAgent()
    await past(version, { feedback: { ...corrected('Right.'), note: 'Never promise a day.' } })
    expect((await run(version)).examples).toMatchObject([{ note: 'Never promise a day.' }])
    const other = await aModelAgent()
    await past(other, { feedback: { ...corrected('Right.'), note: 'x'.repeat(9_000) } })
    const [example] = (await run(other)).examples
    expect(example?.output).toEqual({ answer: 'Right.' })
    expect(example).not.toHaveProperty('note')
  })

  it('adds at most half of the tokens of its request, except for the best example', async () => {
    const version = await aModelAgent({ instructions: 'Answer the question. '.repeat(70) })
    for (const name of ['my', 'his', 'her', 'our'])
      await past(version, {
        question: `When will ${name} parcel arrive? ${'It is urgent. '.repeat(15)}`,
        feedback: corrected('Tomorrow.'),
      })
    expect((await run(version)).answers).toEqual(['Tomorrow.'])
    await past(version, { question: 'When does it arrive?', feedback: corrected('Soon.') })
    expect((await run(version)).answers).toHaveLength(2)
  })

  it('no longer is shown what was rated bad, corrected again or deleted', async () => {
    const version = await aModelAgent()
    const execution = await past(version, { feedback: corrected('First.') })
    await rate(execution, corrected('Second.'))
    expect((await run(version)).answers).toEqual(['Second.'])
    await rate(execution, { rating: -1 })
    expect((await run(version)).answers).toEqual([])
    await rate(execution, corrected('Third.'))
    expect((await run(version)).answers).toEqual(['Third.'])
    await executions.delete({ ...execution, now: Date.now() })
    expect((await run(version)).answers).toEqual([])
  })

  it('passes over an index entry whose record is gone or says something else by now', async () => {
    const version = await aModelAgent()
    const kept = await past(version, { feedback: corrected('Kept.') })
    const gone = await past(version, {
      question: 'When will her parcel arrive?',
      feedback: corrected('Gone.'),
    })
    const { organizationId, agentId } = version
    const before = await executions.listLessons({ organizationId, agentId, tenantId: null, limit: 10 })
    await executions.delete({ ...gone, now: Date.now() })
    await rate(kept, { rating: -1 })
    const { answers, execution } = await run(version, QUESTION, {
      ...executions,
      listLessons: async () => before,
    })
    expect([answers, execution.learnedFrom]).toEqual([[], []])
  })

  it('finds a correction that matches its schema behind better ones of a version with another schema', async () => {
    const version = await aModelAgent()
    const { organizationId } = version
    for (let i = 0; i < 12; i++)
      await past(version, { question: `${QUESTION} ${i}`, feedback: { correctedOutput: { text: 'Old.' } } })
    const current = await aModelAgent({ organizationId })
    await past(current, { question: 'Where is it?', feedback: corrected('New.') })
    expect((await run(current)).answers).toEqual(['New.'])
  })
})

describe('a run whose examples cannot be read', () => {
  const failing: [string, Partial<ExecutionStore>][] = [
    [
      'the index is throttled',
      { listLessons: () => Promise.reject(new Unavailable(new Error('throttled'))) },
    ],
    ['the index does not exist', { listLessons: () => Promise.reject(new Error('ValidationException')) }],
    [
      'the records are throttled',
      { getExamples: () => Promise.reject(new Unavailable(new Error('throttled'))) },
    ],
  ]
  it.each(failing)('succeeds without any when %s', async (_, methods) => {
    const version = await aModelAgent()
    await past(version, { feedback: corrected('Right.') })
    const { execution, examples } = await run(version, QUESTION, { ...executions, ...methods })
    expect(execution).toMatchObject({ status: 'SUCCESS', learnedFrom: [] })
    expect(examples).toEqual([])
  })
})

describe('useDynamicLearning of the document', () => {
  const learns = async (version: Version, useDynamicLearning?: boolean) =>
    (await buildRunRequest(version, { question: 'q' }, { useDynamicLearning })).options.useDynamicLearning

  it('is the default of calls', async () => {
    const version = await aModelAgent({ useDynamicLearning: true })
    expect([await learns(version), await learns(version, false)]).toEqual([true, false])
    const without = await aModelAgent()
    expect([await learns(without), await learns(without, true)]).toEqual([false, true])
  })

  it.each([
    [undefined, true, ['Right.']],
    [false, true, []],
    [true, false, ['Right.']],
    [undefined, false, []],
  ])(
    '%j: an agent whose caller learns (%j) is shown %j',
    async (useDynamicLearning, callerLearns, expected) => {
      const caller = await aModelAgent({ tools: [{ name: 'ask', agent: 'helper' }] })
      const { model, requests } = scriptModel(({ history }) => {
        const isCaller = JSON.stringify(history).includes('outermost')
        if (!isCaller || history.length > 1) return { calls: [finalAnswer({ answer: 'Done.' })] }
        return { calls: [{ name: 'ask', input: { question: QUESTION } }] }
      })
      const { organizationId } = caller
      const helper = await aModelAgent({
        organizationId,
        slug: 'helper',
        model,
        ...(useDynamicLearning !== undefined && { useDynamicLearning }),
      })
      await engine.agents.publish({ version: helper, code: null })
      await past(helper, { feedback: corrected('Right.') })
      const options = runOptions({ model, useDynamicLearning: callerLearns })
      const input = { question: 'outermost' }
      const execution = await runInProcess(engine, { version: caller, input, tenantId: null, options })
      expect(execution.error).toBeNull()
      const shown = requests.map(messageOf).filter((message) => !message.includes('outermost'))
      expect(shown).toHaveLength(1)
      expect(answersIn(shown[0])).toEqual(expected)
    },
  )
})
