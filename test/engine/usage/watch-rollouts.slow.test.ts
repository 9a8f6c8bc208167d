import { describe, expect, inject, it } from 'vitest'
import { resolveVersion } from '../../../lib/agents/resolve-version.ts'
import { Unavailable } from '../../../lib/core/errors.ts'
import { INTERVAL_MS } from '../../../lib/core/usage.ts'
import { openStores } from '../../../lib/dynamodb/open-stores.ts'
import { openTable } from '../../../lib/dynamodb/table/table.ts'
import { system } from '../../../lib/system.ts'
import { provisionTable } from '../../../local/emulators/provision.ts'
import { type Death, mortalTable, RolloutRun } from '../../support/rollouts/rollout-run.ts'

const { minute: MINUTE } = INTERVAL_MS
/** A second before a minute ends. */
const START = Date.parse('2026-11-25T10:20:59.000Z')
const ABORTED = { types: ['rollout.aborted' as const] }
const LIMIT_MS = 240_000

async function newRun() {
  const TABLE_NAME = `rollouts-${system.newId()}`
  await provisionTable(inject('dynamodb'), TABLE_NAME)
  const run = await RolloutRun.create(openTable({ TABLE_NAME, DYNAMODB_ENDPOINT: inject('dynamodb') }), START)
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

describe('watchRollouts', { timeout: LIMIT_MS }, () => {
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
      const resolved = await resolveVersion({
        ...run.referenceOn(run.table),
        versionId: undefined,
        run: { tenantId: null, executionId: system.newId() },
      })
      expect(resolved).toMatchObject({ version: { id: run.current.id }, selectedBy: 'CURRENT' })
      await run.settle(3)
      expect(run.events()).toMatchObject([
        { data: { versionId: run.next.id, agentId: run.current.agentId, slug: 'rolled-out', percent: 10 } },
      ])
    },
  )

  it('does not abort within the rules, for cancelled runs, for trials, nor for what ended long before', async () => {
    const run = await newRun()
    await run.end(run.next, 50, { every: 1 })
    run.outbox.pass(2 * MINUTE)
    await run.start({ abort: { maxErrorRate: 0.2, minRuns: 10 } })
    await run.end(run.next, 50, { every: 5 })
    await run.end(run.next, 20, { every: 1, code: 'Cancelled' })
    await run.end(run.next, 20, { every: 1, source: 'TRIAL' })
    await run.end(run.next, 5, { every: 1, code: 'Cancelled', source: 'TRIAL' })
    expect(await sweepEachMinute(run, { minutes: 12 })).toBeNull()
    await run.end(run.next, 1, { every: 1 })
    expect(await sweepEachMinute(run)).not.toBeNull()
    expect((await run.agent()).abortedRollouts[run.next.id]?.reason).toBe(
      '11 of 51 runs have failed: 21.6 %, more than 20 %.',
    )
  })

  it('compares costs with the current version once both have enough runs', async () => {
    const run = await newRun()
    await run.start({ abort: { maxCostIncrease: 0.5, minRuns: 10 } })
    await run.end(run.next, 10, { costUsd: 0.03 })
    await run.end(run.current, 9, { costUsd: 0.01 })
    expect(await sweepEachMinute(run)).toBeNull()
    await run.end(run.current, 1, { costUsd: 0.01 })
    expect(await sweepEachMinute(run)).not.toBeNull()
    expect((await run.agent()).abortedRollouts[run.next.id]?.reason).toBe(
      'A run costs $0.03 instead of $0.01: 200 % more, which may be at most 50 % more.',
    )
  })

  it('watches a rollout whose rules were added later, and one that follows another', async () => {
    const run = await newRun()
    await run.start()
    await run.end(run.next, 10, { every: 1 })
    expect(await sweepEachMinute(run)).toBeNull()
    await run.start({ percent: 20, abort: { maxErrorRate: 0.5, minRuns: 5 } })
    expect(await sweepEachMinute(run)).not.toBeNull()
    // The agent leaves the timers, and enters them again.
    expect(await sweepEachMinute(run, { minutes: 4 })).not.toBeNull()
    expect(await openStores(run.table).rollouts.listWatched()).toEqual([])
    await run.start({ abort: { maxErrorRate: 0.5, minRuns: 5 } })
    expect(await sweepEachMinute(run)).toBeNull()
    await run.end(run.next, 10, { every: 1 })
    expect(await sweepEachMinute(run)).not.toBeNull()
    await run.settle(3)
    expect(run.events()).toHaveLength(2)
  })

  it('reads only minutes that are not final again', async () => {
    const run = await newRun()
    await run.start({ abort: { maxErrorRate: 0.5, minRuns: 5 } })
    await run.end(run.next, 10)
    await sweepEachMinute(run, { minutes: 60 })
    const { usage } = openStores(run.table)
    const reads: number[] = []
    run.outbox.pass(MINUTE)
    await run.sweep({
      memory: run.memory,
      usage: {
        ...usage,
        read: (params) => {
          reads.push(run.now - params.from)
          return usage.read(params)
        },
      },
    })
    expect(reads).toHaveLength(1)
    expect(reads[0]).toBeLessThanOrEqual(9 * MINUTE)
  })

  it('watches the others if one cannot be looked at, and that one in the next sweep', async () => {
    const run = await newRun()
    await run.start({ abort: { maxErrorRate: 0.5, minRuns: 5 } })
    await run.end(run.next, 10, { every: 1 })
    run.outbox.pass(2 * MINUTE)
    const { usage } = openStores(run.table)
    const read = () => {
      throw new Unavailable(new Error('Throttled.'))
    }
    await expect(run.sweep({ usage: { ...usage, read } as never })).rejects.toThrow(
      '1 of 1 rollouts could not be watched.',
    )
    expect((await run.agent()).rollout).not.toBeNull()
    await run.sweep()
    expect((await run.agent()).rollout).toBeNull()
  })

  it('tells once, whatever request the process dies at', async () => {
    const run = await newRun()
    let told = 0
    for (const isAfter of [false, true])
      for (let request = 0; ; request++) {
        await run.start({ abort: { maxErrorRate: 0.5, minRuns: 5 } })
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
        const started = run.start({ abort: { maxErrorRate: 0.5, minRuns: 5 } }, mortal.table)
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
    const run = await newRun()
    await run.start({ abort: { maxErrorRate: 0.5, minRuns: 5 } })
    await run.end(run.next, 10, { every: 1 })
    run.outbox.pass(2 * MINUTE)
    await Promise.allSettled(Array.from({ length: 16 }, () => run.sweep()))
    await run.settle(3)
    expect(run.events()).toHaveLength(1)
  })
})
