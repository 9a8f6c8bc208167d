import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { UNLIMITED } from '../../../lib/core/access.ts'
import type { Batch, CountedBatch } from '../../../lib/core/batch.ts'
import { firstLane, lineExecutionId, NO_TOTALS } from '../../../lib/core/batch.ts'
import { Unavailable } from '../../../lib/core/errors.ts'
import { failure, type Outcome } from '../../../lib/core/execution.ts'
import { openStores } from '../../../lib/dynamodb/open-stores.ts'
import { executionKey } from '../../../lib/dynamodb/table/keys.ts'
import { prepareBatch } from '../../../lib/engine/batches/accept.ts'
import { cancelBatch, deleteBatch, retryFailed } from '../../../lib/engine/batches/change.ts'
import { readLines } from '../../../lib/engine/batches/read-lines.ts'
import { openWatch } from '../../../lib/engine/batches/watch.ts'
import { deleteExecution } from '../../../lib/engine/executions/change-execution.ts'
import { system } from '../../../lib/system.ts'
import { BatchRun, success } from '../../support/batches/batch-run.ts'
import { NO_PROGRESS } from '../../support/engine/executions.ts'
import { aModelAgent } from '../../support/engine/model-agent.ts'
import { ownTable } from '../../support/tables/memory-table.ts'

describe('cancelBatch and deleteBatch', async () => {
  const table = await ownTable()
  const version = await aModelAgent({}, { table })

  const failed: Outcome = { ...NO_PROGRESS, ...failure({ code: 'AgentFailed', message: 'It failed.' }) }

  /** A batch of five lines whose first three fail, and what a client requests. */
  async function aBatch() {
    const outcomeOf = (line: number) => (line < 3 ? failed : success())
    const run = await BatchRun.create({ table, version, lines: 5, lanes: 1, outcomeOf })
    const { organizationId } = version
    const fed: string[] = []
    const queue = { feed: async ({ batchId }: { batchId: string }) => void fed.push(batchId) }
    const stores = { ...run.stores, queue, system: { ...system, now: run.time } }
    const access = { ...UNLIMITED, organizationId, tokenId: organizationId }
    const reference = { access, batchId: run.batch.id }
    return {
      run,
      fed,
      cancel: () => cancelBatch(stores, reference),
      remove: () => deleteBatch(stores, reference),
      removeExecution: (line: number) =>
        deleteExecution(stores, { access, executionId: lineExecutionId(run.batch, line) }),
      deleteLines: async (...lines: number[]) => {
        for (const line of lines) await table.delete(executionKey(lineExecutionId(run.batch, line)))
      },
      /** The batch that retries it, and the custom ids of its lines. */
      retry: async (idempotencyKey?: string, version?: string) => {
        const retried = await retryFailed(stores, { ...reference, idempotencyKey, version })
        const lines: string[] = []
        for await (const block of readLines(stores, retried))
          lines.push(...block.map(({ customId }) => customId))
        return { retried, lines }
      },
    }
  }

  async function anEndedBatch() {
    const batch = await aBatch()
    await batch.run.settle()
    return batch
  }

  describe('retryFailed', () => {
    it('makes one batch of two requests at once, and another one when it has ended', async () => {
      const { run, retry } = await anEndedBatch()
      const [first, second] = await Promise.all([retry(), retry()])
      expect(second?.retried.id).toBe(first?.retried.id)
      expect((await retry()).retried.id).toBe(first?.retried.id)
      expect((await retry('with a key')).retried.id).not.toBe(first?.retried.id)
      const batch = first?.retried as Batch
      const endedAt = new Date(run.time()).toISOString()
      await run.stores.batches.end({ batch, totals: { ...NO_TOTALS, failed: batch.lines }, endedAt })
      expect((await retry()).retried.id).not.toBe(batch.id)
    })

    it('starts the lines that failed, with the version and the options of their batch', async () => {
      const { run, fed, retry, deleteLines } = await anEndedBatch()
      const { retried, lines } = await retry('once')
      expect(lines).toEqual(['c0', 'c1', 'c2'])
      expect(retried).toMatchObject({ retryOf: run.batch.id, versionId: version.id, lanes: 1 })
      await deleteLines(0, 1, 2, 3)
      expect((await retry('once')).retried).toEqual(retried)
      expect(fed).toContain(retried.id)
    })

    it('runs on another version of the agent, as a batch of its own; versions of other agents are unknown', async () => {
      const { retry } = await anEndedBatch()
      const { organizationId } = version
      const newer = await aModelAgent({ organizationId, instructions: 'Answer better.' }, { table })
      const [same, other] = await Promise.all([retry(), retry(undefined, newer.id)])
      expect(other).toMatchObject({ lines: ['c0', 'c1', 'c2'], retried: { versionId: newer.id, lanes: 1 } })
      expect(same?.retried.versionId).toBe(version.id)
      expect((await retry(undefined, newer.id)).retried.id).toBe(other?.retried.id)
      await retry('once, newer', newer.id)
      await expect(retry('once, newer')).rejects.toMatchObject({ code: 'IdempotencyKeyReused' })
      const foreign = await aModelAgent({ organizationId, slug: 'other' }, { table })
      await expect(retry(undefined, foreign.id)).rejects.toMatchObject({ code: 'VersionNotFound' })
    })

    it('does not start lines whose executions were deleted', async () => {
      const { retry, deleteLines } = await anEndedBatch()
      await deleteLines(1, 3)
      expect((await retry()).lines).toEqual(['c0', 'c2'])
      await deleteLines(0, 2)
      const nothing = { code: 'InputSchemaMismatch', message: expect.stringContaining('No line') }
      await expect(retry()).rejects.toMatchObject(nothing)
    })

    it('starts the lines that a cancelled batch had not started', async () => {
      const { run, cancel, retry } = await aBatch()
      await run.deliver()
      await expect(retry()).rejects.toMatchObject({ code: 'BatchInProgress' })
      await cancel()
      await run.settle()
      expect((await retry()).lines).toEqual(['c0', 'c1', 'c2', 'c3', 'c4'])
    })
  })

  it('keeps the execution of a line, which would be started again, until the batch has ended', async () => {
    const { run, removeExecution } = await aBatch()
    for (let deliveries = 0; deliveries < 3; deliveries++) await run.deliver()
    expect((await run.executions())[0]?.status).toBe('ERROR')
    await expect(removeExecution(0)).rejects.toMatchObject({ code: 'BatchInProgress' })
    await run.settle()
    await removeExecution(0)
    expect((await run.executions())[0]).toBeNull()
  })

  it('deleteBatch refuses a batch in progress, and hides one that has ended', async () => {
    const { run, fed, remove } = await aBatch()
    await expect(remove()).rejects.toMatchObject({ code: 'BatchInProgress' })
    await run.settle()
    await remove()
    expect([await run.stored(), fed]).toEqual([null, [run.batch.id]])
    await expect(remove()).rejects.toMatchObject({ code: 'BatchNotFound' })
  })

  it('cancelBatch says who stopped the batch, and changes none that has ended', async () => {
    const { run, fed, cancel } = await aBatch()
    const { batch } = await cancel()
    expect(batch).toMatchObject({ status: 'CANCELLING', stopped: { code: 'Cancelled' } })
    await run.settle()
    expect(await cancel()).toMatchObject({ batch: { status: 'ENDED' } })
    expect(fed).toHaveLength(1)
  })

  it('prepareBatch refuses lines that do not match the schema only if the batch is strict', async () => {
    const { organizationId, slug } = await aModelAgent({}, { table, code: 'export default () => ({})' })
    const prepare = (enforceInputSchema: boolean) =>
      prepareBatch(
        { ...openStores(table), system },
        {
          access: { ...UNLIMITED, organizationId, tokenId: '' },
          idOrSlug: slug,
          overrides: { enforceInputSchema },
          idempotencyKey: undefined,
          received: [{ line: 1, value: { customId: 'a', input: { question: 5 } } }],
        },
      )
    expect((await prepare(false)).lines).toHaveLength(1)
    await expect(prepare(true)).rejects.toMatchObject({ errors: [{ line: 1, path: '/input/question' }] })
  })
})

describe('openWatch', () => {
  beforeEach(() => {
    vi.useFakeTimers()
    // At 0, the cache takes an entry for one that never expires.
    vi.advanceTimersByTime(1)
  })
  afterEach(() => void vi.useRealTimers())

  const key = { organizationId: 'org', id: 'batch' }

  /** A batch that is in the next of these states whenever it is read, and stays in the last one. */
  function storeOf(...states: (Partial<Batch> | null | Error)[]) {
    const reads = { count: 0 }
    return {
      reads,
      batches: {
        async get() {
          const state = states[Math.min(reads.count++, states.length - 1)]
          if (state instanceof Error) throw state
          return state ? ({ ...key, status: 'IN_PROGRESS', lanes: 1, totals: null, ...state } as Batch) : null
        },
        listLanes: async ({ batch }: { batch: Batch }) => [firstLane(0, batch)],
      },
    }
  }

  const open = (store: ReturnType<typeof storeOf>, known?: string) => {
    const watch = openWatch(store)
    const { signal } = new AbortController()
    return (options: { untilNews?: boolean; maxMs?: number; signal?: AbortSignal } = {}) =>
      watch({ ...key, known, maxMs: 60_000, untilNews: false, signal, ...options })
  }

  /** What a reader gets until its stream ends, with the clock going on. */
  async function collect(events: AsyncIterable<CountedBatch | null>) {
    const collected: (string | null)[] = []
    let isOver = false
    const reading = (async () => {
      for await (const event of events)
        collected.push(event && `${event.batch.status} ${event.totals.succeeded}`)
    })().finally(() => {
      isOver = true
    })
    for (let seconds = 0; seconds < 120 && !isOver; seconds++) await vi.advanceTimersByTimeAsync(1_000)
    await reading
    return collected
  }

  const ended = { status: 'ENDED', totals: { succeeded: 3, failed: 0, cancelled: 0, costUsd: 0 } } as const

  it('tells each change once, until the batch has ended', async () => {
    const store = storeOf({}, { openUntil: 1 }, { status: 'CANCELLING' }, { status: 'CANCELLING' }, ended)
    expect(await collect(open(store)())).toEqual(['IN_PROGRESS 0', 'CANCELLING 0', 'ENDED 3'])
  })

  it('does not tell what the reader knows, but always the end', async () => {
    const store = storeOf({}, {}, ended)
    expect(await collect(open(store, 'IN_PROGRESS--0-0-0')())).toEqual(['ENDED 3'])
    expect(await collect(open(storeOf(ended), 'ENDED--3-0-0')())).toEqual(['ENDED 3'])
  })

  it('repeats reads that fail, and ends if the batch is deleted', async () => {
    const store = storeOf({}, new Unavailable(undefined), { status: 'CANCELLING' }, null)
    expect(await collect(open(store)())).toEqual(['IN_PROGRESS 0', 'CANCELLING 0'])
  })

  it('shares its reads with all readers in the process', async () => {
    const store = storeOf({}, {}, {}, {}, ended)
    const watch = open(store)
    const all = await Promise.all(Array.from({ length: 20 }, () => collect(watch())))
    expect(new Set(all.map(String))).toEqual(new Set(['IN_PROGRESS 0,ENDED 3']))
    expect(store.reads.count).toBeLessThanOrEqual(6)
  })

  it('ends after the first change where responses are buffered, and after its time', async () => {
    expect(await collect(open(storeOf({}, ended))({ untilNews: true }))).toEqual(['IN_PROGRESS 0'])
    const silent = await collect(open(storeOf({}))({ maxMs: 40_000 }))
    expect(silent).toEqual(['IN_PROGRESS 0', null, null])
  })

  it('ends when the reader has gone', async () => {
    const gone = new AbortController()
    const store = storeOf({})
    const reading = collect(open(store)({ signal: gone.signal }))
    await vi.advanceTimersByTimeAsync(3_000)
    gone.abort()
    expect(await reading).toEqual(['IN_PROGRESS 0'])
    const { count } = store.reads
    await vi.advanceTimersByTimeAsync(10_000)
    expect(store.reads.count).toBe(count)
  })
})
