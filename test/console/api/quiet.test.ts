import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { SentEvent } from '../../../clients/typescript/src/runs/sse.ts'
import { ApiError } from '../../../console/api/api-error.ts'
import type { Attention } from '../../../console/api/attention.ts'
import { followEvents } from '../../../console/api/follow-events.ts'
import { createPoller, type Poller } from '../../../console/api/poller.ts'
import { createQuiet, type Quiet } from '../../../console/api/quiet.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

describe('a stream of events', () => {
  let attention: Attention
  let peeks: number
  let read: () => unknown
  let quiet: Quiet
  let isWatched: boolean
  const caller = new AbortController()
  const create = (isHidden = false) => {
    peeks = 0
    read = () => 'the same'
    isWatched = true
    quiet = createQuiet({
      peek: async () => {
        peeks += 1
        return read()
      },
      watch: (given) => {
        attention = given
        return () => {
          isWatched = false
        }
      },
      isHidden: () => isHidden,
    })
  }
  beforeEach(() => create())
  const next = () => quiet.next(caller.signal)
  /** Whether a stream should be open now. */
  const isWorth = async () => {
    const asked = { isWorth: false }
    void next().then(() => {
      asked.isWorth = true
    })
    await pass(0)
    return asked.isWorth
  }

  it('stays open while something arrives now and then', async () => {
    const closed = await next()
    for (let minutes = 0; minutes < 60; minutes += 4) {
      await pass(4 * MINUTE)
      quiet.restart()
    }
    expect([closed.aborted, peeks]).toEqual([false, 0])
  })

  it('is closed after 5 minutes without news and use, and looks every 2 minutes until somebody comes back', async () => {
    const closed = await next()
    await pass(4 * MINUTE)
    attention.onUse()
    await pass(4 * MINUTE)
    expect(closed.aborted).toBe(false)
    await pass(2 * MINUTE)
    expect(closed.aborted).toBe(true)
    expect(await isWorth()).toBe(false)
    await pass(60 * MINUTE)
    const before = peeks
    await pass(60 * MINUTE)
    expect(peeks - before).toBe(30)
    attention.onUse()
    expect((await next()).aborted).toBe(false)
  })

  it('is opened again when a peek reads something else', async () => {
    await next()
    await pass(10 * MINUTE)
    read = () => 'something else'
    const opened = next()
    await pass(2 * MINUTE)
    expect((await opened).aborted).toBe(false)
    const before = peeks
    await pass(2 * MINUTE)
    expect(peeks).toBe(before)
  })

  it('goes on if something arrives while it looks', async () => {
    const closed = await next()
    let answer: (value: unknown) => void = () => undefined
    read = () => new Promise((resolve) => (answer = resolve))
    await pass(5 * MINUTE)
    quiet.restart()
    answer('the same')
    await pass(MINUTE)
    expect([closed.aborted, peeks]).toEqual([false, 1])
  })

  it('goes on if it cannot look', async () => {
    const closed = await next()
    read = () => Promise.reject(new Error('no connection'))
    await pass(30 * MINUTE)
    expect(closed.aborted).toBe(false)
  })

  it('is closed while the page is hidden, also from the beginning, and nothing is asked', async () => {
    const closed = await next()
    attention.onHide()
    expect(closed.aborted).toBe(true)
    await pass(60 * MINUTE)
    expect([peeks, await isWorth()]).toEqual([0, false])
    attention.onUse()
    expect(await isWorth()).toBe(true)
    create(true)
    expect(await isWorth()).toBe(false)
    attention.onUse()
    expect(await isWorth()).toBe(true)
  })

  it('is opened when a page that waits for it is hidden and shown again', async () => {
    await next()
    await pass(10 * MINUTE)
    const opened = next()
    attention.onHide()
    await pass(MINUTE)
    attention.onUse()
    expect((await opened).aborted).toBe(false)
  })

  it('says that its subject is gone', async () => {
    await next()
    await pass(10 * MINUTE)
    read = () => Promise.reject(new ApiError('Gone.', { status: 404, code: 'ExecutionNotFound' }))
    await pass(2 * MINUTE)
    expect(await isWorth()).toBe(true)
  })

  it('ends with its caller', async () => {
    const own = new AbortController()
    await next()
    await pass(10 * MINUTE)
    const opened = quiet.next(own.signal)
    own.abort(new Error('left'))
    await expect(opened).rejects.toThrow('left')
    const before = peeks
    quiet.stop()
    await pass(60 * MINUTE)
    expect([peeks, isWatched]).toEqual([before, false])
  })
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
    // Typing sends no further requests.
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

async function* streamOf(...events: SentEvent[]) {
  yield* events
}

const step = (id: string): SentEvent => ({ event: 'step', data: `{"number":${id}}`, id })
const result = (data: string): SentEvent => ({ event: 'tool', data, id: undefined })

/** Follows what `open` returns, for so long. */
async function follow(open: (lastEvent: string) => SentEvent[], ms: number): Promise<void> {
  const controller = new AbortController()
  const { signal } = controller
  const following = followEvents(
    { open: async (lastEvent) => streamOf(...open(lastEvent)), signal, onReconnecting: () => undefined },
    () => 'news',
  )
  following.catch(() => undefined)
  await pass(ms)
  controller.abort(new Error('left'))
  await expect(following).rejects.toThrow('left')
}

describe('followEvents', () => {
  it('asks less and less often although each stream begins with the results of the last step', async () => {
    const opened: string[] = []
    const streams = [[step('1'), result('a')], [result('a')]]
    await follow((lastEvent) => {
      opened.push(lastEvent)
      return streams.shift() ?? [result('a'), result('b')]
    }, 600_000)
    expect(new Set(opened.slice(1))).toEqual(new Set(['1']))
    expect(opened.length).toBeLessThan(40)
  })

  it('asks soon again after something new', async () => {
    let count = 0
    await follow(() => [step(String(++count))], 30_000)
    // The wait before a stream is doubled once it has begun.
    expect(count).toBeGreaterThanOrEqual(15)
  })
})
