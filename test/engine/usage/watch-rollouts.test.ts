import { describe, expect, it } from 'vitest'
import { resolveAgent } from '../../../lib/agents/resolve-agent.ts'
import { resolveVersion } from '../../../lib/agents/resolve-version.ts'
import { Unavailable } from '../../../lib/core/errors.ts'
import { INTERVAL_MS } from '../../../lib/core/usage.ts'
import { openStores } from '../../../lib/dynamodb/open-stores.ts'
import { putRollout } from '../../../lib/engine/rollouts/change-rollout.ts'
import { system } from '../../../lib/system.ts'
import { aVersion, type Death, mortalTable, RolloutRun } from '../../support/rollouts/rollout-run.ts'
import { memoryTable } from '../../support/tables/memory-table.ts'

const { minute: MINUTE } = INTERVAL_MS
/** A second before a minute ends. */
const START = Date.parse('2026-11-25T10:20:59.000Z')
const ABORTED = { types: ['rollout.aborted' as const] }

async function newRun() {
  const run = await RolloutRun.create(memoryTable(), START)
  run.outbox.addWebhook(ABORTED)
  return run
}

/** The sweeper begins each minute at this second. Returns after how long a sweep has ended the rollout, or null. */
async function sweepEachMinute(run: RolloutRun, { second = 0, minutes = 2 } = {}): Promise<number | null> {
  const from = run.now
  for (let sweep = 0; sweep < minutes; sweep++) {
    const next = (Math.floor((run.now - second * 1000) / MINUTE) + 1) * MINUTE + second * 1000
    run.outbox.pass(next - run.now)
    await run.sweep({ memory: run.memory })
    if (!(await run.agent()).rollout) return run.now - from
  }
  return null
}

/** A run whose next version fails ten times. */
async function aFailingRun() {
  const run = await newRun()
  await run.start(HALF)
  await run.end(run.next, 10, { every: 1 })
  return run
}

/** Sweeps until the rollout has ended. @returns what the agent says about its end */
async function expectAbort(run: RolloutRun, options?: Parameters<typeof sweepEachMinute>[1]) {
  expect(await sweepEachMinute(run, options)).not.toBeNull()
  return (await run.agent()).abortedRollouts[run.next.id]
}

/** Aborts a version of which half of the runs fail. */
const HALF = { abort: { maxErrorRate: 0.5, minRuns: 5 } }

describe('watchRollouts', () => {
  it.each([0, 1, 30, 59])(
    'aborts a version that fails one run in five within two minutes, sweeping at second %i',
    async (second) => {
      const run = await newRun()
      await run.start({ abort: { maxErrorRate: 0.05, minRuns: 20 } })
      await run.end(run.next, 19, { every: 5 })
      expect(await sweepEachMinute(run, { second })).toBeNull()
      await run.end(run.next, 1)
      expect(await sweepEachMinute(run, { second })).toBeLessThanOrEqual(2 * MINUTE)
      const { abortedRollouts, current } = await run.agent()
      expect(current?.id).toBe(run.current.id)
      expect(abortedRollouts[run.next.id]).toMatchObject({
        percent: 10,
        reason: '4 of 20 runs have failed: 20 %, more than 5 %.',
        figures: { rollout: { runs: 20, failed: 4 }, current: { runs: 0, failed: 0 } },
      })
      const next = { versionId: undefined, run: { tenantId: null, executionId: system.newId() } }
      const resolved = await resolveVersion({ ...run.referenceOn(run.table), ...next })
      expect(resolved).toMatchObject({ version: { id: run.current.id }, selectedBy: 'CURRENT' })
      await run.settle(3)
      const data = { versionId: run.next.id, agentId: run.current.agentId, slug: 'rolled-out', percent: 10 }
      expect(run.events()).toMatchObject([{ data }])
    },
  )

  it('judges runs that enter the figures minutes late: ten failures abort', async () => {
    const run = await newRun()
    await run.start(HALF)
    run.outbox.pass(MINUTE)
    const at = run.now
    await run.end(run.next, 5)
    expect(await sweepEachMinute(run, { minutes: 4 })).toBeNull()
    await run.end(run.next, 10, { every: 1, at })
    expect((await expectAbort(run, { minutes: 10 }))?.reason).toContain('10 of 15 runs have failed')
  })

  it('does not abort within the rules, for failures that do not follow from the version, nor for what ended long before', async () => {
    const run = await newRun()
    await run.end(run.next, 50, { every: 1 })
    run.outbox.pass(2 * MINUTE)
    await run.start({ abort: { maxErrorRate: 0.2, minRuns: 10 } })
    await run.end(run.next, 50, { every: 5 })
    await run.end(run.next, 20, { every: 1, source: 'TRIAL' })
    for (const code of ['BudgetExceeded', 'LimitExceeded', 'InputSchemaMismatch', 'Cancelled'])
      for (const source of ['API', 'TRIAL'] as const) await run.end(run.next, 20, { every: 1, code, source })
    expect(await sweepEachMinute(run, { minutes: 12 })).toBeNull()
    await run.end(run.next, 1, { every: 1 })
    const reason = '11 of 51 runs have failed: 21.6 %, more than 20 %.'
    expect(await expectAbort(run)).toMatchObject({ reason })
  })

  it('compares costs with the current version once both have enough runs', async () => {
    const run = await newRun()
    await run.start({ abort: { maxCostIncrease: 0.5, minRuns: 10 } })
    await run.end(run.next, 10, { costUsd: 0.03 })
    await run.end(run.current, 9, { costUsd: 0.01 })
    expect(await sweepEachMinute(run)).toBeNull()
    await run.end(run.current, 1, { costUsd: 0.01 })
    const reason = 'A run costs $0.03 instead of $0.01: 200 % more, which may be at most 50 % more.'
    expect(await expectAbort(run)).toMatchObject({ reason })
  })

  it('compares scores with those of the current version once both have enough of them', async () => {
    const run = await newRun()
    await run.start({ abort: { maxScoreDrop: 0.05, minRuns: 10 } })
    const scoresFrom = (mean: number, count: number) =>
      Array.from({ length: count }, (_, index) => mean + (index % 2 ? 0.02 : -0.02))
    await run.end(run.next, 10)
    await run.score(run.next, scoresFrom(0.7, 9))
    await run.score(run.next, scoresFrom(0.8, 50), 'polite')
    await run.score(run.current, scoresFrom(0.8, 10))
    expect(await sweepEachMinute(run)).toBeNull()
    await run.score(run.next, [0.7])
    expect(await expectAbort(run)).toMatchObject({
      reason:
        'faithful gives a mean score of 0.698 instead of 0.800: lower by 0.083 to 0.121 (95 %), which may be at most 0.05.',
      figures: {
        rollout: { runs: 10, scores: [{ scorer: 'faithful', runs: 10, mean: 0.698 }, { scorer: 'polite' }] },
        current: { runs: 0, scores: [{ scorer: 'faithful', runs: 10, mean: 0.8, deviation: 0.021082 }] },
      },
    })
    await run.settle(3)
    expect(run.events()).toMatchObject([{ data: { figures: { current: { scores: [{ runs: 10 }] } } } }])
  })

  it.each([
    ['the interval reaches the rule', 0.05, [0.6, 0.9], [0.7, 0.9]],
    ['the scores are as much lower as they may be', 0.25, [0.5, 0.5], [0.75, 0.75]],
    ['the scores are higher', 0, [0.9, 0.9], [0.5, 0.5]],
  ])('does not abort by scores while %s', async (_, maxScoreDrop, next, current) => {
    const run = await newRun()
    await run.start({ abort: { maxScoreDrop, minRuns: 2 } })
    await run.end(run.next, 2)
    await run.score(run.next, next)
    await run.score(run.current, current)
    expect(await sweepEachMinute(run)).toBeNull()
  })

  it('compares costs without runs that were cancelled, from the cache, without a known price, and of trials', async () => {
    const run = await newRun()
    await run.start({ abort: { maxCostIncrease: 0.5, minRuns: 10 } })
    await run.end(run.current, 10, { costUsd: 0.01 })
    await run.end(run.next, 10, { costUsd: 0.01 })
    const childUsage = { inputTokens: 1, outputTokens: 1, costUsd: 1 }
    await run.end(run.next, 10, { costUsd: 1, childUsage, every: 1, code: 'Cancelled' })
    await run.end(run.next, 10, { cached: true })
    await run.end(run.next, 10, { costUsd: null })
    await run.end(run.next, 10, { costUsd: null, source: 'TRIAL' })
    await run.end(run.next, 10, { costUsd: 1, source: 'TRIAL' })
    expect(await sweepEachMinute(run)).toBeNull()
    await run.end(run.next, 10, { costUsd: 0.03 })
    expect(await expectAbort(run)).toMatchObject({
      reason: 'A run costs $0.02 instead of $0.01: 100 % more, which may be at most 50 % more.',
      figures: { rollout: { runs: 40, computed: 20, costUsd: 0.4 } },
    })
  })

  it.each(['aborted', 'ended'])(
    'judges no failures of a rollout that was %s in the same minute',
    async (how) => {
      const run = await aFailingRun()
      run.outbox.pass(10_000)
      await run.end(run.next, 10, { every: 1 })
      if (how === 'aborted') await run.sweep()
      else await run.stop()
      expect((await run.agent()).rollout).toBeNull()
      await run.start(HALF)
      expect(await sweepEachMinute(run, { minutes: 3 })).toBeNull()
      await run.end(run.next, 5, { every: 1 })
      expect(await sweepEachMinute(run)).not.toBeNull()
    },
  )

  it('ends a rollout while the end of an earlier one cannot be told', async () => {
    const run = await newRun()
    const tell = () => Promise.reject(new Unavailable(new Error('Throttled.')))
    for (let rollout = 0; rollout < 2; rollout++) {
      await run.start(HALF)
      run.outbox.pass(MINUTE)
      await run.end(run.next, 10, { every: 1 })
      run.outbox.pass(MINUTE)
      await expect(run.sweep({ tell })).rejects.toThrow('1 of 1 rollouts could not be watched.')
      expect((await run.agent()).rollout).toBeNull()
    }
    run.outbox.pass(5 * MINUTE)
    await run.settle(3)
    expect(run.events()).toHaveLength(1)
    expect(await openStores(run.table).rollouts.listWatched()).toEqual([])
  })

  it('reads the totals of an organization once, and over several sweeps if they are many', async () => {
    const run = await newRun()
    await run.start(HALF)
    const { agents, usage } = openStores(run.table)
    const { organizationId } = run.current
    const second = { organizationId, slug: 'second' }
    const next = aVersion({ ...second, status: 'DRAFT' })
    for (const version of [aVersion(second), next]) await agents.publish({ version, code: null })
    const reference = { store: agents, organizationId, idOrSlug: second.slug }
    const clock = { ...system, now: () => run.now }
    await putRollout({ ...reference, system: clock, given: { versionId: next.id, percent: 10, ...HALF } })
    for (let minute = 0; minute < 10; minute++) {
      await run.end(run.next, 1)
      await run.end(next, 1)
      run.outbox.pass(MINUTE)
    }
    for (const version of [run.next, next]) await run.end(version, 20, { every: 1 })
    run.outbox.pass(15 * MINUTE)
    const reads: number[] = []
    const read: typeof usage.read = async function* (params) {
      reads.push(0)
      for await (const minute of usage.read(params)) {
        reads.push((reads.pop() ?? 0) + 1)
        run.outbox.pass(10_000)
        yield minute
      }
    }
    for (let sweep = 1; sweep <= 6; sweep++) {
      await run.sweep({ memory: run.memory, usage: { ...usage, read } })
      expect(reads).toHaveLength(sweep)
      expect(reads.at(-1)).toBeLessThanOrEqual(2)
    }
    expect((await run.agent()).rollout).toBeNull()
    expect((await resolveAgent(reference)).rollout).toBeNull()
  })

  it('watches a rollout whose rules were added later, and one that follows another', async () => {
    const run = await newRun()
    await run.start()
    await run.end(run.next, 10, { every: 1 })
    expect(await sweepEachMinute(run)).toBeNull()
    await run.start({ percent: 20, ...HALF })
    expect(await sweepEachMinute(run)).not.toBeNull()
    // The agent leaves the timers, and enters them again.
    expect(await sweepEachMinute(run, { minutes: 4 })).not.toBeNull()
    expect(await openStores(run.table).rollouts.listWatched()).toEqual([])
    await run.start(HALF)
    expect(await sweepEachMinute(run)).toBeNull()
    await run.end(run.next, 10, { every: 1 })
    expect(await sweepEachMinute(run)).not.toBeNull()
    await run.settle(3)
    expect(run.events()).toHaveLength(2)
  })

  it('reads only minutes that are not final again', async () => {
    const run = await newRun()
    await run.start(HALF)
    await run.end(run.next, 10)
    await sweepEachMinute(run, { minutes: 60 })
    const { usage } = openStores(run.table)
    const reads: number[] = []
    run.outbox.pass(MINUTE)
    const read: typeof usage.read = (params) => {
      reads.push(run.now - params.from)
      return usage.read(params)
    }
    await run.sweep({ memory: run.memory, usage: { ...usage, read } })
    expect(reads).toHaveLength(1)
    expect(reads[0]).toBeLessThanOrEqual(9 * MINUTE)
  })

  it('watches the others if one cannot be looked at, and that one in the next sweep', async () => {
    const run = await aFailingRun()
    run.outbox.pass(2 * MINUTE)
    const { usage } = openStores(run.table)
    const read = () => {
      throw new Unavailable(new Error('Throttled.'))
    }
    const sweeping = run.sweep({ usage: { ...usage, read } as never })
    await expect(sweeping).rejects.toThrow('1 of 1 rollouts could not be watched.')
    expect((await run.agent()).rollout).not.toBeNull()
    await run.sweep()
    expect((await run.agent()).rollout).toBeNull()
  })

  it('tells once, whatever request the process dies at', async () => {
    const run = await newRun()
    let told = 0
    for (const isAfter of [false, true])
      for (let request = 0; ; request++) {
        await run.start(HALF)
        run.outbox.pass(MINUTE)
        await run.end(run.next, 5, { every: 1 })
        run.outbox.pass(2 * MINUTE)
        const death: Death = { request, isAfter }
        const mortal = mortalTable(run.table, death)
        await run.sweep({ table: mortal.table }).catch(() => undefined)
        await run.settle(3)
        expect((await run.agent()).rollout, JSON.stringify(death)).toBeNull()
        expect(run.events().length, JSON.stringify(death)).toBe(++told)
        if (!mortal.process.isDead) break
      }
    expect(new Set(run.events().map(({ eventId }) => eventId)).size).toBe(told)
    expect(told).toBeGreaterThan(10)
  })

  it('leaves either no rollout or one that is watched, whatever request its start dies at', async () => {
    const run = await newRun()
    for (const isAfter of [false, true])
      for (let request = 0; ; request++) {
        const mortal = mortalTable(run.table, { request, isAfter })
        const started = run.start(HALF, mortal.table)
        await started.catch(() => undefined)
        const { rollout, draftVersionId } = await run.agent()
        expect(draftVersionId).toBe(rollout || request > 0 || isAfter ? draftVersionId : run.next.id)
        if (rollout) {
          expect(draftVersionId).toBeNull()
          expect(await openStores(run.table).rollouts.listWatched()).toHaveLength(1)
          await run.stop()
        }
        if (!mortal.process.isDead) break
      }
    run.outbox.pass(3 * MINUTE)
    await run.sweep()
    expect(await openStores(run.table).rollouts.listWatched()).toEqual([])
  })

  it('ends a rollout once, however many sweeps look at it', async () => {
    const run = await aFailingRun()
    run.outbox.pass(2 * MINUTE)
    await Promise.allSettled(Array.from({ length: 16 }, () => run.sweep()))
    await run.settle(3)
    expect(run.events()).toHaveLength(1)
  })
})
