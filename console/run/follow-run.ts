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
  /** What a suspended run waits for; null while a worker has it. */
  onWaiting?: (waits: ExecutionRecord['waitingFor']) => void
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
  onWaiting,
  onReconnecting,
}: FollowOptions): Promise<ExecutionRecord> {
  let lastStep = ''
  let waitMs = MIN_RECONNECT_MS
  for (;;) {
    try {
      const events = await open(lastStep)
      onReconnecting(false)
      for await (const { event, data, id } of events) {
        if (id) lastStep = id
        if (event === 'step') {
          waitMs = MIN_RECONNECT_MS
          const step = parseJsonText<StepRecord>(data)
          onWaiting?.(null)
          onSteps((steps) => mergeStep(steps, step))
        } else if (event === 'tool') {
          waitMs = MIN_RECONNECT_MS
          const call = parseJsonText<CallEvent>(data)
          onSteps((steps) => mergeCall(steps, call))
        } else if (event === 'waiting') {
          // Nothing runs: the stream ends, and is asked again less and less often.
          onWaiting?.(parseJsonText<Pick<ExecutionRecord, 'waitingFor'>>(data).waitingFor)
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

/** The data of a `tool` event: a call of a step, or a wait that has ended. */
type CallEvent = (
  | NonNullable<StepRecord['toolCalls']>[number]
  | Pick<StepRecord, 'name' | 'result' | 'skipped'>
) & {
  step: number
} & Pick<StepRecord, 'omitted'>

/** The steps with one that is new, or has new results. In order. */
export function mergeStep(steps: StepRecord[], step: StepRecord): StepRecord[] {
  const others = steps.filter(({ number }) => number !== step.number)
  return [...others, step].sort((a, b) => a.number - b.number)
}

/** The steps with the result of a call, or of a wait. */
export function mergeCall(steps: StepRecord[], { step: number, omitted, ...call }: CallEvent): StepRecord[] {
  return steps.map((step) => {
    if (step.number !== number) return step
    const others = omitted && { omitted }
    if (!('id' in call)) return { ...step, ...call, ...others }
    const toolCalls = (step.toolCalls ?? []).map((each) => (each.id === call.id ? call : each))
    return { ...step, toolCalls, ...others }
  })
}
