import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Batch, type CountedBatch, firstLane } from '../../../lib/core/batch.ts'
import { Unavailable } from '../../../lib/core/errors.ts'
import { openWatch } from '../../../lib/engine/batches/watch.ts'

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
  const lanes = vi.fn(async ({ batch }: { batch: Batch }) => [firstLane(0, batch)])
  return {
    reads,
    batches: {
      async get() {
        const state = states[Math.min(reads.count++, states.length - 1)]
        if (state instanceof Error) throw state
        return state ? ({ ...key, status: 'IN_PROGRESS', lanes: 1, totals: null, ...state } as Batch) : null
      },
      listLanes: lanes,
    },
  }
}

const open = (store: ReturnType<typeof storeOf>, known?: string) => {
  const watch = openWatch(store)
  return (options: { untilNews?: boolean; maxMs?: number; signal?: AbortSignal } = {}) =>
    watch({
      ...key,
      known,
      maxMs: 60_000,
      untilNews: false,
      signal: new AbortController().signal,
      ...options,
    })
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

describe('a watch of a batch', () => {
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
