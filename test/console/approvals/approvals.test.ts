import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  describeOutcome,
  findPastApproval,
  keyOf,
  mergeOpen,
  nextKey,
  parseKey,
  searchApprovals,
  timeLeft,
} from '../../../console/approvals/approvals.ts'
import { createDecisions, decidedKeys, UNDO_MS } from '../../../console/approvals/decisions.ts'
import { anApproval, aStepRecord } from '../../browser/stub/records.ts'

it('the key of an approval names its run too: waits of a code agent have the same ID in every run', () => {
  const [first, second] = [anApproval(1, { id: 'x' }), anApproval(2, { id: 'x' })]
  expect(keyOf(first)).not.toBe(keyOf(second))
  expect(parseKey(keyOf(first))).toEqual({ executionId: first.executionId, id: 'x' })
  expect(['x.', '.x', 'a.b.c'].map(parseKey)).toEqual([null, null, null])
})

it('searchApprovals finds a part of the title or the name, in any case', () => {
  const all = [anApproval(1, { title: 'Refund 5?' }), anApproval(2, { title: 'Erase?', name: 'eraseUser' })]
  expect(searchApprovals(all, ' rEFund ')).toEqual([all[0]])
  expect(searchApprovals(all, 'user')).toEqual([all[1]])
  expect(searchApprovals(all, ' ')).toBe(all)
})

it.each([
  [['a', 'b', 'c'], 'b', 'c'],
  [['a', 'b'], 'b', 'a'],
  [['a'], 'a', null],
  [[], 'a', null],
  [['a', 'b'], 'x', 'a'],
])('the next approval of %j after %j is %j', (keys, decided, next) => {
  expect(nextKey(keys, decided)).toBe(next)
})

it('mergeOpen drops what is decided and tells of more; without changes it keeps the list itself', () => {
  const [one, two, three] = [anApproval(1), anApproval(2), anApproval(3)]
  const listed = [one, two]
  expect(mergeOpen(listed, [two, three])).toEqual({ remaining: [two], hasNew: true })
  const { remaining, hasNew } = mergeOpen(listed, [two, one])
  expect([remaining === listed, hasNew]).toEqual([true, false])
})

describe('findPastApproval', () => {
  const decided = { by: 'Ann', decidedAt: '2026-11-20T10:00:00Z', note: 'Fine.', input: { usd: 1 } }

  it('finds the decision on the call of a tool', () => {
    const approval = { id: 'x', until: '2026-11-21T00:00:00Z', decision: 'approve' as const, ...decided }
    const steps = [aStepRecord(1, { toolCalls: [{ id: 'c', name: 'refund', input: { usd: 2 }, approval }] })]
    expect(findPastApproval(steps, 'x')).toEqual({
      title: 'May the agent call refund?',
      asked: { usd: 2 },
      outcome: { decision: 'approve', ...decided },
    })
  })

  it('finds the decision on the wait of a code agent', () => {
    const wait = { kind: 'approval', id: 'x', title: 'Refund?', data: 7 }
    const result = { decision: 'timeout', by: null, decidedAt: 't', note: null, input: null }
    expect(findPastApproval([aStepRecord(1, { wait, result })], 'x')).toEqual({
      ...{ title: 'Refund?', asked: 7, outcome: result },
    })
  })

  it('has no outcome for one that is open, and is null for one that does not exist', () => {
    const wait = { kind: 'approval', id: 'x', title: 'Refund?', data: null }
    expect(findPastApproval([aStepRecord(1, { wait })], 'x')?.outcome).toBeNull()
    expect(findPastApproval([aStepRecord(1, { wait })], 'y')).toBeNull()
  })
})

const outcome = { by: 'Ann', decidedAt: '', note: null, input: null }
it.each([
  [{ ...outcome, decision: 'approve' as const }, 'Approved by Ann'],
  [{ ...outcome, decision: 'reject' as const, by: null }, 'Rejected'],
  [{ ...outcome, decision: 'timeout' as const, by: null }, 'Nobody decided in time'],
])('describeOutcome(%j) is %j', (given, text) => {
  expect(describeOutcome(given)).toBe(text)
})

it('timeLeft is never negative', () => {
  expect(timeLeft('2026-11-20T09:00:01Z', Date.parse('2026-11-20T09:00:00Z'))).toBe(1_000)
  expect(timeLeft('2026-11-20T09:00:01Z', Date.parse('2026-11-20T10:00:00Z'))).toBe(0)
})

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
