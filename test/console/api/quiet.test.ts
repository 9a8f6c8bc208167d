import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ApiError } from '../../../console/api/api-error.ts'
import type { Attention } from '../../../console/api/attention.ts'
import { createQuiet, type Quiet } from '../../../console/api/quiet.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

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
  const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)
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
