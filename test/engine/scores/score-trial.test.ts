import { describe, expect, it } from 'vitest'
import type { Version } from '../../../lib/core/agent.ts'
import { totalsOf } from '../../../lib/core/batch.ts'
import type { Execution } from '../../../lib/core/execution.ts'
import { CANCELLED } from '../../../lib/core/execution-errors.ts'
import type { JsonObject } from '../../../lib/core/json/json.ts'
import type { Replay } from '../../../lib/core/trial.ts'
import { childIdOf, executionKey } from '../../../lib/dynamodb/table/keys.ts'
import { endExecution } from '../../../lib/engine/end-execution.ts'
import type { Engine } from '../../../lib/engine/engine.ts'
import { giveFeedback } from '../../../lib/engine/learning/feedback.ts'
import { emitCompleted } from '../../../lib/engine/wait-for-completion.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { system } from '../../../lib/system.ts'
import { finalAnswer } from '../../support/engine/model-agent.ts'
import { aMessage, startScriptedEngine } from '../../support/engine/scripted-engine.ts'
import { originalsOn, queueReplay, withPrices } from '../../support/replay/a-replay.ts'
import type { Script } from '../../support/scripted-model/turn.ts'
import { engineTable } from '../../support/tables/memory-table.ts'

const table = await engineTable()
const scripted = await startScriptedEngine()
const CENT = 0.01

const engine = withPrices(scripted.engine)
const { anAgent, anOriginal, aDraft } = originalsOn({ ...scripted, engine })

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

type Given = { scorers?: Replay['scorers']; maxTrialCostUsd?: number }

/** A line of a trial of a version that answers so, which has not begun. */
async function aLine(original: Execution, version: Version, given: Given = {}, script = PARAPHRASE) {
  const { draft } = await aDraft(version, script)
  const { scorers = [{ agent: 'faithful', tolerance: 0.1 }], maxTrialCostUsd = 1 } = given
  const trialId = system.newId()
  const line = await queueReplay(engine, original, draft, {
    batch: { id: trialId, customId: original.id, line: 0, lane: 0 },
    settings: { scorers, maxTrialCostUsd },
    deadlineMs: 86_400_000,
  })
  const stored = async () => {
    const found = await engine.executions.get(line)
    if (!found) throw new Error('The line does not exist.')
    return found
  }
  /** The runs of scorers, in the order of their beginning. */
  const children = async () => {
    const { items } = await table.query({
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': executionKey(line.id).pk },
      ConsistentRead: true,
    })
    const ids = items.flatMap(({ pk, sk }) => childIdOf({ pk: String(pk), sk: String(sk) }) ?? [])
    const { organizationId } = line
    const found = await Promise.all(ids.map((id) => engine.executions.get({ organizationId, id })))
    return found.filter((each) => each !== null)
  }
  const run = async (on: Engine = engine) => {
    await processMessage(on, line.id, aMessage())
    return stored()
  }
  const spent = async () => {
    const { organizationId } = line
    const subject = { kind: 'trial' as const, id: trialId }
    return (await engine.limits.getSpent({ organizationId, subject, at: Date.now() }))?.month ?? 0
  }
  return { line, draft, stored, children, run, spent }
}

const SETTINGS = { useCache: false, cacheTtlSeconds: null, timeoutSeconds: null }
const ORIGINAL: Script = [says({ answer: 'Because of the order.' })]
const PARAPHRASE: Script = [says({ answer: 'The order is why.' })]

/** A line whose scorer says this. */
async function aScoredLine(script: Script, fields: Parameters<typeof aScorer>[2] = {}, given: Given = {}) {
  const { original, version } = await anOriginal(ORIGINAL)
  const scorer = await aScorer(version, script, fields)
  return { original, version, scorer, ...(await aLine(original, version, given)) }
}

describe('a line of a trial with a scorer', () => {
  it('is EQUIVALENT if its output differs and its score does not', async () => {
    const { original, scorer, run, children, spent } = await aScoredLine(scores(0.9, 0.8))
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
    expect(scorer.requests).toHaveLength(2)
    const expected = {
      status: 'SUCCESS',
      source: 'SCORE',
      parentExecutionId: line.id,
      replay: null,
      batch: null,
    }
    expect([first, second]).toMatchObject([expected, expected])
    expect(new Set([first, second].map((child) => child?.scored?.executionId))).toEqual(
      new Set([original.id, line.id]),
    )
    const { organizationId, agentId } = first as Execution
    const query = { organizationId, tenantId: null, status: null, limit: 100, after: null }
    for (const id of [agentId, null])
      expect((await engine.executions.listSummaries({ ...query, agentId: id })).items).not.toContainEqual(
        expect.objectContaining({ source: 'SCORE' }),
      )
    // A line of its own: its cost, and that of two scores.
    expect(await spent()).toBeCloseTo(3 * CENT, 9)
    expect(totalsOf(line)).toMatchObject({ costUsd: 3 * CENT, verdicts: { EQUIVALENT: 1 } })
    expect(line.usage.costUsd).toBeCloseTo(CENT, 9)
  })

  it('is CHANGED if its score differs by more than the tolerance', async () => {
    const { run } = await aScoredLine(scores(0.9, 0.7))
    expect((await run()).judgement).toMatchObject({ verdict: 'CHANGED', scores: [{ trial: 0.7 }] })
  })

  it('is scored once if its output is the same, and an output that was scored before is not scored again', async () => {
    const { original, version } = await anOriginal(ORIGINAL)
    const { requests } = await aScorer(version, scores(0.9, 0.2))
    const same = await aLine(original, version, {}, ORIGINAL)
    expect((await same.run()).judgement).toMatchObject({
      verdict: 'SAME',
      scores: [{ original: 0.9, trial: 0.9 }],
    })
    expect(await same.children()).toHaveLength(1)
    const changed = await aLine(original, version)
    expect((await changed.run()).judgement?.scores).toMatchObject([{ original: 0.9, trial: 0.2 }])
    expect(requests).toHaveLength(2)
    expect((await changed.children()).map(({ cached }) => cached).sort()).toEqual([false, true])
  })

  it('is scored by what the scorer declares of it, and for the tenant of the original', async () => {
    const { original, version } = await anOriginal(ORIGINAL, {}, { tenantId: 'acme' })
    await giveFeedback(engine, {
      ...{ organizationId: version.organizationId, id: original.id, isReview: true },
      feedback: { rating: -1, correctedOutput: { answer: 'Because.' }, note: null },
    })
    await aScorer(version, scores(0.9, 0.8), { declares: ALL })
    const { draft, run, children } = await aLine(original, version)
    expect((await run()).judgement?.scores).toMatchObject([{ original: 0.9, trial: 0.8 }])
    const inputs = await children()
    expect(inputs.map(({ tenantId }) => tenantId)).toEqual(['acme', 'acme'])
    const sameFor = (answer: string) => ({
      ...{ input: { question: 'Why?' }, expected: { answer: 'Because.' }, agent: 'model-agent' },
      steps: [{ text: JSON.stringify({ answer }), toolCalls: [] }],
      output: { answer },
    })
    expect(inputs.map(({ input }) => input)).toEqual(
      expect.arrayContaining([
        { ...sameFor('Because of the order.'), version: version.id },
        { ...sameFor('The order is why.'), version: draft.id },
      ]),
    )
  })
})

describe('a scorer that leaves no score', () => {
  /** What becomes of a line whose scorer is like this. */
  async function scored(...given: Parameters<typeof aScoredLine>) {
    const { scorer, ...line } = await aScoredLine(...given)
    const { status, judgement } = await line.run()
    // Whatever the scorer does, the run has succeeded.
    expect({ status, verdict: judgement?.verdict }).toEqual({ status: 'SUCCESS', verdict: 'CHANGED' })
    return { pair: judgement?.scores?.[0], requests: scorer.requests, line }
  }

  it('says no number', async () => {
    const { pair, requests } = await scored(scores('0.9'))
    expect(pair).toMatchObject({
      ...{ agent: 'faithful', original: null, trial: null, originalScoreId: expect.any(String) },
      error: { code: 'InvalidScore', message: expect.stringContaining('which is "0.9"') },
    })
    // Nothing to compare: the other output costs nothing.
    expect(requests).toHaveLength(1)
  })

  it('says nothing of the second output, or fails', async () => {
    const { pair } = await scored(scores(0.9, 'high'))
    expect(pair).toMatchObject({ original: 0.9, trial: null, error: { code: 'InvalidScore' } })
    const failed = await scored([{ status: 400, message: 'No.' }])
    expect(failed.pair).toMatchObject({ original: null, error: { code: 'ModelFailed' } })
    expect((await failed.line.children())[0]).toMatchObject({ status: 'ERROR' })
  })

  it('is over its own budget, or over the limit of the trial, which is spent by the line itself', async () => {
    const own = await scored(scores(0.9), { execution: { ...SETTINGS, maxTokens: 10 } })
    expect(own.pair).toMatchObject({ original: null, error: { code: 'BudgetExceeded' } })
    const { pair, requests, line } = await scored(scores(0.9), {}, { maxTrialCostUsd: CENT })
    const message = 'The trial has used up what it may cost: 0.01 US dollars (maxTrialCostUsd).'
    expect(pair?.error).toEqual({ code: 'BudgetExceeded', message })
    expect([own.requests, requests]).toEqual([[], []])
    expect(await line.spent()).toBeCloseTo(CENT, 9)
  })

  it('is missing, a draft, or archived', async () => {
    const missing = await scored(scores(), {}, { scorers: [{ agent: 'nobody', tolerance: 1 }] })
    expect(missing.pair).toMatchObject({ agent: 'nobody', error: { code: 'AgentNotFound' } })
    expect((await scored(scores(), { status: 'DRAFT' })).pair?.error?.code).toBe('VersionNotFound')
    const { scorer, run } = await aScoredLine(scores())
    const { organizationId, agentId: id } = scorer.version
    await engine.agents.setArchived({ organizationId, id, archivedAt: new Date().toISOString() })
    const error = { code: 'AgentNotRun', message: 'The agent faithful is archived.' }
    expect((await run()).judgement).toMatchObject({ verdict: 'CHANGED', scores: [{ error }] })
  })

  it('never ends: it has its own time, whatever that of the line is', async () => {
    const never = { ...says({ score: 1 }), until: new Promise(() => undefined) }
    const { pair, line } = await scored([never], { execution: { ...SETTINGS, timeoutSeconds: 1 } })
    expect(pair).toMatchObject({ original: null, error: { code: 'TimedOut' } })
    const [child] = await line.children()
    expect((child?.deadlineAt ?? 0) - Date.parse(child?.createdAt ?? '')).toBe(120_000)
  })

  it('does not take the input', async () => {
    const { pair } = await scored(scores(1), {
      declares: { output: { type: 'object', properties: { answer: { type: 'number' } } } },
      execution: { ...SETTINGS, enforceInputSchema: true },
    })
    expect(pair).toEqual({
      ...{ agent: 'faithful', original: null, trial: null },
      error: { code: 'AgentNotRun', message: expect.stringContaining('/output/answer') },
    })
  })
})

describe('a line that is stopped while it is scored', () => {
  /** A line whose scorer responds when it is told to. `scoring`: its model was asked. */
  async function aWaitingLine() {
    const [asked, told] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const line = await aScoredLine(() => {
      asked.resolve()
      return { ...says({ score: 0.9 }), until: told.promise }
    })
    return { ...line, scoring: asked.promise, respond: told.resolve }
  }

  it('ends when it is cancelled, and so does its scorer', async () => {
    const { line, run, scoring, respond, children, stored } = await aWaitingLine()
    const running = run()
    await scoring
    await endExecution(engine, { ...line, error: CANCELLED })
    emitCompleted(line.id)
    await running
    respond()
    expect(await stored()).toMatchObject({ status: 'ERROR', error: CANCELLED, judgement: null })
    expect(await children()).toMatchObject([{ status: 'ERROR', error: CANCELLED }])
  })

  it('is continued by the next worker when its own shuts down, with the same run of its scorer', async () => {
    const { line, run, scoring, respond, children, stored, scorer } = await aWaitingLine()
    let passedMs = 0
    const on = { ...engine, system: { ...system, now: () => Date.now() + passedMs } }
    const stop = new AbortController()
    const deadline = { drain: stop.signal, stop: stop.signal }
    const running = processMessage(on, line.id, { ...aMessage(), deadline })
    await scoring
    const [first] = await children()
    passedMs = 20_000
    stop.abort()
    await running
    // The time of its scorers is not that of the line, which may have a limit.
    expect((await stored()).workedMs).toBeLessThan(20_000)
    respond()
    const scores = [{ original: 0.9, trial: 0.9, originalScoreId: first?.id }]
    const judgement = { verdict: 'EQUIVALENT', scores }
    expect(await run(on)).toMatchObject({ status: 'SUCCESS', judgement })
    expect(await children()).toHaveLength(2)
    expect(scorer.requests).toHaveLength(3)
  })

  it('is deleted with its scores', async () => {
    const { line, run, respond, children } = await aWaitingLine()
    respond()
    await run()
    const scores = await children()
    expect(scores).toHaveLength(2)
    await engine.executions.delete({ ...line, now: Date.now() })
    const statuses = scores.map((each) => engine.executions.getStatus(each))
    expect(await Promise.all(statuses)).toEqual([null, null])
  })
})
