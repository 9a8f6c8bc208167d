import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { SentEvent } from '../../../clients/typescript/src/runs/sse.ts'
import { followEvents } from '../../../console/api/follow-events.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

async function* streamOf(...events: SentEvent[]) {
  yield* events
}

const step = (id: string): SentEvent => ({ event: 'step', data: `{"number":${id}}`, id })
const result = (data: string): SentEvent => ({ event: 'tool', data, id: undefined })

describe('followEvents', () => {
  it('asks less and less often although each stream begins with the results of the last step', async () => {
    const opened: string[] = []
    const controller = new AbortController()
    const streams = [[step('1'), result('a')], [result('a')], [result('a'), result('b')]]
    const following = followEvents(
      {
        open: async (lastEvent) => {
          opened.push(lastEvent)
          return streamOf(...(streams.shift() ?? [result('a'), result('b')]))
        },
        signal: controller.signal,
        onReconnecting: () => undefined,
      },
      () => 'news',
    )
    following.catch(() => undefined)
    await vi.advanceTimersByTimeAsync(600_000)
    expect(new Set(opened.slice(1))).toEqual(new Set(['1']))
    expect(opened.length).toBeLessThan(40)
    controller.abort(new Error('left'))
    await expect(following).rejects.toThrow('left')
  })

  it('asks soon again after something new', async () => {
    let count = 0
    const controller = new AbortController()
    const following = followEvents(
      {
        open: async () => streamOf(step(String(++count))),
        signal: controller.signal,
        onReconnecting: () => undefined,
      },
      () => 'news',
    )
    following.catch(() => undefined)
    await vi.advanceTimersByTimeAsync(30_000)
    // The wait before a stream is doubled once it has begun.
    expect(count).toBeGreaterThanOrEqual(15)
    controller.abort(new Error('left'))
    await expect(following).rejects.toThrow('left')
  })
})
