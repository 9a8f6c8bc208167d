import { describe, expect, it } from 'vitest'
import { mergeCall, mergeStep } from '../../../console/run/follow-run.ts'
import { assignLanes, scaleMarks, toTimeline } from '../../../console/run/timeline.ts'
import type { StepRecord } from '../../../lib/api/schemas/execution-record.ts'
import { aStepRecord } from '../../browser/stub/records.ts'

const START = Date.parse('2026-11-22T12:00:00.000Z')
const at = (ms: number) => new Date(START + ms).toISOString()

const aRun = (overrides = {}) => ({
  createdAt: at(0),
  startedAt: at(100),
  finishedAt: at(5_000),
  status: 'SUCCESS' as const,
  ...overrides,
})

const aStep = (number: number, [from, to]: [number, number], overrides: Partial<StepRecord> = {}) =>
  aStepRecord(number, { startedAt: at(from), finishedAt: at(to), durationMs: to - from, ...overrides })

const aCall = (id: string, startedAt: number, durationMs: number) => ({
  ...{ id, name: id, input: {}, result: null, startedAt: at(startedAt), durationMs, attempt: 1 },
})

describe('toTimeline', () => {
  it('begins with the wait for a worker, and has a bar for each response and call', () => {
    const step = aStep(1, [200, 600], { toolCalls: [aCall('a', 600, 300), aCall('b', 610, 50)] })
    const { start, end, bars } = toTimeline(aRun(), [step], 0)
    expect([start, end]).toEqual([START, START + 5_000])
    expect(bars.map((bar) => [bar.id, bar.start - START, (bar.end ?? 0) - START, bar.lane])).toEqual([
      ['wait', 0, 100, 0],
      ['step-1', 200, 600, 0],
      ['step-1-call-1', 600, 900, 0],
      ['step-1-call-2', 610, 660, 1],
    ])
  })

  it('shows where another worker resumed the run', () => {
    const call = { ...aCall('a', 2_000, 10), attempt: 2 }
    const steps = [
      aStep(1, [200, 600], { toolCalls: [call] }),
      aStep(2, [2_100, 2_200], { attempt: 2 }),
      aStep(3, [4_000, 4_100], { attempt: 4 }),
    ]
    expect(toTimeline(aRun(), steps, 0).resumptions).toEqual([
      { at: START + 2_000, attempt: 2 },
      { at: START + 4_000, attempt: 4 },
    ])
  })

  it('has an open bar for what is in progress', () => {
    const open = aRun({ status: 'IN_PROGRESS', finishedAt: null })
    const pending = { id: 'a', name: 'a', input: {} }
    const step = aStep(1, [200, 600], { toolCalls: [pending] })
    expect(toTimeline(open, [step], START + 900).bars.at(-1)).toMatchObject({ label: 'a', end: null })
    expect(toTimeline(open, [aStep(1, [200, 600])], START + 900).bars.at(-1)).toMatchObject({
      ...{ kind: 'work', start: START + 600, end: null },
    })
    const waiting = { ...open, startedAt: null }
    expect(toTimeline(waiting, [], START + 900).bars).toMatchObject([{ kind: 'wait', end: null }])
  })

  it('leaves out calls that were never made', () => {
    const step = aStep(1, [200, 600], { toolCalls: [{ id: 'a', name: 'a', input: {} }] })
    expect(toTimeline(aRun(), [step], 0).bars.map(({ id }) => id)).toEqual(['wait', 'step-1'])
  })

  it('shows the whole run if it has no steps', () => {
    expect(toTimeline(aRun(), [], 0).bars.at(-1)).toMatchObject({
      ...{ kind: 'work', start: START + 100, end: START + 5_000 },
    })
  })
})

describe('assignLanes', () => {
  it('uses a lane again when it is free', () => {
    const spans = [
      { start: 0, end: 10 },
      { start: 0, end: 5 },
      { start: 5, end: 8 },
      { start: 10, end: null },
      { start: 11, end: 12 },
    ]
    expect(assignLanes(spans)).toEqual([0, 1, 1, 0, 1])
  })

  it('takes calls that begin in the same millisecond for parallel', () => {
    expect(
      assignLanes([
        { start: 3, end: 3 },
        { start: 3, end: 3 },
      ]),
    ).toEqual([0, 1])
  })
})

it.each([1, 7, 950, 2_740, 61_000, 3_600_000, 86_400_000, 9e9])(
  'scaleMarks of %i ms are few and round',
  (length) => {
    const marks = scaleMarks(length)
    expect(marks[0]).toBe(0)
    expect(marks.length).toBeLessThanOrEqual(7)
    expect(marks.at(-1)).toBeLessThanOrEqual(length)
    expect(marks.length).toBeGreaterThan(1)
  },
)

describe('live steps', () => {
  it('are merged by number, and again when they have results', () => {
    const steps = mergeStep([aStep(2, [5, 6])], aStep(1, [1, 2]))
    expect(mergeStep(steps, aStep(2, [5, 9])).map(({ number, durationMs }) => [number, durationMs])).toEqual([
      [1, 1],
      [2, 4],
    ])
  })

  it('get the results of their calls', () => {
    const step = aStep(1, [1, 2], { toolCalls: [{ id: 'a', name: 'a', input: {} }] })
    const [merged] = mergeCall([step], { step: 1, ...aCall('a', 2, 5) })
    expect(merged?.toolCalls).toEqual([aCall('a', 2, 5)])
  })
})
