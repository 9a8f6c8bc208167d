import { describe, expect, it } from 'vitest'
import { mergeCall, mergeStep, withProgress } from '../../../console/run/follow-run.ts'
import { findTyped, searchTrace } from '../../../console/trace/search.ts'
import { hasWaits, rowsOf, scaleMarks, toAxis, WHOLE_RUN } from '../../../console/trace/timeline.ts'
import {
  firstFailure,
  type Trace,
  type TracedRun,
  type TraceItem,
  toTrace,
  visibleItems,
} from '../../../console/trace/trace.ts'
import { scrollTopFor } from '../../../console/trace/trace-tree.tsx'
import type { StepRecord } from '../../../lib/contract/records/step.ts'
import { anExecutionRecord, aStepRecord } from '../../browser/stub/records.ts'

const START = Date.parse('2026-11-22T12:00:00.000Z')
const at = (ms: number) => new Date(START + ms).toISOString()

const aRun = (overrides: Partial<TracedRun> = {}): TracedRun => ({
  createdAt: at(0),
  startedAt: at(100),
  finishedAt: at(5_000),
  status: 'SUCCESS',
  ...overrides,
})

const OPEN = { status: 'IN_PROGRESS', finishedAt: null } as const

const aStep = (number: number, [from, to]: [number, number], overrides: Partial<StepRecord> = {}) =>
  aStepRecord(number, { startedAt: at(from), finishedAt: at(to), durationMs: to - from, ...overrides })

const aCodeStep = (number: number, times: [number, number], overrides: Partial<StepRecord> = {}) => {
  const { text, toolCalls, usage, costUsd, stopReason, ...step } = aStep(number, times)
  return { ...step, name: `step ${number}`, result: number, ...overrides }
}

const aCall = (id: string, startedAt: number, durationMs: number) => ({
  ...{ id, name: id, input: {}, result: null, startedAt: at(startedAt), durationMs, attempt: 1 },
})

describe('toTrace', () => {
  it('begins with the wait for a worker, and has the calls below their step', () => {
    const step = aStep(1, [200, 600], { toolCalls: [aCall('a', 600, 300), aCall('b', 610, 50)] })
    const { start, end, items } = toTrace(aRun(), [step])
    expect([start, end]).toEqual([START, START + 5_000])
    expect(
      items.map((item) => [item.id, item.parentId, item.start - START, (item.end ?? 0) - START]),
    ).toEqual([
      ['', null, 0, 5_000],
      ['queue', '', 0, 100],
      ['1', '', 200, 600],
      ['1.1', '1', 600, 900],
      ['1.2', '1', 610, 660],
    ])
    expect(items[0]?.children).toBe(2)
    expect(items[2]?.children).toBe(2)
  })

  it('shows a step of a code agent as open between its attempts, and as failed after the last one', () => {
    const { result: _, ...failed } = aCodeStep(1, [300, 310], { attempts: 1, backoffMs: 0 })
    const open = toTrace(aRun(OPEN), [failed]).items.find(({ id }) => id === '1')
    expect(open).toMatchObject({ state: 'open', end: null })
    const ended = toTrace(aRun(), [{ ...failed, error: 'no' }]).items.find(({ id }) => id === '1')
    expect(ended).toMatchObject({ state: 'failed', end: START + 310 })
    const merged = mergeCall([failed], { step: 1, name: 'step 1', result: 7, attempts: 2, backoffMs: 5 })
    expect(merged).toMatchObject([{ number: 1, result: 7, attempts: 2 }])
  })

  it('shows the steps and waits of code agents', () => {
    const wait = aCodeStep(2, [300, 310], { wait: { kind: 'signal' }, name: 'paid' })
    const steps = [aCodeStep(1, [200, 300]), wait, aCodeStep(3, [2_000, 2_100])]
    const [, , first, second, third] = toTrace(aRun(), steps).items
    expect([first?.kind, second?.kind, third?.kind]).toEqual(['code-step', 'wait', 'code-step'])
    // It ends when the run goes on.
    expect(second).toMatchObject({ label: 'paid', start: START + 300, end: START + 2_000 })
  })

  it('shows where another worker resumed the run', () => {
    const call = { ...aCall('a', 2_000, 10), attempt: 2 }
    const steps = [
      aStep(1, [200, 600], { toolCalls: [call] }),
      aStep(2, [2_100, 2_200], { attempt: 2 }),
      aStep(3, [4_000, 4_100], { attempt: 4 }),
    ]
    const { items } = toTrace(aRun(), steps)
    expect(items.map(({ id }) => id)).toEqual(['', 'queue', '1', '1.1', 'attempt-2', '2', 'attempt-4', '3'])
    expect(items.find(({ id }) => id === 'attempt-4')).toMatchObject({ start: START + 4_000, attempt: 4 })
  })

  it('has open items for what is in progress, and shows the whole run if it has no steps', () => {
    const open = aRun(OPEN)
    const pending = { id: 'a', name: 'a', input: {} }
    const calling = toTrace(open, [aStep(1, [200, 600], { toolCalls: [pending] })]).items
    expect(calling.at(-1)).toMatchObject({ id: '1.1', label: 'a', end: null, state: 'open' })
    expect(toTrace(open, [aStep(1, [200, 600])]).items.at(-1)).toMatchObject({
      ...{ kind: 'work', start: START + 600, end: null },
    })
    expect(toTrace({ ...open, startedAt: null }, []).items).toMatchObject([
      { kind: 'run', end: null },
      { kind: 'queue', end: null },
    ])
    const { kind, start, end } = toTrace(aRun(), []).items.at(-1) ?? {}
    expect([kind, start, end]).toEqual(['work', START + 100, START + 5_000])
  })

  it('shows what a suspended run waits for, once', () => {
    const since = at(700)
    const limit = { kind: 'limit' as const, name: 'acme', since, until: null }
    const waits = toTrace(aRun({ ...OPEN, waitingFor: [limit] }), []).items
    expect(waits.map(({ id }) => id)).toEqual(['', 'queue', 'waiting-1'])
    const { result, ...step } = aCodeStep(1, [600, 610], { wait: { kind: 'sleep' } })
    const sleep = { kind: 'sleep' as const, name: 'step 1', since, until: at(9_000), step: 1 }
    const asStep = toTrace(aRun({ ...OPEN, waitingFor: [sleep] }), [step]).items
    expect(asStep.map(({ id, end }) => [id, end === null])).toEqual([
      ['', true],
      ['queue', false],
      ['1', true],
    ])
  })

  it('ends with what ended the run', () => {
    const error = { code: 'AgentFailed', message: 'The address book is locked.' }
    const failed = toTrace(aRun({ status: 'ERROR', error }), [aCodeStep(1, [200, 600])]).items
    expect(failed.at(-1)).toMatchObject({
      ...{ id: 'error', label: 'AgentFailed', state: 'failed', start: START + 600, end: START + 5_000 },
    })
    expect(failed[0]?.state).toBe('failed')
    const cancelled = toTrace(aRun({ status: 'ERROR', error: { ...error, code: 'Cancelled' } }), []).items
    expect(cancelled.map(({ state }) => state)).toEqual(['cancelled', 'done', 'cancelled'])
    expect(firstFailure(cancelled)).toBeUndefined()
  })

  it('has each ID once, for any number of steps', () => {
    const steps = Array.from({ length: 500 }, (_, index) =>
      aStep(index + 1, [index * 10, index * 10 + 5], { toolCalls: [aCall('a', index * 10, 3)] }),
    )
    const { items } = toTrace(aRun(), steps)
    expect(new Set(items.map(({ id }) => id)).size).toBe(items.length)
    expect(visibleItems(items, () => false)).toHaveLength(502)
    expect(visibleItems(items, (id) => id === '7').map(({ id }) => id)).toContain('7.1')
  })
})

it('firstFailure is the first call that failed, else what ended the run', () => {
  const failing = { ...aCall('b', 700, 5), result: undefined, error: 'not found' }
  const steps = [aStep(1, [200, 600], { toolCalls: [aCall('a', 600, 1), failing] })]
  const run = aRun({ status: 'ERROR', error: { code: 'ModelFailed', message: 'x' } })
  expect(firstFailure(toTrace(run, steps).items)?.id).toBe('1.2')
  expect(firstFailure(toTrace(run, []).items)?.id).toBe('error')
  expect(firstFailure(toTrace(aRun(), []).items)).toBeUndefined()
})

it('searchTrace finds names, texts and errors, whatever their case', () => {
  const failing = { ...aCall('get_shipment', 700, 5), error: 'The parcel is LOST.' }
  const step = aStep(1, [200, 600], { text: 'Where is it?', toolCalls: [failing] })
  const run = aRun({ status: 'ERROR', error: { code: 'AgentFailed', message: 'Locked' } })
  const { items } = toTrace(run, [step, aCodeStep(2, [700, 800])])
  const queries = ['where', 'SHIPMENT', 'lost', 'step 2', 'locked']
  const found = queries.map((text) =>
    searchTrace(items, text, 'Locked')
      .map(({ id }) => id)
      .join(),
  )
  expect(found).toEqual(['1', '1.1', '1.1', '2', 'error'])
  expect(searchTrace(items, ' ', 'Locked')).toEqual([])
})

describe('findTyped', () => {
  const names = ['load', 'look up', 'Answer', 'load', ...Array.from({ length: 8 }, (_, index) => `n${index}`)]
  const rows = toTrace(
    aRun({ startedAt: at(0) }),
    names.map((name, index) => aCodeStep(index + 1, [index * 10, index * 10 + 5], { name })),
  ).items.filter(({ kind }) => kind === 'code-step')

  it.each([
    ['L', 0, 1],
    ['l', 3, 0],
    ['look', 0, 1],
    ['ll', 1, 3],
    ['11', 9, 10],
    ['3. a', 0, 2],
    ['x', 4, 4],
  ])('%j leads from row %i to row %i', (typed, from, to) => expect(findTyped(rows, typed, from)).toBe(to))

  it('stays where there is nothing', () => expect(findTyped([], 'a', 0)).toBe(0))
})

describe('withProgress', () => {
  it('adds up what has arrived of a run that is in progress, and leaves one that has ended', () => {
    const run = anExecutionRecord(1, { status: 'IN_PROGRESS', steps: 0, model: null, costUsd: 0 })
    const steps = [
      aStep(1, [0, 1], { model: 'openai/a' }),
      aStep(2, [2, 3], { model: 'openai/b', attempt: 2 }),
    ]
    expect(withProgress(run, steps)).toMatchObject({
      ...{ steps: 2, attempts: 2, model: 'openai/b', costUsd: 0.0004 },
      usage: { inputTokens: 2_400, outputTokens: 170 },
    })
    expect(withProgress(run, [aStep(1, [0, 1], { costUsd: null })]).costUsd).toBeNull()
    expect(withProgress(run, [aCodeStep(1, [0, 1])])).toMatchObject({ steps: 1, costUsd: 0 })
    const ended = anExecutionRecord(1)
    expect(withProgress(ended, steps)).toBe(ended)
  })
})

it('the rows of the tree scroll only if the chosen one is not in view', () => {
  const view = { scrollTop: 300, height: 300, rowHeight: 30 }
  expect([12, 2, 30].map((row) => scrollTopFor(row, view))).toEqual([300, 60, 630])
})

it.each([1, 950, 61_000, 86_400_000, 9e9])('scaleMarks of %i ms are few and round', (length) => {
  const marks = scaleMarks(length)
  expect(marks[0]).toBe(0)
  expect(marks.length).toBeLessThanOrEqual(5)
  expect(marks.at(-1)).toBeLessThanOrEqual(length)
  expect(marks.length).toBeGreaterThan(1)
})

describe('live steps', () => {
  it('are merged by number, and again when they have results', () => {
    const steps = mergeStep([aStep(2, [5, 6])], aStep(1, [1, 2]))
    const merged = mergeStep(steps, aStep(2, [5, 9]))
    expect(merged.map(({ number, durationMs }) => `${number}: ${durationMs}`)).toEqual(['1: 1', '2: 4'])
  })

  it('get the results of their calls and waits, and what was left out of them', () => {
    const step = aStep(1, [1, 2], { toolCalls: [{ id: 'a', name: 'a', input: {} }] })
    expect(mergeCall([step], { step: 1, ...aCall('a', 2, 5) })[0]?.toolCalls).toEqual([aCall('a', 2, 5)])
    const { result, ...wait } = aCodeStep(1, [1, 2], { wait: { kind: 'signal' } })
    const paid = mergeCall([wait], { step: 1, name: 'step 1', result: { paid: true } })
    expect(paid).toEqual([{ ...wait, result: { paid: true } }])
    const omitted = { '/result': 3_000_000 }
    expect(mergeCall([wait], { step: 1, name: 'step 1', omitted })[0]).toMatchObject({ omitted })
  })
})

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
