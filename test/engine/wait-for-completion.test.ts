import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Execution, ExecutionStatus } from '../../lib/core/execution.ts'
import { emitCompleted, waitForCompletion } from '../../lib/engine/wait-for-completion.ts'
import { anExecution } from '../support/engine/executions.ts'

// Only the timers that it uses; they stand still until a test advances them.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

type Params = Parameters<typeof waitForCompletion>[0]

/** An execution whose status a test sets, and the number of reads. */
function observed(execution: Execution = anExecution()) {
  const seen = {
    status: 'IN_PROGRESS' as ExecutionStatus | null,
    suspendedAt: null as number | null,
    reads: 0,
  }
  const executions = {
    getState: async () => {
      seen.reads++
      return seen.status && { status: seen.status, suspendedAt: seen.suspendedAt }
    },
    get: async () => {
      seen.reads++
      return seen.status && { ...execution, status: seen.status }
    },
  }
  const wait = (timeoutMs: number, options: Pick<Params, 'signal' | 'until'> = {}) =>
    waitForCompletion({ executions, ...execution, timeoutMs, ...options })
  /** Waits, and has read once. */
  const begin = async (...given: Parameters<typeof wait>) => {
    const waiting = wait(...given)
    await settle()
    expect(seen.reads).toBe(1)
    return { waiting }
  }
  return { execution, seen, wait, begin }
}

/** Lets everything happen that needs no timer. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

describe('waitForCompletion', () => {
  it('reads the status once without a timeout', async () => {
    const { begin } = observed()
    expect(await (await begin(0)).waiting).toBe('IN_PROGRESS')
  })

  it('rejects with the reason of its signal, also while it waits', async () => {
    const { seen, begin } = observed()
    const controller = new AbortController()
    const { waiting } = await begin(20_000, { signal: controller.signal })
    controller.abort(new Error('given up'))
    await expect(waiting).rejects.toThrow('given up')
    expect(seen.reads).toBe(1)
  })

  it('returns on a completion event without waiting for the next poll', async () => {
    const { execution, seen, begin } = observed()
    const { waiting } = await begin(20_000)
    seen.status = 'SUCCESS'
    emitCompleted(execution.id)
    expect(await waiting).toMatchObject({ status: 'SUCCESS' })
    expect(seen.reads).toBe(2)
  })

  it('does not miss an event during a read', async () => {
    const { execution, seen, wait } = observed()
    const waiting = wait(20_000)
    // The read is in flight, and will find the execution in progress.
    emitCompleted(execution.id)
    seen.status = 'SUCCESS'
    expect(await waiting).toMatchObject({ status: 'SUCCESS' })
  })

  it('reads again and continues waiting if the execution is not final', async () => {
    const { execution, seen, begin } = observed()
    const { waiting } = await begin(1_000)
    emitCompleted(execution.id)
    emitCompleted(anExecution().id)
    await settle()
    await settle()
    expect(seen.reads).toBe(2)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await waiting).toBe('IN_PROGRESS')
  })

  it.each([
    ['nextSuspension', 1],
    ['nextSuspension', null],
    ['suspension', null],
  ] as const)(
    'until %s, found at %j, goes on when it is resumed, and returns when it waits again',
    async (until, first) => {
      const { seen, wait } = observed()
      seen.suspendedAt = first
      const returned = vi.fn<() => void>()
      const waiting = wait(20_000, { until }).finally(returned)
      await settle()
      seen.suspendedAt = null
      await vi.advanceTimersByTimeAsync(3_000)
      expect(returned).not.toHaveBeenCalled()
      seen.suspendedAt = 2
      await vi.advanceTimersByTimeAsync(1_500)
      expect(await waiting).toBe('IN_PROGRESS')
    },
  )

  it('finds a completion without an event', async () => {
    const { seen, begin } = observed()
    const { waiting } = await begin(20_000)
    seen.status = 'ERROR'
    await vi.advanceTimersByTimeAsync(100)
    expect(await waiting).toMatchObject({ status: 'ERROR' })
  })

  it('reads at growing intervals', async () => {
    const { seen, begin } = observed()
    const { waiting } = await begin(25_000)
    const gaps: number[] = []
    for (let now = 0, last = 0, { reads } = seen; now < 20_000; now += 50) {
      await vi.advanceTimersByTimeAsync(50)
      if (seen.reads > reads) {
        gaps.push(now + 50 - last)
        last = now + 50
        reads = seen.reads
      }
    }
    expect(gaps.length).toBeLessThanOrEqual(19)
    expect(gaps[0]).toBe(100)
    expect(gaps.at(-1)).toBeGreaterThan(1_000)
    for (const [index, gap] of gaps.slice(1).entries())
      expect(gap).toBeGreaterThanOrEqual((gaps[index] ?? 0) - 50)
    await vi.advanceTimersByTimeAsync(5_000)
    await waiting
  })

  it('returns at its timeout, and null for an execution that no longer exists', async () => {
    const { seen, wait } = observed()
    const waiting = wait(5_000)
    await vi.advanceTimersByTimeAsync(5_000)
    expect(await waiting).toBe('IN_PROGRESS')
    expect(seen.reads).toBeLessThan(15)
    seen.status = null
    expect(await wait(5_000)).toBeNull()
  })
})
