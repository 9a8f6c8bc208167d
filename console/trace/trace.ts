import type { ExecutionRecord } from '../../lib/contract/records/execution.ts'
import type { StepRecord } from '../../lib/contract/records/step.ts'
import { isCancelled } from '../components/format.ts'

export type ToolCall = NonNullable<StepRecord['toolCalls']>[number]
type Wait = NonNullable<ExecutionRecord['waitingFor']>[number]

/** What the trace needs of a run; a run that has just been started has no more. */
export type TracedRun = Pick<ExecutionRecord, 'status' | 'createdAt' | 'startedAt' | 'finishedAt'> &
  Partial<Pick<ExecutionRecord, 'error' | 'waitingFor' | 'attempts'>>

/**
 * One row of the trace. `id` names it in the address: `4` is a step and `4.2` its second call; the run has the empty
 * one. `start` and `end`: milliseconds since the epoch; `end` is null while it continues.
 */
export type TraceItem = {
  id: string
  parentId: string | null
  kind: 'run' | 'queue' | 'attempt' | 'response' | 'code-step' | 'wait' | 'call' | 'work' | 'failure'
  label: string
  start: number
  end: number | null
  state: 'done' | 'open' | 'failed' | 'cancelled'
  attempt: number
  children: number
  /** Of them have failed. */
  failedChildren: number
  step?: StepRecord
  call?: ToolCall
  /** Of a run that is suspended, and has no step for it. */
  wait?: Wait
}

/** `end`: of everything that has ended so far. */
export type Trace = { start: number; end: number; items: TraceItem[] }

export const RUN_ID = ''
const FAILURE_ID = 'error'

/** The items of a run in the order of their beginning: each one follows the one that it is below. */
export function toTrace(run: TracedRun, steps: StepRecord[]): Trace {
  const start = Date.parse(run.createdAt)
  const finished = run.finishedAt === null ? null : Date.parse(run.finishedAt)
  const isOpen = run.status === 'IN_PROGRESS'
  const items = [...toQueue(run, start, finished), ...toStepItems(run, steps)]
  items.push(...toOpenWaits(run, items))
  const ends = items.map((item) => item.end ?? item.start)
  const last = Math.max(start, run.startedAt === null ? start : Date.parse(run.startedAt), ...ends)
  items.push(...toRest(run, { items, last, finished }))
  const whole = itemOf({
    id: RUN_ID,
    parentId: null,
    kind: 'run',
    label: 'Run',
    start,
    end: isOpen ? null : (finished ?? last),
    state: stateOf(run),
    children: items.filter(({ parentId }) => parentId === RUN_ID).length,
  })
  return { start, end: Math.max(start + 1, last, finished ?? 0), items: [whole, ...items] }
}

const itemOf = (
  item: Pick<TraceItem, 'id' | 'kind' | 'label' | 'start' | 'end'> & Partial<TraceItem>,
): TraceItem => ({
  parentId: RUN_ID,
  state: item.end === null ? 'open' : 'done',
  attempt: 1,
  children: 0,
  failedChildren: 0,
  ...item,
})

function stateOf({ status, error }: TracedRun): TraceItem['state'] {
  if (status === 'IN_PROGRESS') return 'open'
  return status === 'SUCCESS' ? 'done' : isCancelled(error?.code) ? 'cancelled' : 'failed'
}

/** The time until a worker began, if there was any. */
function toQueue(run: TracedRun, start: number, finished: number | null): TraceItem[] {
  const end = run.startedAt === null ? finished : Date.parse(run.startedAt)
  if (end !== null && end <= start) return []
  return [itemOf({ id: 'queue', kind: 'queue', label: 'Waiting for a worker', start, end })]
}

/** The steps with their calls, and where another worker resumed the run. */
function toStepItems(run: TracedRun, steps: StepRecord[]): TraceItem[] {
  const isRunOpen = run.status === 'IN_PROGRESS'
  const items: TraceItem[] = []
  let attempt = 1
  const resume = (item: TraceItem) => {
    if (item.attempt <= attempt) return
    attempt = item.attempt
    items.push(toAttempt(attempt, item.start))
  }
  for (const [index, step] of steps.entries()) {
    const calls = (step.toolCalls ?? []).map((call, position) => toCall(step, call, position, isRunOpen))
    const item = toStep(step, { calls, next: steps[index + 1], run })
    resume(item)
    items.push(item, ...calls)
    // A call can be made again by a worker that resumes the run at its step.
    for (const call of calls) resume(call)
  }
  if ((run.attempts ?? 1) > attempt && isRunOpen) {
    const start = Math.max(Date.parse(run.createdAt), ...items.map((item) => item.end ?? item.start))
    items.push(toAttempt(run.attempts ?? 1, start))
  }
  return items
}

const toAttempt = (attempt: number, start: number): TraceItem =>
  itemOf({
    ...{ id: `attempt-${attempt}`, kind: 'attempt', label: `Attempt ${attempt}` },
    ...{ start, end: start, attempt },
  })

type StepContext = { calls: TraceItem[]; next: StepRecord | undefined; run: TracedRun }

function toStep(step: StepRecord, { calls, next, run }: StepContext): TraceItem {
  const { number, name, wait, startedAt, finishedAt, attempt } = step
  const hasEnded = step.result !== undefined || step.omitted?.['/result'] !== undefined
  const mayGoOn = !hasEnded && run.status === 'IN_PROGRESS'
  const isOpenWait = wait !== undefined && next === undefined && mayGoOn
  const hasAttempts = step.attempts !== undefined || step.agent !== undefined
  const isOpenStep = hasAttempts && step.error === undefined && mayGoOn
  // A wait ends when the run goes on: its record has the time at which it began.
  const waitEnd = Date.parse(next?.startedAt ?? run.finishedAt ?? finishedAt)
  return itemOf({
    id: String(number),
    kind: wait ? 'wait' : name === undefined ? 'response' : 'code-step',
    label: name ?? 'Model response',
    start: Date.parse(startedAt),
    end: isOpenWait || isOpenStep ? null : wait ? waitEnd : Date.parse(finishedAt),
    attempt,
    ...(step.error !== undefined && { state: 'failed' as const }),
    children: calls.length,
    failedChildren: calls.filter(({ state }) => state === 'failed').length,
    step,
  })
}

/** A call without a time is in progress since the response, or was never made. */
function toCall(step: StepRecord, call: ToolCall, position: number, isRunOpen: boolean): TraceItem {
  const start = Date.parse(call.startedAt ?? step.finishedAt)
  const isOpen =
    isRunOpen && call.result === undefined && call.error === undefined && call.durationMs === undefined
  return itemOf({
    id: `${step.number}.${position + 1}`,
    parentId: String(step.number),
    kind: 'call',
    label: call.name,
    start,
    end: isOpen ? null : start + (call.durationMs ?? 0),
    state: call.error !== undefined ? 'failed' : isOpen ? 'open' : 'done',
    attempt: call.attempt ?? step.attempt,
    step,
    call,
  })
}

/** What a suspended run waits for beside the waits and calls that are steps already. */
function toOpenWaits({ waitingFor }: TracedRun, items: TraceItem[]): TraceItem[] {
  const open = new Set(items.filter(({ end }) => end === null).map(({ step }) => step?.number))
  return (waitingFor ?? [])
    .filter(({ step }) => step === undefined || !open.has(step))
    .map((wait, index) =>
      itemOf({
        ...{ id: `waiting-${index + 1}`, kind: 'wait', label: wait.name || wait.kind },
        ...{ start: Date.parse(wait.since), end: null, wait },
      }),
    )
}

type Rest = { items: TraceItem[]; last: number; finished: number | null }

/** What follows the last item: work that continues, or what ended the run. */
function toRest(run: TracedRun, { items, last, finished }: Rest): TraceItem[] {
  if (run.status === 'IN_PROGRESS') {
    const isWorking = run.startedAt !== null && items.every(({ end }) => end !== null)
    return isWorking ? [itemOf({ id: 'work', kind: 'work', label: 'Working…', start: last, end: null })] : []
  }
  const end = Math.max(finished ?? last, last)
  if (run.error) {
    const state = stateOf(run)
    const label = state === 'cancelled' ? 'Cancelled' : run.error.code
    return [itemOf({ id: FAILURE_ID, kind: 'failure', label, start: last, end, state })]
  }
  const hasSteps = items.some(({ step }) => step)
  return hasSteps || run.startedAt === null
    ? []
    : [itemOf({ id: 'work', kind: 'work', label: 'Work without steps', start: last, end })]
}

/** The rows that are visible: those whose parents are all open. @param isOpen whether the children of an item show */
export const visibleItems = (items: TraceItem[], isOpen: (id: string) => boolean): TraceItem[] =>
  items.filter(({ parentId }) => parentId === null || parentId === RUN_ID || isOpen(parentId))

/** The first thing that went wrong: a call, or what ended the run. Undefined if nothing did. */
export const firstFailure = (items: TraceItem[]): TraceItem | undefined =>
  items.find(({ state, kind }) => state === 'failed' && kind !== 'run')
