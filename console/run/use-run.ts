import { useCallback, useEffect, useState } from 'preact/hooks'
import type { ExecutionRecord } from '../../lib/contract/records/execution.ts'
import type { StepRecord } from '../../lib/contract/records/step.ts'
import { ApiError, asApiError } from '../api/api-error.ts'
import { type Page, parseJsonText, requestEvents, requestJson } from '../api/request.ts'
import { MAX_VALUE_BYTES, pathOfRun, peekRun, requestRun, requestSteps, takeBegun } from '../api/runs.ts'
import { followRun, mergeStep } from './follow-run.ts'

const NOTHING = {
  run: null as ExecutionRecord | null,
  steps: [] as StepRecord[],
  /** Whether all steps are here: a run that is final has them page by page. */
  hasAllSteps: false,
  error: null as ApiError | null,
  isReconnecting: false,
  live: '',
}

type RunState = typeof NOTHING
type Update = (change: Partial<RunState> | ((last: RunState) => Partial<RunState>)) => void

/** An execution and its steps. While it is in progress, they arrive as they happen. */
export function useRun(executionId: string) {
  const [state, setState] = useState(NOTHING)
  const [round, setRound] = useState(0)
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    const update: Update = (change) => {
      if (signal.aborted) return
      setState((last) => ({ ...last, ...(typeof change === 'function' ? change(last) : change) }))
    }
    load(executionId, signal, update).catch((error: unknown) => {
      update({ error: asApiError(error) })
    })
    return () => controller.abort()
  }, [executionId, round])
  const reload = useCallback(() => {
    setState((last) => ({ ...last, error: null }))
    setRound((last) => last + 1)
  }, [])
  const setRun = useCallback((run: ExecutionRecord) => setState((last) => ({ ...last, run })), [])
  /** Loads the values of the run that were left out. @throws ApiError */
  const loadValues = useCallback(async () => {
    const whole = await requestJson<ExecutionRecord>(pathOfRun(executionId), {
      query: { adaptedInput: true },
    })
    setState((last) => ({ ...last, run: whole }))
  }, [executionId])
  /** The same for a step. @throws ApiError */
  const loadStep = useCallback(
    async (number: number) => {
      const step = await requestStep(pathOfRun(executionId), number)
      setState((last) => ({ ...last, steps: mergeStep(last.steps, step) }))
    },
    [executionId],
  )
  return { ...state, reload, setRun, loadValues, loadStep }
}

/** A step with all its values: the next event after the step before it. @throws ApiError */
async function requestStep(path: string, number: number): Promise<StepRecord> {
  const controller = new AbortController()
  const { signal } = controller
  const headers: Record<string, string> = number > 1 ? { 'Last-Event-ID': String(number - 1) } : {}
  const { events } = await requestEvents(`${path}/events`, { headers, signal })
  for await (const { event, data } of events) {
    if (event !== 'step') continue
    const step = parseJsonText<StepRecord>(data)
    controller.abort()
    return step
  }
  throw new ApiError('The step does not exist any more.', { status: 404, code: 'StepNotFound' })
}

async function load(executionId: string, signal: AbortSignal, update: Update): Promise<void> {
  const path = pathOfRun(executionId)
  const begun = takeBegun(executionId)
  // At once, also for a run that is in progress: most are final, and a request takes a while.
  const steps = loadSteps({ executionId, first: begun?.steps, signal, update })
  steps.catch(() => undefined)
  const run = await (begun?.run ?? requestRun(executionId, signal))
  update({ run })
  if (run.status === 'IN_PROGRESS') {
    await followRun({
      open: (lastStep, closed) => openEvents(path, lastStep, closed),
      peek: () => peekRun(executionId, signal),
      signal,
      onSteps: (change) => update(({ steps }) => ({ steps: change(steps) })),
      onWaiting: (waitingFor) => update(({ run }) => ({ run: run && withWaits(run, waitingFor) })),
      onReconnecting: (isReconnecting) => update({ isReconnecting }),
      onLive: (live) => update({ live }),
    })
    // The last event has the record as it is in lists; this one has the adapted input too.
    update({ run: await requestRun(executionId, signal), hasAllSteps: true })
  } else {
    await steps
  }
}

/** The same object if nothing changes, so that nothing is rendered. */
const withWaits = (run: ExecutionRecord, waitingFor: ExecutionRecord['waitingFor']): ExecutionRecord =>
  JSON.stringify(run.waitingFor) === JSON.stringify(waitingFor) ? run : { ...run, waitingFor }

type StepsRequest = {
  executionId: string
  /** The first page, if it was requested already. */
  first: Promise<Page<StepRecord>> | undefined
  signal: AbortSignal
  update: Update
}

async function loadSteps({ executionId, first, signal, update }: StepsRequest): Promise<void> {
  let page = await (first ?? requestSteps(executionId, undefined, signal))
  for (;;) {
    const { items, next } = page
    update(({ steps }) => ({ steps: items.reduce(mergeStep, steps) }))
    if (!next) break
    page = await requestSteps(executionId, next, signal)
  }
  update({ hasAllSteps: true })
}

/** The events of a run after a step. @param path of the run */
export async function openEvents(path: string, lastStep: string, signal: AbortSignal) {
  const headers: Record<string, string> = lastStep ? { 'Last-Event-ID': lastStep } : {}
  const query = { maxValueBytes: MAX_VALUE_BYTES, deltas: true }
  const { events } = await requestEvents(`${path}/events`, { query, headers, signal })
  return events
}
