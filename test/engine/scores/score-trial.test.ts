import { describe, expect, it, vi } from 'vitest'
import type { Version } from '../../../lib/core/agent.ts'
import { totalsOf } from '../../../lib/core/batch.ts'
import { type Execution, isFinal } from '../../../lib/core/execution.ts'
import type { JsonObject } from '../../../lib/core/json/json.ts'
import type { Replay } from '../../../lib/core/trial.ts'
import { openStores } from '../../../lib/dynamodb/open-stores.ts'
import { childIdOf, executionKey } from '../../../lib/dynamodb/table/keys.ts'
import type { Engine } from '../../../lib/engine/engine.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { system } from '../../../lib/system.ts'
import { finalAnswer } from '../../support/engine/model-agent.ts'
import { aMessage, startScriptedEngine } from '../../support/engine/scripted-engine.ts'
import { originalsOn, queueReplay } from '../../support/replay/a-replay.ts'
import type { Script } from '../../support/scripted-model/turn.ts'
import { engineTable } from '../../support/tables/memory-table.ts'
import { type Fault, FaultyWorker, faultKindsOf } from '../../support/waiting/faulty-worker.ts'

const table = await engineTable()
const scripted = await startScriptedEngine()
const CENT = 0.01

/** A token costs a millicent: a response of 1,000 tokens is a cent. */
const engine: Engine = {
  ...scripted.engine,
  environment: {
    ...scripted.engine.environment,
    MODEL_PRICES: '{"openai-compatible/*": {"input": 10, "output": 10}}',
  },
}
const { anAgent, anOriginal, aDraft } = originalsOn({ ...scripted, engine: engine as typeof scripted.engine })

const usage = { inputTokens: 999, outputTokens: 1 }
const says = (output: JsonObject) => ({ calls: [finalAnswer(output)], usage })

/** The input of a scorer, as its model received it. */
const ALL = { input: {}, output: {}, expected: {}, steps: {}, agent: {}, version: {} }

/** A scorer that declares these fields, of an agent. Its model gives the scores that are said one after the other. */
async function aScorer(
  { organizationId }: Version,
  script: Script,
  fields: Partial<Version> & { declares?: JsonObject } = {},
) {
  const { declares = { output: {} }, ...others } = fields
  return anAgent(script, {
    ...{ organizationId, slug: 'faithful' },
    inputSchema: { type: 'object', properties: declares, additionalProperties: false },
    outputSchema: { type: 'object', properties: { score: {}, reason: { type: 'string' } } },
    ...others,
  } as never)
}

const scores = (...values: unknown[]): Script => values.map((score) => says({ score } as JsonObject))

type Given = { scorers?: Replay['scorers']; maxTrialCostUsd?: number; on?: Engine; tenantId?: string }

/** A line of a trial of `draft`, which has not begun. */
async function aLine(original: Execution, draft: Version, given: Given = {}) {
  const { scorers = [{ agent: 'faithful', tolerance: 0.1 }], maxTrialCostUsd = 1 } = given
  const trialId = system.newId()
  const line = await queueReplay(engine, original, draft, {
    batch: { id: trialId, customId: original.id, line: 0, lane: 0 },
    settings: { scorers, maxTrialCostUsd },
  })
  const stored = async () => {
    const found = await engine.executions.get(line)
    if (!found) throw new Error('The line does not exist.')
    return found
  }
  /** The runs of scorers, in the order of their beginning. */
  const children = async () => {
    const items = await table.query({
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': executionKey(line.id).pk },
      ConsistentRead: true,
    })
    const ids = items.items.flatMap(({ pk, sk }) => childIdOf({ pk: String(pk), sk: String(sk) }) ?? [])
    const { organizationId } = line
    const found = await Promise.all(ids.map((id) => engine.executions.get({ organizationId, id })))
    return found.filter((each) => each !== null)
  }
  const run = async (on: Engine = given.on ?? engine) => {
    await processMessage(on, line.id, aMessage())
    return stored()
  }
  const spent = async () =>
    (
      await engine.limits?.getSpent({
        organizationId: line.organizationId,
        subject: { kind: 'trial', id: trialId },
        at: Date.now(),
      })
    )?.month ?? 0
  return { line, stored, children, run, spent, trialId }
}

const ORIGINAL = [says({ answer: 'Because of the order.' })]
const PARAPHRASE = [says({ answer: 'The order is why.' })]

describe('a line of a trial with a scorer', () => {
  it('is EQUIVALENT if its output differs and its score does not', async () => {
    const { original, version } = await anOriginal(ORIGINAL)
    const { requests } = await aScorer(version, scores(0.9, 0.8))
    const { draft } = await aDraft(version, PARAPHRASE)
    const { run, children, spent } = await aLine(original, draft)
    const line = await run()
    const [first, second] = await children()
    expect(line).toMatchObject({
      status: 'SUCCESS',
      judgement: {
        verdict: 'EQUIVALENT',
        differences: [{ path: '/answer' }],
        scores: [{ agent: 'faithful', original: 0.9, trial: 0.8 }],
        scoring: { costUsd: 2 * CENT },
      },
    })
    expect(requests).toHaveLength(2)
    for (const child of [first, second])
      expect(child).toMatchObject({
        status: 'SUCCESS',
        source: 'SCORE',
        parentExecutionId: line.id,
        scored: { executionId: line.id },
        replay: null,
        batch: null,
      })
    // A line of its own: its cost, and that of two scores.
    expect(await spent()).toBeCloseTo(3 * CENT, 9)
    expect(totalsOf(line)).toMatchObject({ costUsd: 3 * CENT, verdicts: { EQUIVALENT: 1 } })
    expect(line.usage.costUsd).toBeCloseTo(CENT, 9)
  })

  it('is CHANGED if its score differs by more than the tolerance', async () => {
    const { original, version } = await anOriginal(ORIGINAL)
    await aScorer(version, scores(0.9, 0.7))
    const { draft } = await aDraft(version, PARAPHRASE)
    const { run } = await aLine(original, draft)
    expect((await run()).judgement).toMatchObject({ verdict: 'CHANGED', scores: [{ trial: 0.7 }] })
  })

  it('is scored once if its output is the same, and an output that was scored before is not scored again', async () => {
    const { original, version } = await anOriginal(ORIGINAL)
    const { requests } = await aScorer(version, scores(0.9, 0.2))
    const { draft } = await aDraft(version, ORIGINAL, {})
    const same = await aLine(original, draft)
    expect((await same.run()).judgement).toMatchObject({
      verdict: 'SAME',
      scores: [{ original: 0.9, trial: 0.9 }],
    })
    expect(await same.children()).toHaveLength(1)
    const { draft: other } = await aDraft(version, PARAPHRASE)
    const changed = await aLine(original, other)
    expect((await changed.run()).judgement?.scores).toMatchObject([{ original: 0.9, trial: 0.2 }])
    expect(requests).toHaveLength(2)
    expect((await changed.children()).map(({ cached }) => cached).sort()).toEqual([false, true])
  })

  it('is scored by what the scorer declares of it, and for the tenant of the original', async () => {
    const { original, version } = await anOriginal(ORIGINAL, {}, { tenantId: 'acme' })
    await engine.executions.setFeedback({
      organizationId: version.organizationId,
      id: original.id,
      feedback: {
        rating: -1,
        correctedOutput: { answer: 'Because.' },
        note: null,
        updatedAt: new Date().toISOString(),
      },
      isReview: true,
    } as never)
    await aScorer(version, scores(0.9, 0.8), { declares: ALL })
    const { draft } = await aDraft(version, PARAPHRASE)
    const { run, children } = await aLine(original, draft)
    const line = await run()
    expect(line.judgement?.scores).toMatchObject([{ original: 0.9, trial: 0.8 }])
    const inputs = await children()
    expect(inputs.map(({ tenantId }) => tenantId)).toEqual(['acme', 'acme'])
    const step = (answer: string) => ({
      text: '',
      toolCalls: [expect.objectContaining({ name: 'final_answer', input: { answer } })],
    })
    const run1 = { input: { question: 'Why?' }, expected: { answer: 'Because.' }, agent: 'model-agent' }
    expect(inputs.map(({ input }) => input)).toEqual(
      expect.arrayContaining([
        {
          ...run1,
          output: { answer: 'Because of the order.' },
          steps: [step('Because of the order.')],
          version: version.id,
        },
        {
          ...run1,
          output: { answer: 'The order is why.' },
          steps: [step('The order is why.')],
          version: draft.id,
        },
      ]),
    )
  })
})
