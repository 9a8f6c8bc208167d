import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createPoller, type Poller } from '../../../console/api/poller.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

describe('a poller', () => {
  let polls: number[]
  let read: () => unknown
  let poller: Poller
  const results: boolean[] = []
  beforeEach(() => {
    polls = []
    read = () => 'the same'
    results.length = 0
    const startedAt = Date.now()
    const poll = async () => {
      polls.push((Date.now() - startedAt) / SECOND)
      return read()
    }
    poller = createPoller({ poll, onResult: (isLive) => results.push(isLive) })
    poller.start()
  })
  const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

  it('asks less and less often while nothing changes, and at least every 30 s', async () => {
    await pass(5 * MINUTE)
    expect(polls.slice(0, 6)).toEqual([3, 6, 12, 24, 48, 78])
    expect(polls.length).toBeLessThanOrEqual(14)
    poller.pause()
  })

  it('asks every 2 minutes after 10 without news, until somebody uses the page or something changes', async () => {
    await pass(15 * MINUTE)
    const before = polls.length
    await pass(60 * MINUTE)
    expect(polls.length - before).toBe(30)
    poller.wake()
    await pass(2 * MINUTE)
    const woken = polls.length
    await pass(6 * MINUTE)
    expect(polls.length - woken).toBe(12)
    await pass(30 * MINUTE)
    const quiet = polls.length
    let changes = 0
    read = () => ++changes
    await pass(3 * MINUTE)
    expect(polls.length - quiet).toBeGreaterThan(15)
  })

  it('asks every 3 s while something changes', async () => {
    let changes = 0
    read = () => ++changes
    await pass(MINUTE)
    expect(polls).toHaveLength(20)
    read = () => 'the same'
    await pass(5 * MINUTE)
    read = () => ++changes
    await pass(MINUTE)
    expect(polls.length).toBeGreaterThan(40)
  })

  it('asks at once when someone comes back, and soon again', async () => {
    await pass(5 * MINUTE)
    await pass(15 * SECOND)
    const before = polls.length
    poller.wake()
    await pass(1)
    expect(polls).toHaveLength(before + 1)
    // What is typed does not lead to more requests.
    for (let key = 0; key < 100; key++) {
      poller.wake()
      await pass(30)
    }
    expect(polls.length).toBeLessThanOrEqual(before + 3)
  })

  it('never asks twice at the same time', async () => {
    let answer: (value: unknown) => void = () => undefined
    read = () => new Promise((resolve) => (answer = resolve))
    await pass(3 * SECOND)
    for (let times = 0; times < 10; times++) {
      poller.pause()
      poller.wake()
      await pass(MINUTE)
    }
    expect(polls).toHaveLength(1)
    answer('now')
    await pass(3 * SECOND)
    expect(polls).toHaveLength(2)
  })

  it('asks less and less often while it fails, and tells so', async () => {
    read = () => {
      throw new Error('gone')
    }
    await pass(5 * MINUTE)
    expect(polls.length).toBeLessThanOrEqual(14)
    expect(new Set(results)).toEqual(new Set([false]))
    read = () => 'back'
    await pass(MINUTE)
    expect(results.at(-1)).toBe(true)
  })
})
