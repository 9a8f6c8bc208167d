import type { ExecutionRecord, StepRecord } from '../../lib/api/schemas/execution-record.ts'

type ToolCall = NonNullable<StepRecord['toolCalls']>[number]

/**
 * A bar of the timeline. `start` and `end`: milliseconds since the epoch; `end` is null while it continues. `lane`:
 * calls that overlap are in different ones, from 0.
 */
export type Bar = {
  /** Unique in the timeline; the id of the step's or the call's details. */
  id: string
  kind: 'wait' | 'work' | 'response' | 'code-step' | 'call'
  label: string
  step: number
  start: number
  end: number | null
  lane: number
  hasFailed: boolean
  attempt: number
}

/** A moment at which another worker has resumed the run. */
export type Resumption = { at: number; attempt: number }

/** `start` and `end`: of everything in it, in milliseconds since the epoch. */
export type Timeline = { start: number; end: number; bars: Bar[]; resumptions: Resumption[] }

type Run = Pick<ExecutionRecord, 'createdAt' | 'startedAt' | 'finishedAt' | 'status'>

/** Lays out what happened in a run, in the order of its beginning. @param now milliseconds since the epoch */
export function toTimeline(run: Run, steps: StepRecord[], now: number): Timeline {
  const start = Date.parse(run.createdAt)
  const finished = run.finishedAt === null ? now : Date.parse(run.finishedAt)
  const isOpen = run.status === 'IN_PROGRESS'
  const bars = steps.flatMap((step) => [toStepBar(step), ...toCallBars(step, isOpen)])
  const firstStart = run.startedAt === null ? null : Date.parse(run.startedAt)
  const waitEnd = firstStart ?? (isOpen ? null : finished)
  if (waitEnd === null || waitEnd > start)
    bars.unshift(barOf({ id: 'wait', kind: 'wait', label: 'Waiting for a worker', start, end: waitEnd }))
  const ends = bars.map((bar) => bar.end ?? finished)
  const isWorking = isOpen && bars.every((bar) => bar.end !== null)
  if (firstStart !== null && (isWorking || steps.length === 0)) {
    const from = Math.max(firstStart, ...ends)
    const label = isOpen ? 'Working…' : 'Run'
    bars.push(
      barOf({
        id: 'work',
        kind: 'work',
        label,
        start: Math.min(from, finished),
        end: isOpen ? null : finished,
      }),
    )
  }
  return { start, end: Math.max(start + 1, finished, ...ends), bars, resumptions: findResumptions(bars) }
}

const barOf = (bar: Pick<Bar, 'id' | 'kind' | 'label' | 'start' | 'end'> & Partial<Bar>): Bar => ({
  step: 0,
  lane: 0,
  hasFailed: false,
  attempt: 1,
  ...bar,
})

const toStepBar = ({ number, name, startedAt, finishedAt, attempt }: StepRecord): Bar =>
  barOf({
    id: stepId(number),
    kind: name === undefined ? 'response' : 'code-step',
    label: name ?? 'Model response',
    step: number,
    start: Date.parse(startedAt),
    end: Date.parse(finishedAt),
    attempt,
  })

/** A call without a time is in progress since the response, or was never made. */
function toCallBars(step: StepRecord, isRunOpen: boolean): Bar[] {
  const calls = (step.toolCalls ?? []).flatMap((call, index) => {
    const start = Date.parse(call.startedAt ?? step.finishedAt)
    const isPending = isCallPending(call, isRunOpen)
    if (call.durationMs === undefined && !isPending) return []
    const end = call.durationMs === undefined ? null : start + call.durationMs
    return [{ call, index, start, end }]
  })
  const lanes = assignLanes(calls)
  return calls.map(({ call, index, start, end }, position) =>
    barOf({
      id: callId(step.number, index),
      kind: 'call',
      label: call.name,
      step: step.number,
      start,
      end,
      lane: lanes[position] ?? 0,
      hasFailed: call.error !== undefined,
      attempt: call.attempt ?? step.attempt,
    }),
  )
}

/** Whether a call has neither a result nor an error yet. */
export const isCallPending = (call: ToolCall, isRunOpen: boolean): boolean =>
  isRunOpen && call.result === undefined && call.error === undefined && call.durationMs === undefined

/** The first lane that is free when each span begins, so that as few as possible are used. */
export function assignLanes(spans: { start: number; end: number | null }[]): number[] {
  const ends: number[] = []
  const order = spans.map((_, index) => index).sort((a, b) => (spans[a]?.start ?? 0) - (spans[b]?.start ?? 0))
  const lanes: number[] = []
  for (const index of order) {
    const { start = 0, end = null } = spans[index] ?? {}
    const free = ends.findIndex((endOfLane) => endOfLane <= start)
    const lane = free === -1 ? ends.length : free
    // Calls that take less than a millisecond are parallel if they begin together.
    ends[lane] = Math.max(end ?? Number.POSITIVE_INFINITY, start + 1)
    lanes[index] = lane
  }
  return lanes
}

function findResumptions(bars: Bar[]): Resumption[] {
  const found = new Map<number, number>()
  for (const { attempt, start } of bars)
    if (attempt > 1) found.set(attempt, Math.min(start, found.get(attempt) ?? start))
  return [...found].map(([attempt, at]) => ({ at, attempt })).sort((a, b) => a.at - b.at)
}

export const stepId = (number: number): string => `step-${number}`
export const callId = (step: number, index: number): string => `step-${step}-call-${index + 1}`

/** Round numbers of milliseconds at which a scale of this length has marks: at most six. */
export function scaleMarks(lengthMs: number): number[] {
  const units = [
    1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 1.5e4, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5, 36e5,
  ]
  const unit = units.find((each) => lengthMs / each <= 6) ?? Math.ceil(lengthMs / 6 / 36e5) * 36e5
  return Array.from({ length: Math.floor(lengthMs / unit) + 1 }, (_, index) => index * unit)
}
