import type { ExecutionRecord } from '../../lib/contract/records/execution.ts'
import type { StepRecord } from '../../lib/contract/records/step.ts'
import type { DeltaEvent } from '../../lib/core/step.ts'
import { type EventSourceOptions, followEvents } from '../api/follow-events.ts'
import { parseJsonText } from '../api/request.ts'

type FollowOptions = EventSourceOptions & {
  onSteps: (change: (steps: StepRecord[]) => StepRecord[]) => void
  /** What a suspended run waits for; null while a worker has it. */
  onWaiting?: (waits: ExecutionRecord['waitingFor']) => void
  /** What the model is writing, so far; empty when its step is there, or when it is void. */
  onLive: (text: string) => void
}

/** Until the run is final. @returns the record of the last event @throws as `followEvents` does */
export function followRun({
  onSteps,
  onWaiting,
  onLive,
  ...source
}: FollowOptions): Promise<ExecutionRecord> {
  const written = new Map<string, string>()
  const show = () => onLive([...written.values()].join('\n'))
  const clear = () => {
    if (written.size === 0) return
    written.clear()
    show()
  }
  /** Each stream begins with the response so far. */
  const open: typeof source.open = (...after) => {
    clear()
    return source.open(...after)
  }
  return followEvents({ ...source, open }, ({ event, data }) => {
    switch (event) {
      case 'delta': {
        const delta = parseJsonText<DeltaEvent & { kind: 'delta' }>(data)
        const call = 'toolCall' in delta ? delta.toolCall : null
        const piece = call ? call.arguments : 'text' in delta ? delta.text : ''
        const key = call?.id ?? ''
        written.set(key, (written.get(key) ?? (call ? `${call.name}: ` : '')) + piece)
        show()
        return 'news'
      }
      case 'reset':
        clear()
        return 'news'
      case 'step': {
        clear()
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
        clear()
        return { end: parseJsonText<ExecutionRecord>(data) }
      default:
        return 'nothing'
    }
  })
}

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

/** The sums of the steps that have arrived, for a run whose record has them only at its end. */
export function withProgress(run: ExecutionRecord, steps: StepRecord[]): ExecutionRecord {
  if (run.status !== 'IN_PROGRESS' || steps.length === 0) return run
  const responses = steps.filter(({ usage }) => usage)
  const sum = (count: (step: StepRecord) => number | null | undefined) =>
    responses.reduce((total, step) => total + (count(step) ?? 0), 0)
  const isPriced = responses.every(({ costUsd }) => costUsd !== null)
  const called = steps.flatMap(({ toolCalls }) => toolCalls ?? []).map(({ attempt = 1 }) => attempt)
  return {
    ...run,
    steps: Math.max(run.steps, steps.length),
    attempts: Math.max(run.attempts, ...steps.map(({ attempt }) => attempt), ...called),
    model: responses.at(-1)?.model ?? run.model,
    usage: {
      ...run.usage,
      inputTokens: sum(({ usage }) => usage?.inputTokens),
      outputTokens: sum(({ usage }) => usage?.outputTokens),
      cachedInputTokens: sum(({ usage }) => usage?.cachedInputTokens),
      reasoningTokens: sum(({ usage }) => usage?.reasoningTokens),
    },
    costUsd: isPriced ? sum(({ costUsd }) => costUsd) : null,
  }
}
