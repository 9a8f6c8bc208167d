import { beforeAll, describe, expect, it, vi } from 'vitest'
import { listMeasures } from '../../../lib/contract/trial-outcome.ts'
import { type Execution, failure, type Outcome } from '../../../lib/core/execution.ts'
import type { NewExecution } from '../../../lib/core/new-execution.ts'
import type { ExecutionListParams } from '../../../lib/core/ports/execution-reader.ts'
import type { Judgement, TrialSums } from '../../../lib/core/trial.ts'
import { NO_LIMITS, type UsageLimits } from '../../../lib/core/usage-limits.ts'
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
const { organizationId, agentId } = version
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

/** The lines and the record of a trial that has ended without problems. */
async function endOf(run: BatchRun) {
  expect(await run.findProblems()).toEqual([])
  const lines = await run.executions()
  return { lines, line: lines[0], trial: await run.stored() }
}

const endOfTrial = async (...given: Parameters<typeof aTrial>) => endOf(await aTrial(...given))

async function limitTenant({ stores }: BatchRun, id: string, limits: Partial<UsageLimits>) {
  const subject = { kind: 'tenant' as const, id }
  const updatedAt = new Date().toISOString()
  await stores.limits.put({ organizationId, subject, limits: { ...NO_LIMITS, ...limits, updatedAt } })
  forgetLimits(organizationId, subject)
  return { organizationId, subject }
}

const execution = { useCache: false, cacheTtlSeconds: null, maxAgentSteps: 20, timeoutSeconds: null }
const failed = () => failure({ code: 'AgentFailed', message: '' })

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
    const { line } = await endOfTrial([original.id], { settings })
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
    const unpriced = await aModelAgent({ organizationId, model: 'bedrock/without.a-price' }, { table })
    const options = { settings: { models: 'recorded' }, maxCostUsd: 1, version: unpriced }
    const { line } = await endOfTrial([original.id], options)
    expect(line).toMatchObject({ status: 'SUCCESS', replay: { maxTrialCostUsd: 1 } })
    expect(line?.options.maxCostUsd).toBeUndefined()
  })

  it('follows the defaults and limits of the tried version, not those of the version that ran', async () => {
    const [own, limited] = await Promise.all([
      anOriginal(),
      anOriginal(0.01, { options: runOptions({ maxAgentSteps: 90 }) }),
    ])
    const fields = {
      organizationId,
      model: 'openai-compatible/own',
      execution: { ...execution, useCache: true },
    }
    const tried = await aModelAgent(fields, { table })
    const { lines } = await endOfTrial(idsOf([own, limited]), { version: tried })
    const options = { maxAgentSteps: 20, model: null }
    const expected = { status: 'SUCCESS', versionId: tried.id, options, cache: null }
    expect(lines).toMatchObject([expected, expected])
  })

  it('ends at once if a cost limit of its tenant or agent is reached: others go on', async () => {
    const [first, acme, last] = await Promise.all(
      [null, 'acme-without-money', null].map((tenantId) => anOriginal(0.01, { tenantId })),
    )
    const run = await aTrial(idsOf([first, acme, last] as Execution[]), { lanes: 1 })
    const tenantId = 'acme-without-money'
    const key = await limitTenant(run, tenantId, { maxCostUsd: { day: null, month: 1 } })
    await run.stores.limits.addSpent({ ...key, at: run.time(), costUsd: 2 })
    const { lines, trial } = await endOf(run)
    expect(lines[1]).toMatchObject({ tenantId, status: 'ERROR' })
    expect(lines[1]?.error).toEqual({
      ...{ code: 'LimitExceeded', tenantId, limit: 'maxCostUsd.month', max: 1 },
      message: `The tenant ${tenantId} has used up its limit of 1 US dollars per month (maxCostUsd.month).`,
    })
    expect(trial?.sums).toMatchObject({ runs: 3, verdicts: { SAME: 2, ERROR: 1 } })
  })

  it('waits for limits that last for minutes', async () => {
    const original = await anOriginal(0.01, { tenantId: 'slow' })
    const run = await aTrial([original.id])
    const key = await limitTenant(run, 'slow', { maxRunsPerMinute: 1 })
    const now = Math.floor(run.time() / 60_000)
    for (const minute of [now, now + 1]) await run.stores.limits.countRun({ ...key, minute, max: 1 })
    await run.drain()
    expect(await run.executions()).toEqual([null])
    expect((await endOf(run)).line).toMatchObject({ status: 'SUCCESS' })
  })

  it('shows no examples where its original had none yet, instead of choosing some', async () => {
    const original = await anOriginal(0.01, { options: runOptions({ useDynamicLearning: true }) })
    expect((await endOfTrial([original.id])).line).toMatchObject({ learnedFrom: [] })
  })

  it('ends in ERROR ExecutionNotFound if its original is deleted before it begins', async () => {
    const originals = idsOf(await anAmount(3))
    const id = originals[1] ?? ''
    const run = await aTrial(originals, { lanes: 1 })
    run.hung.add(0)
    await run.drain()
    await executions.delete({ organizationId, id, now: Date.now() })
    run.hung.clear()
    const { lines, trial } = await endOf(run)
    const error = { code: 'ExecutionNotFound' }
    expect(lines).toMatchObject([
      { status: 'SUCCESS' },
      { source: 'TRIAL', replay: { executionId: id }, error },
      { status: 'SUCCESS' },
    ])
    expect(trial?.sums).toMatchObject({ runs: 3, verdicts: { SAME: 2, ERROR: 1 } })
  })

  it('is not started from the execution of another organization', async () => {
    const stranger = executionOf(await aModelAgent({}, { table }), { input: { secret: 'theirs' } })
    await executions.create({ execution: stranger })
    expect((await endOfTrial([stranger.id])).line).toMatchObject({
      input: {},
      error: { code: 'ExecutionNotFound' },
    })
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
    const { trial } = await endOfTrial(idsOf(originals), { outcomeOf: (line) => outcomes[line] as Outcome })
    expect(trial?.sums).toEqual({
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
    const scorers = [{ agent: 'faithful', tolerance: 0.1 }]
    const outcomeOf = (line: number) => outcomes[line] as Outcome
    const { line, trial } = await endOfTrial(idsOf(await anAmount(3)), { settings: { scorers }, outcomeOf })
    const mean = (value: number) => ({ mean: value, low: value, high: value })
    expect(trial?.sums).toMatchObject({
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
    expect(trial?.totals).toMatchObject({ costUsd: 1.06, verdicts: { EQUIVALENT: 2, CHANGED: 1 } })
    expect(line?.replay?.scorers).toEqual(scorers)
  })

  it('has the measures of its originals if all runs have failed', async () => {
    const { trial } = await endOfTrial(idsOf(await anAmount(2)), { outcomeOf: failed })
    const sums = trial?.sums as TrialSums
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
    const { line } = await endOfTrial([(await anOriginal(0.01, { options })).id], { maxCostUsd: 1 })
    expect(line?.error?.message).toBe(
      'The model openai-compatible/unpriced has no price, so a run with it cannot have a limit in US dollars (maxTrialCostUsd). Set its price in MODEL_PRICES.',
    )
  })

  it('counts the runs whose originals are still there', async () => {
    const originals = idsOf(await anAmount(3))
    const run = await aTrial(originals, { lanes: 3 })
    run.hung.add(2)
    await run.drain()
    for (const id of originals.slice(1)) await executions.delete({ organizationId, id, now: Date.now() })
    run.hung.clear()
    expect((await endOf(run)).trial?.sums).toMatchObject({ runs: 3, compared: 1, verdicts: { SAME: 3 } })
  })

  it('starts nothing more once its responses have used up what it may cost', async () => {
    const run = await aTrial(idsOf(await anAmount(4)), { lanes: 1, maxCostUsd: 1 })
    run.hung.add(1)
    await run.drain()
    await addTrialSpent(run.stores.limits, run.key, 1)
    run.hung.clear()
    const stopped = { code: 'BudgetExceeded', maxTrialCostUsd: 1 }
    expect((await endOf(run)).trial).toMatchObject({ stopped, sums: { runs: 2 } })
  })

  it('starts nothing more once a run has ended because of what the trial may cost', async () => {
    const error = trialTooSmall(0.000_001)
    const outcomeOf = (line: number) => (line === 1 ? failure({ ...error, step: 0 }) : judged('SAME'))
    const { trial } = await endOfTrial(idsOf(await anAmount(4)), { lanes: 1, outcomeOf })
    expect(trial?.stopped).toEqual(error)
    expect(trial?.sums).toMatchObject({ runs: 2, verdicts: { ERROR: 1 } })
    const settings = { models: 'recorded' }
    const recorded = await endOfTrial(idsOf(await anAmount(3)), { lanes: 1, settings, outcomeOf })
    expect(recorded.trial).toMatchObject({ stopped: null, sums: { runs: 3 } })
  })

  it('is in no list of executions', async () => {
    const original = await anOriginal(0.01, { tenantId: 'acme' })
    const run = await aTrial([original.id], { outcomeOf: failed })
    run.hung.add(0)
    await run.drain()
    const [line] = run.lineIds()
    const all: ListFilter = { agentId: null, tenantId: null, status: null }
    const open: ListFilter = { ...all, status: 'IN_PROGRESS' }
    const ofAll = [{ ...all, agentId }, { ...all, tenantId: 'acme' }, all]
    const ofErrors = [all, { ...all, agentId }].map((filter) => ({ ...filter, status: 'ERROR' as const }))
    const filters = [...ofAll, ...ofErrors]
    const listed = async (filter: ListFilter) => {
      const { items } = await executions.listSummaries({ organizationId, limit: 100, after: null, ...filter })
      return items.some(({ id }) => id === line)
    }
    expect((await run.executions())[0]).toMatchObject({ status: 'IN_PROGRESS', tenantId: 'acme' })
    expect(await executions.countOpen({ organizationId, max: 1 })).toBeGreaterThan(0)
    const whileOpen = [open, { ...open, agentId }, { ...open, tenantId: 'acme' }, ...filters]
    expect(await Promise.all(whileOpen.map(listed))).toEqual(whileOpen.map(() => false))
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
