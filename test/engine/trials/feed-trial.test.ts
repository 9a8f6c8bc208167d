import { beforeAll, describe, expect, it, vi } from 'vitest'
import { listMeasures } from '../../../lib/contract/trial-outcome.ts'
import { type Execution, failure, type Outcome } from '../../../lib/core/execution.ts'
import type { NewExecution } from '../../../lib/core/new-execution.ts'
import type { ExecutionListParams } from '../../../lib/core/ports/execution-reader.ts'
import type { Judgement, TrialSums } from '../../../lib/core/trial.ts'
import { NO_LIMITS } from '../../../lib/core/usage-limits.ts'
import { openStores } from '../../../lib/dynamodb/open-stores.ts'
import { deleteHidden } from '../../../lib/engine/batches/delete-hidden.ts'
import { countLines } from '../../../lib/engine/batches/read.ts'
import { forgetLimits } from '../../../lib/limits/limits.ts'
import { addTrialSpent, trialTooSmall } from '../../../lib/limits/trial-limit.ts'
import { system } from '../../../lib/system.ts'
import { BatchRun, type Options, success } from '../../support/batches/batch-run.ts'
import { executionOf, runOptions } from '../../support/engine/executions.ts'
import { aModelAgent } from '../../support/engine/model-agent.ts'
import { memoryTable } from '../../support/tables/memory-table.ts'

const table = memoryTable()
const { executions } = openStores(table)
const version = await aModelAgent({}, { table })
beforeAll(() => void vi.stubEnv('OPENAI_COMPATIBLE_BASE_URL', 'http://127.0.0.1:1'))

/** A final execution of the version that has cost so much. */
async function anOriginal(costUsd = 0.01, overrides: Partial<NewExecution> = {}): Promise<Execution> {
  const lease = { owner: system.newId(), expiresAt: Date.now() + 60_000 }
  const execution = { ...executionOf(version, { ...overrides, lease }), lease }
  await executions.create({ execution })
  const outcome = { ...success(costUsd), steps: 2, model: 'a/pinned' } as Outcome
  const finishedAt = new Date(Date.parse(execution.createdAt) + 1_000).toISOString()
  return (await executions.finish({ execution, outcome, finishedAt })) as Execution
}

const judged = (verdict: Judgement['verdict'], costUsd?: number): Outcome => ({
  ...success(costUsd),
  judgement: { verdict, differences: [] },
})

async function aTrial(
  originals: string[],
  { settings, ...options }: Partial<Options> & { settings?: object } = {},
) {
  const trial = { originals, ...(settings && { settings }) }
  const outcomeOf = () => judged('SAME')
  return BatchRun.create({ table, version, lines: originals.length, lanes: 2, outcomeOf, ...options, trial })
}

type ListFilter = Pick<ExecutionListParams, 'agentId' | 'tenantId' | 'status'>
const anAmount = (count: number) => Promise.all(Array.from({ length: count }, () => anOriginal()))
const idsOf = (all: Execution[]) => all.map(({ id }) => id)

describe('a line of a trial', () => {
  it('repeats its original: input, tenant, what its request chose, examples', async () => {
    const options = runOptions({ maxAgentSteps: 7, model: 'openai-compatible/a', useDynamicLearning: true })
    const learnedFrom = [system.newId()]
    const input = { question: 'Why?' }
    const original = await anOriginal(0.01, { tenantId: 'acme', options, learnedFrom, input })
    const settings = { tools: { default: 'recorded', look_up: 'live' }, models: 'recorded', ignore: ['/at'] }
    const run = await aTrial([original.id], { settings })
    expect(await run.findProblems()).toEqual([])
    const [line] = await run.executions()
    expect(line).toMatchObject({
      source: 'TRIAL',
      input,
      tenantId: 'acme',
      options,
      learnedFrom,
      cache: null,
      webhookUrl: null,
      judgement: { verdict: 'SAME' },
      replay: {
        ...settings,
        steps: 'recorded',
        executionId: original.id,
        fromStep: 1,
        isTrial: true,
        defaultModel: 'a/pinned',
        maxTrialCostUsd: 0,
      },
    })
  })

  it('with recorded models needs no price, whatever the trial may cost', async () => {
    const original = await anOriginal()
    const { organizationId } = version
    const unpriced = await aModelAgent({ organizationId, model: 'bedrock/without.a-price' }, { table })
    const options = { settings: { models: 'recorded' }, maxCostUsd: 1, version: unpriced }
    const run = await aTrial([original.id], options)
    expect(await run.findProblems()).toEqual([])
    const [line] = await run.executions()
    expect(line).toMatchObject({ status: 'SUCCESS', replay: { maxTrialCostUsd: 1 } })
    expect(line?.options.maxCostUsd).toBeUndefined()
  })

  it('does not follow the defaults of the version that ran: those of the tried version are its own', async () => {
    const original = await anOriginal()
    const tried = await aModelAgent(
      {
        organizationId: version.organizationId,
        model: 'openai-compatible/own',
        execution: { useCache: true, cacheTtlSeconds: null, maxAgentSteps: 5, timeoutSeconds: null },
      },
      { table },
    )
    const run = await aTrial([original.id], { version: tried })
    expect(await run.findProblems()).toEqual([])
    expect((await run.executions())[0]).toMatchObject({
      versionId: tried.id,
      options: { maxAgentSteps: 5, model: null },
      cache: null,
    })
  })

  it('has at most as many steps as the tried version permits', async () => {
    const original = await anOriginal(0.01, { options: runOptions({ maxAgentSteps: 90 }) })
    const execution = { useCache: false, cacheTtlSeconds: null, maxAgentSteps: 20, timeoutSeconds: null }
    const { organizationId } = version
    const run = await aTrial([original.id], {
      version: await aModelAgent({ organizationId, execution }, { table }),
    })
    expect(await run.findProblems()).toEqual([])
    expect((await run.executions())[0]).toMatchObject({ status: 'SUCCESS', options: { maxAgentSteps: 20 } })
  })

  it('ends at once if a cost limit of its tenant or agent is reached: others go on', async () => {
    const [first, acme, last] = await Promise.all(
      [null, 'acme-without-money', null].map((tenantId) => anOriginal(0.01, { tenantId })),
    )
    const run = await aTrial(idsOf([first, acme, last] as Execution[]), { lanes: 1 })
    const { organizationId } = version
    const key = { organizationId, subject: { kind: 'tenant' as const, id: 'acme-without-money' } }
    const limits = { ...NO_LIMITS, maxCostUsd: { day: null, month: 1 }, updatedAt: new Date().toISOString() }
    await run.stores.limits.put({ ...key, limits })
    await run.stores.limits.addSpent({ ...key, at: run.time(), costUsd: 2 })
    forgetLimits(organizationId, key.subject)
    expect(await run.findProblems()).toEqual([])
    const { tenantId, error, status } = (await run.executions())[1] as Execution
    expect({ tenantId, status, error }).toEqual({
      tenantId: 'acme-without-money',
      status: 'ERROR',
      error: {
        code: 'LimitExceeded',
        message:
          'The tenant acme-without-money has used up its limit of 1 US dollars per month (maxCostUsd.month).',
        tenantId: 'acme-without-money',
        limit: 'maxCostUsd.month',
        max: 1,
      },
    })
    expect((await run.stored())?.sums).toMatchObject({ runs: 3, verdicts: { SAME: 2, ERROR: 1 } })
  })

  it('waits for limits that last for minutes', async () => {
    const original = await anOriginal(0.01, { tenantId: 'slow' })
    const run = await aTrial([original.id])
    const { organizationId } = version
    const key = { organizationId, subject: { kind: 'tenant' as const, id: 'slow' } }
    const updatedAt = new Date().toISOString()
    await run.stores.limits.put({ ...key, limits: { ...NO_LIMITS, maxRunsPerMinute: 1, updatedAt } })
    forgetLimits(organizationId, key.subject)
    const minute = Math.floor(run.time() / 60_000)
    await run.stores.limits.countRun({ ...key, minute, max: 1 })
    await run.stores.limits.countRun({ ...key, minute: minute + 1, max: 1 })
    await run.drain()
    expect(await run.executions()).toEqual([null])
    expect(await run.findProblems()).toEqual([])
    expect((await run.executions())[0]).toMatchObject({ status: 'SUCCESS' })
  })

  it('shows no examples where its original had none yet, instead of choosing some', async () => {
    const original = await anOriginal(0.01, { options: runOptions({ useDynamicLearning: true }) })
    const run = await aTrial([original.id])
    await run.settle()
    expect((await run.executions())[0]).toMatchObject({ learnedFrom: [] })
  })

  it('ends in ERROR ExecutionNotFound if its original is deleted before it begins', async () => {
    const [first, second, third] = (await anAmount(3)) as [Execution, Execution, Execution]
    const run = await aTrial(idsOf([first, second, third]), { lanes: 1 })
    run.hung.add(0)
    await run.drain()
    const { organizationId } = version
    await executions.delete({ organizationId, id: second.id, now: Date.now() })
    run.hung.clear()
    expect(await run.findProblems()).toEqual([])
    expect((await run.executions()).map((each) => each?.error?.code ?? each?.status)).toEqual([
      'SUCCESS',
      'ExecutionNotFound',
      'SUCCESS',
    ])
    expect((await run.executions())[1]).toMatchObject({
      source: 'TRIAL',
      replay: { executionId: second.id },
    })
    expect((await run.stored())?.sums).toMatchObject({ runs: 3, verdicts: { SAME: 2, ERROR: 1 } })
  })

  it('is not started from the execution of another organization', async () => {
    const stranger = executionOf(await aModelAgent({}, { table }), { input: { secret: 'theirs' } })
    await executions.create({ execution: stranger })
    const run = await aTrial([stranger.id])
    await run.settle()
    expect((await run.executions())[0]).toMatchObject({ input: {}, error: { code: 'ExecutionNotFound' } })
  })
})

describe('a trial', () => {
  it('counts verdicts while it is in progress', async () => {
    const run = await aTrial(idsOf(await anAmount(3)), {
      lanes: 1,
      outcomeOf: (line) => judged(line === 0 ? 'CHANGED' : 'SAME'),
    })
    run.hung.add(2)
    await run.drain()
    const { totals } = await countLines(run.stores, run.batch)
    expect(totals).toMatchObject({ succeeded: 2, verdicts: { CHANGED: 1, SAME: 1 } })
    expect((await run.stored())?.sums).toBeNull()
  })

  it('has sums once it has ended, of both sides of what can be compared', async () => {
    const costs = [0.01, 0.02, 0.03, 0.04]
    const originals = await Promise.all(costs.map((cost) => anOriginal(cost)))
    const outcomes = [
      judged('SAME', 0.02),
      { ...judged('CHANGED', 0.01), replayedUsage: { inputTokens: 1, outputTokens: 1, costUsd: 0.02 } },
      failure({ code: 'Diverged', message: 'No recording.' }),
      failure({ code: 'OutputSchemaMismatch', message: 'No answer.' }),
    ]
    const run = await aTrial(idsOf(originals), { outcomeOf: (line) => outcomes[line] as Outcome })
    expect(await run.findProblems()).toEqual([])
    expect((await run.stored())?.sums).toEqual({
      runs: 4,
      compared: 2,
      verdicts: { SAME: 1, EQUIVALENT: 0, CHANGED: 1, CORRECTED: 0, REGRESSED: 0, DIVERGED: 1, ERROR: 1 },
      schemaViolations: 1,
      costUsd: {
        original: { median: 0.015, p95: 0.0195 },
        trial: { median: 0.025, p95: 0.0295 },
        originalTotal: 0.03,
        trialTotal: 0.05,
      },
      runTimeMs: { original: { median: 1_000, p95: 1_000 }, trial: expect.anything() },
      steps: { original: { median: 2, p95: 2 }, trial: { median: 0, p95: 0 } },
    })
  })

  it('has the scores of both sides, whose costs count for the trial and not for its runs', async () => {
    const scored = (original: number, trial: number): Outcome => ({
      ...success(0.02),
      judgement: {
        ...{ verdict: 'EQUIVALENT', differences: [], scoring: { costUsd: 0.5, ms: 3_600_000 } },
        scores: [{ agent: 'faithful', original, trial }],
      },
    })
    const outcomes = [scored(0.8, 0.9), scored(0.8, 0.9), judged('CHANGED', 0.02)]
    const run = await aTrial(idsOf(await anAmount(3)), {
      settings: { scorers: [{ agent: 'faithful', tolerance: 0.1 }] },
      outcomeOf: (line) => outcomes[line] as Outcome,
    })
    expect(await run.findProblems()).toEqual([])
    const stored = await run.stored()
    const mean = (value: number) => ({ mean: value, low: value, high: value })
    expect(stored?.sums).toMatchObject({
      verdicts: { EQUIVALENT: 2, CHANGED: 1 },
      costUsd: { trialTotal: 0.06 },
      runTimeMs: { trial: { median: 0 } },
      scores: [
        {
          ...{ agent: 'faithful', runs: 2, unscored: 1, wins: 0, losses: 0, ties: 2 },
          ...{ original: mean(0.8), trial: mean(0.9), difference: mean(0.1) },
        },
      ],
    })
    expect(stored?.totals).toMatchObject({ costUsd: 1.06, verdicts: { EQUIVALENT: 2, CHANGED: 1 } })
    expect((await run.executions())[0]?.replay?.scorers).toEqual([{ agent: 'faithful', tolerance: 0.1 }])
  })

  it('has the measures of its originals if all runs have failed', async () => {
    const outcomeOf = () => failure({ code: 'AgentFailed', message: '' })
    const run = await aTrial(idsOf(await anAmount(2)), { outcomeOf })
    expect(await run.findProblems()).toEqual([])
    const sums = (await run.stored())?.sums as TrialSums
    expect(sums).toMatchObject({
      compared: 0,
      runTimeMs: { original: { median: 1_000, p95: 1_000 } },
      costUsd: { original: { median: 0.01 }, originalTotal: 0, trialTotal: 0 },
    })
    expect(listMeasures(sums)).toEqual([
      ['cost', '$0.01', '$0.01', '-', '-'],
      ['run time', '1 s', '1 s', '-', '-'],
      ['steps', '2', '2', '-', '-'],
    ])
  })

  it('of an original whose request chose a model without a price says how to set it', async () => {
    const options = runOptions({ model: 'openai-compatible/unpriced' })
    const run = await aTrial([(await anOriginal(0.01, { options })).id], { maxCostUsd: 1 })
    expect(await run.findProblems()).toEqual([])
    expect((await run.executions())[0]?.error?.message).toBe(
      'The model openai-compatible/unpriced has no price, so a run with it cannot have a limit in US dollars (maxTrialCostUsd). Set its price in MODEL_PRICES.',
    )
  })

  it('counts the runs whose originals are still there', async () => {
    const originals = idsOf(await anAmount(3))
    const run = await aTrial(originals, { lanes: 3 })
    run.hung.add(2)
    await run.drain()
    const { organizationId } = version
    for (const id of originals.slice(1)) await executions.delete({ organizationId, id, now: Date.now() })
    run.hung.clear()
    expect(await run.findProblems()).toEqual([])
    expect((await run.stored())?.sums).toMatchObject({ runs: 3, compared: 1, verdicts: { SAME: 3 } })
  })

  it('starts nothing more once its responses have used up what it may cost', async () => {
    const run = await aTrial(idsOf(await anAmount(4)), { lanes: 1, maxCostUsd: 1 })
    run.hung.add(1)
    await run.drain()
    await addTrialSpent(run.stores.limits, run.key, 1)
    run.hung.clear()
    expect(await run.findProblems()).toEqual([])
    const { stopped, sums } = (await run.stored()) ?? {}
    expect(stopped).toMatchObject({ code: 'BudgetExceeded', maxTrialCostUsd: 1 })
    expect(sums).toMatchObject({ runs: 2 })
  })

  it('starts nothing more once a run has ended because of what the trial may cost', async () => {
    const error = trialTooSmall(0.000_001)
    const run = await aTrial(idsOf(await anAmount(4)), {
      lanes: 1,
      outcomeOf: (line) => (line === 1 ? failure({ ...error, step: 0 }) : judged('SAME')),
    })
    expect(await run.findProblems()).toEqual([])
    const { stopped, sums } = (await run.stored()) ?? {}
    expect(stopped).toEqual(error)
    expect(sums).toMatchObject({ runs: 2, verdicts: { ERROR: 1 } })
    const recorded = await aTrial(idsOf(await anAmount(3)), {
      lanes: 1,
      settings: { models: 'recorded' },
      outcomeOf: (line) => (line === 1 ? failure(error) : judged('SAME')),
    })
    expect(await recorded.findProblems()).toEqual([])
    expect(await recorded.stored()).toMatchObject({ stopped: null, sums: { runs: 3 } })
  })

  it('is in no list of executions', async () => {
    const original = await anOriginal(0.01, { tenantId: 'acme' })
    const run = await aTrial([original.id], {
      outcomeOf: () => failure({ code: 'AgentFailed', message: '' }),
    })
    run.hung.add(0)
    await run.drain()
    const [line] = run.lineIds()
    const { organizationId, agentId } = version
    const filters = [
      { agentId, tenantId: null, status: null },
      { agentId: null, tenantId: 'acme', status: null },
      { agentId: null, tenantId: null, status: null },
      { agentId, tenantId: null, status: 'ERROR' as const },
      { agentId: null, tenantId: null, status: 'ERROR' as const },
    ]
    const listed = async (filter: ListFilter) => {
      const { items } = await executions.listSummaries({ organizationId, limit: 100, after: null, ...filter })
      return items.some(({ id }) => id === line)
    }
    expect((await run.executions())[0]).toMatchObject({ status: 'IN_PROGRESS', tenantId: 'acme' })
    expect(await executions.countOpen({ organizationId, max: 1 })).toBeGreaterThan(0)
    const open = { agentId: null, tenantId: null, status: 'IN_PROGRESS' as const }
    const all: ListFilter[] = [open, { ...open, agentId }, { ...open, tenantId: 'acme' }, ...filters]
    expect(await Promise.all(all.map(listed))).toEqual(all.map(() => false))
    run.hung.clear()
    await run.settle()
    expect(await Promise.all(filters.map(listed))).toEqual(filters.map(() => false))
  })

  it('is deleted with its executions, and its originals stay', async () => {
    const originals = await anAmount(3)
    const run = await aTrial(idsOf(originals))
    await run.settle()
    const batch = await run.stored()
    if (!batch) throw new Error('It is gone.')
    await run.stores.batches.hide({ batch, now: run.time() })
    await deleteHidden(run.newWorker().engine, run.ids, run.time() + 60_000)
    expect(await run.stored()).toBeNull()
    expect(await run.executions()).toEqual([null, null, null])
    const { organizationId } = version
    for (const { id } of originals) expect(await executions.getStatus({ organizationId, id })).toBe('SUCCESS')
  })
})

it('workers that die repeat the end of a trial: its sums are those of all lines', async () => {
  const originals = idsOf(await anAmount(2))
  const whole = await aTrial(originals)
  await whole.settle()
  const { length } = whole.requests
  const sums = (await whole.stored())?.sums
  expect(sums?.runs).toBe(2)
  // From the end of the last line on.
  for (let at = length - 12; at < length; at++) {
    for (const kind of ['die before', 'die after'] as const) {
      const run = await aTrial(originals, { faults: [{ at, kind }] })
      expect(await run.findProblems(), `${kind} ${at}`).toEqual([])
      expect((await run.stored())?.sums).toMatchObject({ runs: 2, verdicts: sums?.verdicts })
    }
  }
})
