import type { StepRecord } from '../../lib/api/schemas/execution-record.ts'

/** The data of a `tool` event: a call of a step. */
export type CallEvent = NonNullable<StepRecord['toolCalls']>[number] & { step: number }

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
