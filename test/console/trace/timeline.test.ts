import { describe, expect, it } from 'vitest'
import { hasWaits, rowsOf, toAxis, WHOLE_RUN } from '../../../console/trace/timeline.ts'
import { type Trace, type TraceItem, toTrace, visibleItems } from '../../../console/trace/trace.ts'
import { aStepRecord } from '../../browser/stub/records.ts'

const START = Date.parse('2026-11-22T12:00:00.000Z')
const at = (ms: number) => new Date(START + ms).toISOString()

const item = (id: string, kind: TraceItem['kind'], [start, end]: [number, number | null]): TraceItem => ({
  ...{ id, kind, label: id, parentId: '', state: end === null ? 'open' : 'done', attempt: 1 },
  ...{ start: START + start, end: end === null ? null : START + end, children: 0, failedChildren: 0 },
})

const traceOf = (end: number, ...items: TraceItem[]): Trace => ({
  ...{ start: START, end: START + end },
  items: [{ ...item('', 'run', [0, end]), parentId: null }, ...items],
})

/** Where times are on an axis without waits, in milliseconds from its start. */
const withoutWaits = (trace: Trace, ...times: number[]) => {
  const axis = toAxis(trace, { ...WHOLE_RUN, hidesWaits: true }, trace.end)
  return { length: axis.length, at: times.map((time) => axis.at(START + time) - axis.start) }
}

describe('toAxis', () => {
  it('without waits, leaves out the times in which a run only waited', () => {
    const trace = traceOf(
      10_000,
      item('queue', 'queue', [0, 1_000]),
      item('1', 'response', [1_000, 2_000]),
      item('2', 'wait', [2_000, 9_000]),
      item('3', 'response', [9_000, 10_000]),
    )
    expect(withoutWaits(trace, 0, 1_000, 2_000, 5_000, 9_000, 10_000)).toEqual({
      length: 2_000,
      at: [0, 0, 1_000, 1_000, 1_000, 2_000],
    })
  })

  it('keeps the parts of a wait in which something else ran, and counts waits at the same time once', () => {
    const trace = traceOf(
      10_000,
      item('1', 'wait', [0, 8_000]),
      item('2', 'call', [2_000, 4_000]),
      item('3', 'call', [3_000, 5_000]),
      item('4', 'wait', [6_000, 9_000]),
      item('5', 'response', [9_000, 10_000]),
    )
    expect(withoutWaits(trace, 2_000, 5_000, 9_000, 10_000)).toEqual({
      length: 4_000,
      at: [0, 3_000, 3_000, 4_000],
    })
  })

  it.each([
    ['decided', 8_000, { decision: 'approve' }],
    ['open', null, {}],
  ])('leaves out the time until an approval that is %s', (_, end, decision) => {
    const step = aStepRecord(1, { startedAt: at(0), finishedAt: at(1_000) })
    const call = { id: 'c', name: 'c', input: {}, approval: { id: 'a', until: at(9_000), ...decision } }
    const asked = { ...item('1.1', 'call', end === null ? [1_000, null] : [7_000, end]), step, call }
    const trace = traceOf(8_000, item('1', 'response', [0, 1_000]), asked as never)
    expect([hasWaits(trace), withoutWaits(trace).length]).toEqual([true, end === null ? 1_000 : 2_000])
    expect(hasWaits(traceOf(1_000, item('1', 'response', [0, 1_000])))).toBe(false)
  })

  it('grows with a run in progress, but not with its wait', () => {
    const trace = traceOf(2_000, item('1', 'response', [0, 2_000]), item('2', 'wait', [2_000, null]))
    const lengthAt = (hidesWaits: boolean, end: number) =>
      toAxis(trace, { ...WHOLE_RUN, hidesWaits }, START + end).length
    expect([lengthAt(false, 9_000), lengthAt(true, 9_000), lengthAt(true, 20_000)]).toEqual([
      9_000, 2_000, 2_000,
    ])
  })

  it('begins and ends with the item that is zoomed to; with the run if it is gone', () => {
    const trace = traceOf(10_000, item('1', 'response', [2_000, 3_000]), item('2', 'call', [3_000, 3_000]))
    const zoomed = (zoomedId: string) => toAxis(trace, { ...WHOLE_RUN, zoomedId }, trace.end)
    expect(zoomed('1')).toMatchObject({ start: START + 2_000, length: 1_000 })
    expect(zoomed('2').length).toBe(1)
    expect(zoomed('9')).toMatchObject({ start: START, length: 10_000 })
  })
})

describe('rowsOf', () => {
  const calls = [1_500, 200].map((durationMs, index) => ({
    ...{ id: `c${index}`, name: `call ${index}`, input: {}, result: null, durationMs, startedAt: at(500) },
  }))
  const step = aStepRecord(1, { startedAt: at(100), finishedAt: at(500), toolCalls: calls })
  const run = { createdAt: at(0), startedAt: at(100), finishedAt: at(2_000), status: 'SUCCESS' } as const
  const trace = toTrace(run, [step])
  const tree = visibleItems(trace.items, () => false)

  it('is the tree, without waits if they are hidden', () => {
    expect(rowsOf(tree, trace.items, WHOLE_RUN).map(({ id }) => id)).toEqual(['', 'queue', '1'])
    const shown = rowsOf(tree, trace.items, { ...WHOLE_RUN, hidesWaits: true })
    expect(shown.map(({ id }) => id)).toEqual(['', '1'])
  })

  it('has the slowest first, below the run, and also the calls of closed steps', () => {
    const shown = rowsOf(tree, trace.items, { ...WHOLE_RUN, isSlowestFirst: true })
    expect(shown.map(({ id }) => id)).toEqual(['', '1.1', '1', '1.2', 'queue'])
    expect(shown.slice(1).every(({ children }) => children === 0)).toBe(true)
    const open = traceOf(9_000, item('1', 'call', [0, 9_000]), item('2', 'wait', [8_000, null])).items
    expect(rowsOf([], open, { ...WHOLE_RUN, isSlowestFirst: true }).map(({ id }) => id)).toEqual([
      '',
      '2',
      '1',
    ])
  })
})
