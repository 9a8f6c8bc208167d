import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { TooManyOpenRequests } from '../../lib/core/limit-errors.ts'
import { EVENT_STREAM_MS } from '../../lib/core/limits.ts'
import type { RateStore } from '../../lib/core/ports/access.ts'
import { FREE_MS, WINDOW_MS } from '../../lib/limits/occupied-processes.ts'
import { limitOpenRequests } from '../../lib/limits/open-requests.ts'
import { countingRates } from './counting-rates.ts'

const owner = { organizationId: 'A', tokenId: 't' }
const unknown = { SHARED_CONCURRENCY: 'unknown' }

function setUp(quota?: RateStore['getQuota']) {
  const counting = countingRates(quota)
  const open = (name = 'stream-events', environment: Record<string, string> = unknown) =>
    limitOpenRequests(name, counting.rates, environment)
  return { ...counting, open }
}

describe('limitOpenRequests', () => {
  beforeEach(() => void vi.useFakeTimers({ now: 1_000 * WINDOW_MS }))
  afterEach(() => void vi.useRealTimers())

  it.each([
    [{ ORGANIZATION_CONCURRENCY: '3' }, ['run-agent#0', 'stream-events#0']],
    [{ ORGANIZATION_CONCURRENCY: '3', SHARED_CONCURRENCY: 'on' }, ['all#0', 'all#0']],
  ])('counts the processes of each function, or of all together: %j', async (environment, names) => {
    const { open, countProcess, getQuota } = setUp()
    for (const name of ['run-agent', 'stream-events']) await open(name, environment).hold('stream', owner)
    await vi.advanceTimersByTimeAsync(FREE_MS)
    expect(countProcess.mock.calls.map(([{ name }]) => name)).toEqual(names)
    expect(getQuota).not.toHaveBeenCalled()
  })

  it.each(['stream', 'run'] as const)(
    'ends a stream after a minute, but no run, in a small account: %s',
    async (kind) => {
      const { open } = setUp()
      const environment = { ORGANIZATION_CONCURRENCY: '3', SHARED_CONCURRENCY: 'on' }
      const { full } = await open('run-agent', environment).hold(kind, owner)
      await vi.advanceTimersByTimeAsync(EVENT_STREAM_MS.shared - 1)
      expect(full.aborted).toBe(false)
      await vi.advanceTimersByTimeAsync(1)
      expect(full.aborted).toBe(kind === 'stream')
    },
  )

  it('does not end what has been released', async () => {
    const { open } = setUp(async () => 10)
    const { full, release } = await open().hold('stream', owner)
    await vi.advanceTimersByTimeAsync(2 * FREE_MS)
    release()
    await vi.advanceTimersByTimeAsync(2 * EVENT_STREAM_MS.shared)
    expect(full.aborted).toBe(false)
  })

  describe('without accountConcurrency', () => {
    it('reads nothing for requests that are short', async () => {
      const { open, getQuota } = setUp(async () => 10)
      const requests = open('get-execution')
      for (let request = 0; request < 10; request++) {
        const { release } = await requests.hold('wait', owner)
        await vi.advanceTimersByTimeAsync(FREE_MS - 1)
        release()
      }
      await vi.advanceTimersByTimeAsync(WINDOW_MS)
      expect(getQuota).not.toHaveBeenCalled()
    })

    it('reads the quota once in five minutes, and follows it', async () => {
      let quota: number | null = null
      const { open, getQuota, countProcess } = setUp(async () => quota)
      const requests = open('get-execution')
      const occupy = async () => {
        const { release } = await requests.hold('wait', owner)
        await vi.advanceTimersByTimeAsync(WINDOW_MS)
        release()
      }
      for (let request = 0; request < 5; request++) await occupy()
      expect(getQuota).toHaveBeenCalledOnce()
      quota = 10
      await vi.advanceTimersByTimeAsync(5 * 60_000)
      await occupy()
      await occupy()
      expect(getQuota).toHaveBeenCalledTimes(2)
      expect(countProcess).toHaveBeenCalled()
      quota = 100
      await vi.advanceTimersByTimeAsync(5 * 60_000)
      await occupy()
      countProcess.mockClear()
      await occupy()
      expect(countProcess).not.toHaveBeenCalled()
    })

    it.each([
      [10, 5],
      [99, 49],
      [1, 1],
    ])('gives an organization half of a quota of %i, of all functions together: %i', async (quota, share) => {
      const { open } = setUp(async () => quota)
      const processes = Array.from({ length: quota + 1 }, (_, i) =>
        open(i % 2 ? 'run-agent' : 'stream-events'),
      )
      const held = await Promise.all(
        processes.map((requests, i) => requests.hold('wait', { ...owner, tokenId: `t${i}` })),
      )
      await vi.advanceTimersByTimeAsync(2 * WINDOW_MS)
      expect(held.filter(({ full }) => !full.aborted)).toHaveLength(share)
      const refused = processes[held.findIndex(({ full }) => full.aborted)]
      await expect(refused?.hold('wait', owner)).rejects.toThrow(TooManyOpenRequests)
      for (const { release } of held) release()
    })

    it('ends a stream a minute after the quota is known', async () => {
      const { open } = setUp(async () => 10)
      const { full, release } = await open().hold('stream', owner)
      await vi.advanceTimersByTimeAsync(EVENT_STREAM_MS.shared - 1)
      expect(full.aborted).toBe(false)
      await vi.advanceTimersByTimeAsync(FREE_MS + 1)
      expect(full.aborted).toBe(true)
      release()
    })

    it.each([
      ['is unknown', async () => null],
      ['is large', async () => 100],
      ['cannot be read', () => Promise.reject(new Error('Throttled.'))],
      ['is never answered', () => new Promise<number>(() => {})],
    ])('limits nothing while the quota %s', async (_, getQuota) => {
      const { open, countProcess } = setUp(getQuota)
      const processes = Array.from({ length: 20 }, () => open())
      const held = await Promise.all(processes.map((requests) => requests.hold('stream', owner)))
      await vi.advanceTimersByTimeAsync(5 * EVENT_STREAM_MS.shared)
      expect(held.some(({ full }) => full.aborted)).toBe(false)
      expect(countProcess).not.toHaveBeenCalled()
      for (const { release } of held) release()
    })

    it('does not count a request that ends while the quota is read', async () => {
      const answer = Promise.withResolvers<number>()
      const { open, countProcess } = setUp(() => answer.promise)
      const { full, release } = await open().hold('stream', owner)
      await vi.advanceTimersByTimeAsync(FREE_MS)
      release()
      answer.resolve(10)
      await vi.advanceTimersByTimeAsync(2 * EVENT_STREAM_MS.shared)
      expect(countProcess).not.toHaveBeenCalled()
      expect(full.aborted).toBe(false)
    })

    it('keeps a small quota while it cannot be read', async () => {
      let reads = 0
      const { open, countProcess } = setUp(async () => {
        if (reads++ > 0) throw new Error('Throttled.')
        return 10
      })
      const requests = open()
      const first = await requests.hold('wait', owner)
      await vi.advanceTimersByTimeAsync(6 * 60_000)
      first.release()
      countProcess.mockClear()
      const second = await requests.hold('wait', owner)
      await vi.advanceTimersByTimeAsync(2 * WINDOW_MS)
      second.release()
      expect(reads).toBe(2)
      expect(countProcess).toHaveBeenCalled()
    })
  })
})
