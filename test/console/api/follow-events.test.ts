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

/** Follows what `open` returns, for so long. */
async function follow(open: (lastEvent: string) => SentEvent[], ms: number): Promise<void> {
  const controller = new AbortController()
  const { signal } = controller
  const following = followEvents(
    { open: async (lastEvent) => streamOf(...open(lastEvent)), signal, onReconnecting: () => undefined },
    () => 'news',
  )
  following.catch(() => undefined)
  await vi.advanceTimersByTimeAsync(ms)
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
