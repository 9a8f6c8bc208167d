import { describe, expect, it } from 'vitest'
import { ApiError } from '../../../console/api/api-error.ts'
import { type Redelivery, redeliverAll } from '../../../console/webhooks/redeliver-dialog.tsx'

const problem = (status: number, retryAfter: number | null = null) =>
  new ApiError('It cannot be.', { status, code: `Http${status}`, retryAfter })

type Answer = { status: string; error: string | null } | ApiError
const ACCEPTED = { status: 'DELIVERED', error: null }

/** @param answers of each event, one for each attempt */
function start(answers: Record<string, Answer[]>, controller = new AbortController()) {
  const asked: string[] = []
  const slept: number[] = []
  const seen: Redelivery[] = []
  const result = redeliverAll(Object.keys(answers), {
    async redeliver(id) {
      asked.push(id)
      const answer = answers[id]?.shift()
      if (!answer) throw new Error(`No answer is left for ${id}.`)
      if (answer instanceof ApiError) throw answer
      return answer
    },
    sleep: async (ms) => slept.push(ms),
    onProgress: (progress) => seen.push(progress),
    signal: controller.signal,
  })
  return { result, asked, slept, seen, controller }
}

describe('redeliverAll', () => {
  it('sends one after the other, and counts what was accepted now, not before', async () => {
    const { result, asked, seen } = start({
      a: [ACCEPTED],
      b: [{ status: 'FAILED', error: 'The receiver answered 500.' }],
      c: [problem(404)],
      d: [{ status: 'DELIVERED', error: 'The receiver answered 503.' }],
      e: [ACCEPTED],
    })
    expect(await result).toEqual({
      ...{ done: 5, accepted: 2, gone: 1 },
      lastError: 'The receiver answered 503.',
    })
    expect(asked).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(seen.map(({ done }) => done)).toEqual([1, 2, 3, 4, 5])
  })

  it('waits as long as the service says, then sends the same event again', async () => {
    const { result, asked, slept } = start({ a: [problem(429, 7), problem(503), ACCEPTED], b: [ACCEPTED] })
    expect(await result).toMatchObject({ done: 2, accepted: 2 })
    expect(asked).toEqual(['a', 'a', 'a', 'b'])
    expect(slept).toEqual([7_000, 2_000])
  })

  it('ends with an error of the service, and when it is not available for long', async () => {
    const { result, asked } = start({ a: [ACCEPTED], b: [problem(403)], c: [ACCEPTED] })
    await expect(result).rejects.toMatchObject({ status: 403 })
    expect(asked).toEqual(['a', 'b'])
    const unavailable = start({ a: Array.from({ length: 9 }, () => problem(503)) })
    await expect(unavailable.result).rejects.toMatchObject({ status: 503 })
  })

  it('stops after the attempt that is under way', async () => {
    const controller = new AbortController()
    const { result, asked } = start({ a: [ACCEPTED], b: [ACCEPTED] }, controller)
    controller.abort()
    expect(await result).toMatchObject({ done: 1 })
    expect(asked).toEqual(['a'])
  })
})
