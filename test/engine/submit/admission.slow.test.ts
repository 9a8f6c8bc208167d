import { describe, expect, it } from 'vitest'
import { Unavailable } from '../../../lib/core/errors.ts'
import type { Execution } from '../../../lib/core/execution.ts'
import { CANCELLED } from '../../../lib/core/execution-errors.ts'
import { TooManyRequests } from '../../../lib/core/limit-errors.ts'
import { executionStore } from '../../../lib/dynamodb/executions/execution-store.ts'
import { STATUS_SHARDS, shardOf } from '../../../lib/dynamodb/table/keys.ts'
import { admission } from '../../../lib/limits/admission.ts'
import { system } from '../../../lib/system.ts'
import { anExecution } from '../../support/engine/executions.ts'
import { waitUntil } from '../../support/processes/processes.ts'
import { engineTable } from '../../support/tables/memory-table.ts'

const LIMIT = 7
/** Ten runs each time one has ended. */
const ROUNDS = 60
const store = executionStore(await engineTable())

/** An execution that is counted in this shard. Far below the limit, a count is an estimate from one shard. */
function inShard(shard: number, organizationId: string): Execution {
  for (;;) {
    const execution = anExecution({ organizationId })
    if (shardOf(execution.id, STATUS_SHARDS) === shard) return execution
  }
}

/** Processes that share a clock, an organization and a store, but not the counts that they keep in memory. */
function aService() {
  let now = 1_800_000_000_000
  let counts = 0
  let recorded = 0
  let fault: Error | null = null
  const organizationId = system.newId()
  const countOpen: typeof store.countOpen = async (params) => {
    counts++
    const thrown = fault
    fault = null
    if (thrown) throw thrown
    return store.countOpen(params)
  }
  const record = async (organization = organizationId) => {
    const execution = inShard(recorded++ % STATUS_SHARDS, organization)
    await store.create({ execution })
    return execution
  }
  return {
    organizationId,
    record,
    process: (max: number) =>
      admission({ executions: { countOpen }, system: { ...system, now: () => now } }, max),
    advance: (ms: number) => {
      now += ms
    },
    failNextCount: (error: Error) => {
      fault = error
    },
    counts: () => counts,
    open: () => store.countOpen({ organizationId, max: 0 }),
  }
}

/** What becomes of so many at the same time. */
async function times<T>(n: number, start: (i: number) => Promise<T>) {
  const results = await Promise.allSettled(Array.from({ length: n }, (_, i) => start(i)))
  const passed = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
  return { passed, errors }
}

const end = ({ id, organizationId }: Execution) =>
  store.end({ id, organizationId, error: CANCELLED, finishedAt: new Date().toISOString() })

describe('admission', () => {
  it('admits no more than the limit of 200 concurrent runs, and rejects the others with Retry-After', async () => {
    const { organizationId, process, record, open } = aService()
    const admit = process(LIMIT)
    const { passed, errors } = await times(200, () => admit(organizationId, record))
    expect(passed).toHaveLength(LIMIT)
    expect(errors).toHaveLength(200 - LIMIT)
    for (const error of errors) {
      expect(error).toBeInstanceOf(TooManyRequests)
      expect(error).toMatchObject({ status: 429, headers: { 'Retry-After': expect.stringMatching(/^\d+$/) } })
    }
    expect(await open()).toBe(LIMIT)
  })

  it('counts open executions in a new process', async () => {
    const { organizationId, process, record } = aService()
    const admitted = await times(LIMIT - 2, () => process(LIMIT)(organizationId, record))
    expect(admitted.passed).toHaveLength(LIMIT - 2)
    const admit = process(LIMIT)
    expect((await times(20, () => admit(organizationId, record))).passed).toHaveLength(2)
  })

  it('counts every 10 s below half of the limit, and for every run above', async () => {
    const { organizationId, process, record, counts, open, advance } = aService()
    const admit = process(100)
    for (let i = 0; i < 60; i++) {
      await admit(organizationId, record)
      advance(500)
    }
    expect(await open()).toBe(60)
    // After 0, 10 and 20 s, and for the last ten runs.
    expect(counts()).toBe(3 + 10)
  })

  it('counts once for a burst up to half of the limit', async () => {
    const { organizationId, process, record, counts, open } = aService()
    const admit = process(400)
    expect((await times(150, () => admit(organizationId, record))).errors).toEqual([])
    expect(await open()).toBe(150)
    expect(counts()).toBe(1)
  })

  it.each([
    ['not yet written', false],
    ['written, but not yet confirmed,', true],
  ])('admits exactly the limit while executions are %s when it counts', async (_, isWritten) => {
    const { organizationId, process, record, counts, open, advance } = aService()
    const admit = process(100)
    let records = 0
    const recordSlowly = async () => {
      advance(20)
      const hasCounted =
        records++ === 0 || waitUntil(() => counts() > 1, { what: 'a count', limitMs: 20_000 })
      if (!isWritten) await hasCounted
      const execution = await record()
      await hasCounted
      return execution
    }
    const { passed } = await times(150, () => admit(organizationId, recordSlowly))
    expect(passed).toHaveLength(100)
    expect(await open()).toBe(100)
  })

  it('respects the limit when two processes alternate', async () => {
    const { organizationId, process, record, open, advance } = aService()
    const [first, second] = [process(LIMIT), process(LIMIT)]
    const running: Execution[] = []
    let admitted = 0
    for (let i = 0; i < ROUNDS; i++) {
      const admit = i % 2 === 0 ? first : second
      const { passed } = await times(1, () => admit(organizationId, record))
      running.push(...passed)
      admitted += passed.length
      expect(await open()).toBeLessThanOrEqual(LIMIT)
      if (i % 10 !== 9) continue
      await Promise.all(running.splice(0, 1).map(end))
      advance(1_000)
    }
    // Every run that ended was replaced, except the last.
    expect(admitted).toBe(LIMIT + ROUNDS / 10 - 1)
  })

  it('counts each organization separately', async () => {
    const { organizationId, process, record } = aService()
    const admit = process(LIMIT)
    const other = system.newId()
    const [ours, theirs] = await Promise.all([
      times(20, () => admit(organizationId, record)),
      times(LIMIT, () => admit(other, () => record(other))),
    ])
    for (const { passed } of [ours, theirs]) expect(passed).toHaveLength(LIMIT)
  })

  it.each([
    ['count', LIMIT],
    ['count', 1_000],
    ['record', LIMIT],
    ['record', 1_000],
  ])('rejects only the caller whose %s failed, with a limit of %i', async (failing, limit) => {
    const { organizationId, process, record, failNextCount, open } = aService()
    const admit = process(limit)
    const fault = new Unavailable(new Error('no answer'))
    if (failing === 'count') failNextCount(fault)
    const recordOrFail = (i: number) => (failing === 'record' && i === 2 ? Promise.reject(fault) : record())
    const { passed, errors } = await times(LIMIT + 1, (i) => admit(organizationId, () => recordOrFail(i)))
    expect(errors).toEqual([fault])
    expect(passed).toHaveLength(LIMIT)
    expect(await open()).toBe(LIMIT)
  })
})
