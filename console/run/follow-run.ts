import type { SentEvent } from '../../clients/typescript/src/runs/sse.ts'
import type { ExecutionRecord, StepRecord } from '../../lib/api/schemas/execution-record.ts'
import { parseJsonText } from '../api/request.ts'
import { asApiError } from '../api/use-resource.ts'

const MIN_RECONNECT_MS = 1_000
const MAX_RECONNECT_MS = 20_000

type FollowOptions = {
  /** Opens the stream after a step; `''` for all events. @throws ApiError */
  open: (lastStep: string) => Promise<AsyncIterable<SentEvent>>
  signal: AbortSignal
  onSteps: (change: (steps: StepRecord[]) => StepRecord[]) => void
  /** The stream is lost and will be opened again (true), or is open again. */
  onReconnecting: (isReconnecting: boolean) => void
}

/**
 * Reads the events of a run until it is final. A lost stream is opened again after the last step that was received.
 * @returns the record of the last event
 * @throws ApiError for what a retry cannot change: the run is deleted, or the token may not see it
 */
export async function followRun({
  open,
  signal,
  onSteps,
  onReconnecting,
}: FollowOptions): Promise<ExecutionRecord> {
  let lastStep = ''
  let waitMs = MIN_RECONNECT_MS
  for (;;) {
    try {
      const events = await open(lastStep)
      onReconnecting(false)
      for await (const { event, data, id } of events) {
        waitMs = MIN_RECONNECT_MS
        if (id) lastStep = id
        if (event === 'step') {
          const step = parseJsonText<StepRecord>(data)
          onSteps((steps) => mergeStep(steps, step))
        } else if (event === 'tool') {
          const call = parseJsonText<CallEvent>(data)
          onSteps((steps) => mergeCall(steps, call))
        } else if (event === 'done') return parseJsonText<ExecutionRecord>(data)
      }
    } catch (error) {
      const { status } = asApiError(error)
      if (signal.aborted || (status >= 400 && status < 500 && status !== 429)) throw error
      onReconnecting(true)
    }
    await wait(waitMs, signal)
    waitMs = Math.min(waitMs * 2, MAX_RECONNECT_MS)
  }
}

/** @throws the reason of the signal if it aborts */
function wait(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  signal.addEventListener('abort', () => {
    clearTimeout(timer)
    reject(signal.reason)
  })
  return promise
}

/** The data of a `tool` event: a call of a step. */
type CallEvent = NonNullable<StepRecord['toolCalls']>[number] & { step: number }

/** The steps with one that is new, or has new results. In order. */
export function mergeStep(steps: StepRecord[], step: StepRecord): StepRecord[] {
  const others = steps.filter(({ number }) => number !== step.number)
  return [...others, step].sort((a, b) => a.number - b.number)
}

/** The steps with the result of a call. */
export function mergeCall(steps: StepRecord[], { step: number, ...call }: CallEvent): StepRecord[] {
  return steps.map((step) =>
    step.number === number
      ? { ...step, toolCalls: (step.toolCalls ?? []).map((each) => (each.id === call.id ? call : each)) }
      : step,
  )
}
