import { useCallback, useEffect, useState } from 'preact/hooks'
import type { ExecutionRecord, StepRecord } from '../../lib/api/schemas/execution-record.ts'
import type { ApiError } from '../api/api-error.ts'
import { requestEvents, requestJson, requestPage } from '../api/request.ts'
import { asApiError } from '../api/use-resource.ts'
import { followRun, mergeStep } from './follow-run.ts'

export type RunState = {
  run: ExecutionRecord | null
  steps: StepRecord[]
  /** Whether all steps are here: a run that is final has them page by page. */
  hasAllSteps: boolean
  error: ApiError | null
  /** The stream of events is lost and will be opened again. */
  isReconnecting: boolean
}

const NOTHING: RunState = { run: null, steps: [], hasAllSteps: false, error: null, isReconnecting: false }

/** An execution and its steps. While it is in progress, they arrive as they happen. */
export function useRun(executionId: string) {
  const [state, setState] = useState(NOTHING)
  const [round, setRound] = useState(0)
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    const update = (change: Partial<RunState> | ((last: RunState) => Partial<RunState>)) => {
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
  return { ...state, reload, setRun }
}

type Update = (change: Partial<RunState> | ((last: RunState) => Partial<RunState>)) => void

async function load(executionId: string, signal: AbortSignal, update: Update): Promise<void> {
  const path = `/v1/agent_executions/${encodeURIComponent(executionId)}`
  const getRun = () => requestJson<ExecutionRecord>(path, { query: { adaptedInput: true }, signal })
  const run = await getRun()
  update({ run })
  if (run.status === 'IN_PROGRESS') {
    await followRun({
      open: (lastStep) => openEvents(path, lastStep, signal),
      signal,
      onSteps: (change) => update(({ steps }) => ({ steps: change(steps) })),
      onReconnecting: (isReconnecting) => update({ isReconnecting }),
    })
    // The last event has the record as it is in lists; this one has the adapted input too.
    update({ run: await getRun(), hasAllSteps: true })
  } else {
    await loadSteps(path, signal, update)
  }
}

async function loadSteps(path: string, signal: AbortSignal, update: Update): Promise<void> {
  let query: URLSearchParams | null = new URLSearchParams({ limit: '100' })
  while (query) {
    const page: { items: StepRecord[]; next: URLSearchParams | null } = await requestPage<StepRecord>(
      `${path}/steps`,
      { query, signal },
    )
    update(({ steps }) => ({ steps: page.items.reduce(mergeStep, steps) }))
    query = page.next
  }
  update({ hasAllSteps: true })
}

/** The events of a run after a step. @param path of the run */
export async function openEvents(path: string, lastStep: string, signal: AbortSignal) {
  const headers: Record<string, string> = lastStep ? { 'Last-Event-ID': lastStep } : {}
  const { events } = await requestEvents(`${path}/events`, { headers, signal })
  return events
}
