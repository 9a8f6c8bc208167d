import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { RateStore } from '../../lib/core/ports/access.ts'
import { WINDOW_MS } from '../../lib/limits/occupied-processes.ts'
import { QUEUE_SHARES, shareOfQueue } from '../../lib/limits/queue-share.ts'
import { countingRates } from './counting-rates.ts'

const unknown = { SHARED_CONCURRENCY: 'unknown' }

/** An account with this quota, whose processes count themselves in the same table. */
function anAccount(getQuota: RateStore['getQuota']) {
  const { rates, countProcess } = countingRates(getQuota)
  const newProcess = (
    environment: Record<string, string> = unknown,
    name: keyof typeof QUEUE_SHARES = 'runners',
  ) => {
    const inShare = shareOfQueue({ rates, name, environment })
    /** Works until `end` is called. */
    return async () => {
      const { promise, resolve: end } = Promise.withResolvers<'worked'>()
      let isWorking = false
      const result = inShare<'worked' | number>(
        () => {
          isWorking = true
          return promise
        },
        async (delayMs) => delayMs,
      )
      await vi.advanceTimersByTimeAsync(0)
      return { end: () => end('worked'), result, isWorking: () => isWorking }
    }
  }
  return { newProcess, countProcess }
}

describe('shareOfQueue', () => {
  beforeEach(() => void vi.useFakeTimers({ now: 1_000 * WINDOW_MS }))
  afterEach(() => void vi.useRealTimers())

  it.each([
    [10, 'runners', 2],
    [10, 'deliveries', 1],
    [99, 'runners', 19],
    [99, 'deliveries', 9],
    [1, 'runners', 1],
  ] as const)(
    'with a quota of %i, lets %s work in %i processes, and returns what others get',
    async (quota, name, max) => {
      const { newProcess } = anAccount(async () => quota)
      const invocations = await Promise.all(
        Array.from({ length: max + 3 }, () => newProcess(unknown, name)()),
      )
      expect(invocations.filter(({ isWorking }) => isWorking())).toHaveLength(max)
      const returned = invocations.filter(({ isWorking }) => !isWorking())
      // One after the other, so that a backlog does not come back at once.
      expect(await Promise.all(returned.map(({ result }) => result))).toEqual([1_000, 2_000, 3_000])
    },
  )

  it('keeps the process of a long run, whatever comes in the windows after it', async () => {
    const { newProcess } = anAccount(async () => 10)
    const long = await Promise.all([1, 2].map(() => newProcess()()))
    for (let window = 0; window < 5; window++) {
      await vi.advanceTimersByTimeAsync(WINDOW_MS)
      expect((await newProcess()()).isWorking()).toBe(false)
    }
    for (const { end } of long) end()
    expect(await Promise.all(long.map(({ result }) => result))).toEqual(Array(2).fill('worked'))
    await vi.advanceTimersByTimeAsync(2 * WINDOW_MS)
    expect((await newProcess()()).isWorking()).toBe(true)
  })

  it('counts a process once for all that it does in a window', async () => {
    const { newProcess, countProcess } = anAccount(async () => 10)
    const invoke = newProcess()
    for (let run = 0; run < 10; run++) {
      const { end, result } = await invoke()
      end()
      expect(await result).toBe('worked')
    }
    expect(countProcess).toHaveBeenCalledTimes(1)
    await vi.advanceTimersByTimeAsync(10 * WINDOW_MS)
    expect(countProcess).toHaveBeenCalledTimes(1)
  })

  it.each<[string, RateStore['getQuota'], Record<string, string>]>([
    ['is unknown', async () => null, unknown],
    ['is not small', async () => 100, unknown],
    ['cannot be read', () => Promise.reject(new Error('Throttled.')), unknown],
    ['is a setting, which limits the mapping', async () => 10, {}],
    ['is none of instances', async () => 10, { ...unknown, SHARED_WORKER: 'on' }],
  ])('limits nothing if the quota %s', async (_, getQuota, environment) => {
    const { newProcess, countProcess } = anAccount(getQuota)
    const invocations = await Promise.all(Array.from({ length: 20 }, () => newProcess(environment)()))
    expect(invocations.every(({ isWorking }) => isWorking())).toBe(true)
    expect(countProcess).not.toHaveBeenCalled()
  })

  it('works if it cannot be counted', async () => {
    const { newProcess, countProcess } = anAccount(async () => 10)
    countProcess.mockRejectedValue(new Error('Throttled.'))
    expect((await newProcess()()).isWorking()).toBe(true)
  })

  it('leaves a fifth of the quota beside an organization with its half', () => {
    expect(QUEUE_SHARES.runners + QUEUE_SHARES.deliveries + 1 / 2).toBeLessThanOrEqual(0.8)
  })
})
