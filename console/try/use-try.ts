import { useEffect, useRef, useState } from 'preact/hooks'
import type { ExecutionRecord } from '../../lib/contract/records/execution.ts'
import type { StepRecord } from '../../lib/contract/records/step.ts'
import { ApiError, asApiError } from '../api/api-error.ts'
import { newIdempotencyKey, post, requestEvents } from '../api/request.ts'
import { pathOfRun, peekRun } from '../api/runs.ts'
import { followRun } from '../run/follow-run.ts'
import { openEvents } from '../run/use-run.ts'
import type { Parameters } from './run-options.ts'

const NEW_TRY = {
  isRunning: true,
  /** Milliseconds since the epoch. */
  startedAt: 0,
  executionId: null as string | null,
  /** The header `Cache-Status` (RFC 9211). */
  cacheStatus: null as string | null,
  steps: [] as StepRecord[],
  run: null as ExecutionRecord | null,
  /** Why it was not accepted, could not be followed or could not be cancelled. */
  error: null as ApiError | null,
  isReconnecting: false,
  live: '',
  isCancelling: false,
}

export type Try = typeof NEW_TRY
type Update = (change: (last: Try) => Partial<Try>) => void
type TryRequest = { agent: string; parameters: Parameters; body: string }

/** Starts one run after the other, and follows the last one. */
export function useTry() {
  const [last, setLast] = useState<Try | null>(null)
  const controller = useRef<AbortController | null>(null)
  useEffect(() => () => controller.current?.abort(), [])

  function start(request: TryRequest) {
    controller.current?.abort()
    const current = new AbortController()
    controller.current = current
    setLast({ ...NEW_TRY, startedAt: Date.now() })
    const update: Update = (change) => {
      if (!current.signal.aborted) setLast((before) => before && { ...before, ...change(before) })
    }
    runAgent(request, current.signal, update).then(
      (run) => update(() => ({ run, isRunning: false })),
      (error: unknown) => update(() => ({ error: asApiError(error), isRunning: false })),
    )
  }

  // A run can only be cancelled once it has an ID, which arrives before its result.
  const { isCancelling = false, executionId = null, isRunning = false } = last ?? {}
  useEffect(() => {
    if (!isCancelling || executionId === null || !isRunning) return
    post(`/v1/agent_executions/${executionId}/cancel`).catch((error: unknown) =>
      setLast((before) => before && { ...before, isCancelling: false, error: asApiError(error) }),
    )
  }, [isCancelling, executionId])

  const cancel = () => setLast((before) => before && { ...before, isCancelling: true, error: null })
  return { last, start, cancel }
}

async function runAgent(request: TryRequest, signal: AbortSignal, update: Update): Promise<ExecutionRecord> {
  const { executionId, cacheStatus, events } = await send(request, signal)
  update(() => ({ executionId, cacheStatus }))
  let first: typeof events | null = events
  const path = pathOfRun(executionId)
  return followRun({
    open: async (lastStep, closed) => {
      // The first one is the run itself: it is never closed.
      const opened = first ?? (await openEvents(path, lastStep, closed))
      first = null
      return opened
    },
    peek: () => peekRun(executionId, signal),
    signal,
    onSteps: (change) => update(({ steps }) => ({ steps: change(steps) })),
    onReconnecting: (isReconnecting) => update(() => ({ isReconnecting })),
    onLive: (live) => update(() => ({ live })),
  })
}

/** Sends the run, again if there is no response: with the same key that is the same run. */
async function send({ agent, parameters, body }: TryRequest, signal: AbortSignal) {
  const key = newIdempotencyKey()
  const post = () =>
    requestEvents(`/v1/agents/${encodeURIComponent(agent)}/executions`, {
      method: 'POST',
      query: { ...parameters, deltas: true },
      body,
      headers: { 'Idempotency-Key': key },
      signal,
    })
  const { response, events } = await post().catch((error: unknown) => {
    if (signal.aborted || !(error instanceof ApiError) || error.status !== 0) throw error
    return post()
  })
  const executionId = response.headers.get('X-Execution-Id')
  if (executionId === null)
    throw new ApiError('The response does not name its execution. A proxy may have removed X-Execution-Id.', {
      status: response.status,
      code: 'NoExecutionId',
    })
  return { executionId, cacheStatus: response.headers.get('Cache-Status'), events }
}
