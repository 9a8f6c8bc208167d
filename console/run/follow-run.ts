import type { ExecutionRecord } from '../../lib/contract/records/execution.ts'
import type { StepRecord } from '../../lib/contract/records/step.ts'
import { type EventSourceOptions, followEvents } from '../api/follow-events.ts'
import { parseJsonText } from '../api/request.ts'

type FollowOptions = EventSourceOptions & {
  onSteps: (change: (steps: StepRecord[]) => StepRecord[]) => void
  /** What a suspended run waits for; null while a worker has it. */
  onWaiting?: (waits: ExecutionRecord['waitingFor']) => void
}

/**
 * Reads the events of a run until it is final.
 * @returns the record of the last event
 * @throws as `followEvents` does
 */
export const followRun = ({ onSteps, onWaiting, ...source }: FollowOptions): Promise<ExecutionRecord> =>
  followEvents(source, ({ event, data }) => {
    switch (event) {
      case 'step': {
        const step = parseJsonText<StepRecord>(data)
        onWaiting?.(null)
        onSteps((steps) => mergeStep(steps, step))
        return 'news'
      }
      case 'tool': {
        const call = parseJsonText<CallEvent>(data)
        onSteps((steps) => mergeCall(steps, call))
        return 'news'
      }
      case 'waiting':
        // Nothing runs: the stream ends, and is asked again less and less often.
        onWaiting?.(parseJsonText<Pick<ExecutionRecord, 'waitingFor'>>(data).waitingFor)
        return 'nothing'
      case 'done':
        return { end: parseJsonText<ExecutionRecord>(data) }
      default:
        return 'nothing'
    }
  })

/** The data of a `tool` event: a call of a step, a wait that has ended, or a step that was attempted. */
type CallEvent = (
  | NonNullable<StepRecord['toolCalls']>[number]
  | Pick<
      StepRecord,
      'name' | 'result' | 'skipped' | 'error' | 'executionId' | 'attempts' | 'backoffMs' | 'failedAttempts'
    >
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
