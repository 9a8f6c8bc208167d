import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createDecisions, decidedKeys, UNDO_MS } from '../../../console/approvals/decisions.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const approval = (key: string) => ({ key, title: `May ${key}?`, decision: 'approve' as const })

function open() {
  const sent: [key: string, isLast: boolean][] = []
  const decisions = createDecisions()
  const decide = (key: string, counts = async () => true) =>
    decisions.decide(approval(key), (isLast) => {
      sent.push([key, isLast])
      return counts()
    })
  const states = () => decisions.all.get().map(({ key, state }) => [key, state])
  return { ...decisions, sent, decide, states }
}

describe('a decision', () => {
  it('is sent once, when it can no longer be taken back, however often it is made', async () => {
    const { decide, sent, states } = open()
    expect([decide('a'), decide('a'), decide('a')]).toEqual([true, false, false])
    await vi.advanceTimersByTimeAsync(UNDO_MS - 1)
    expect([sent, states()]).toEqual([[], [['a', 'waits']]])
    await vi.advanceTimersByTimeAsync(1)
    expect([sent, states()]).toEqual([[['a', false]], [['a', 'sent']]])
    expect(decide('a')).toBe(false)
    await vi.advanceTimersByTimeAsync(10 * UNDO_MS)
    expect(sent).toHaveLength(1)
  })

  it('is never sent after it was taken back, and can be made again', async () => {
    const { decide, undo, flush, sent, all } = open()
    decide('a')
    expect([undo('a'), undo('a')]).toEqual([true, false])
    await flush(true)
    await vi.advanceTimersByTimeAsync(UNDO_MS)
    expect([sent, all.get()]).toEqual([[], []])
    expect(decide('a')).toBe(true)
  })

  it('cannot be taken back once it is sent', async () => {
    const { decide, undo, states } = open()
    decide('a', () => new Promise(() => undefined))
    await vi.advanceTimersByTimeAsync(UNDO_MS)
    expect([undo('a'), states()]).toEqual([false, [['a', 'sending']]])
  })

  it('is sent at once when the page is left, and not again', async () => {
    const { decide, flush, sent } = open()
    for (const key of ['a', 'b']) decide(key)
    await Promise.all([flush(true), flush(true)])
    await vi.advanceTimersByTimeAsync(UNDO_MS)
    expect(sent).toEqual([
      ['a', true],
      ['b', true],
    ])
  })

  it('of somebody else counts if it was earlier', async () => {
    const { decide, flush, states } = open()
    decide('a', async () => false)
    await flush()
    expect(states()).toEqual([['a', 'late']])
  })

  it('that could not be sent is said so, and can be made again', async () => {
    const { decide, flush, all } = open()
    decide('a', () => Promise.reject(new Error('no connection')))
    await flush()
    expect(all.get()).toMatchObject([{ state: 'failed', error: { message: 'no connection' } }])
    expect([...decidedKeys(all.get())]).toEqual([])
    expect(decide('a')).toBe(true)
  })

  it('stays listed until it is sent; of those that were sent, the last ones do', async () => {
    const { decide, flush, states, clear } = open()
    for (const key of ['a', 'b', 'c', 'd', 'e']) decide(key)
    expect(states()).toHaveLength(5)
    await flush()
    decide('f')
    expect(states().map(([key]) => key)).toEqual(['f', 'e', 'd'])
    clear()
    expect(states()).toEqual([['f', 'waits']])
  })
})
