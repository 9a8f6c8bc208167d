import type { CallResult, RecordedStep } from '../../core/step.ts'
import type { StepRecord } from '../schemas/step-record.ts'
import { toUsageRecord } from './to-usage-record.ts'

export function toStepRecord({ step, results }: RecordedStep): StepRecord {
  const { number, attempt = 1, startedAt, finishedAt } = step
  const times = { attempt, startedAt, finishedAt, durationMs: getDurationMs(step) }
  if (step.kind === 'CODE') return { number, name: step.name, result: step.value, ...times }
  const toolCalls = step.calls.map(({ id, name, input, error }) => ({
    id,
    name,
    input,
    ...(error !== null && { error }),
    ...toOutcome(results.get(id)),
  }))
  const { text, usage, stopReason } = step
  return { number, text, toolCalls, ...(stopReason && { stopReason }), ...toUsageRecord(usage), ...times }
}

function toOutcome(recorded: CallResult | undefined) {
  if (!recorded) return {}
  const { result, attempt = 1, startedAt } = recorded
  const outcome = result.ok ? { result: result.value } : { error: result.error }
  const { executionId } = result
  return {
    ...outcome,
    ...(executionId !== undefined && { executionId }),
    startedAt,
    durationMs: getDurationMs(recorded),
    attempt,
  }
}

const getDurationMs = ({ startedAt, finishedAt }: { startedAt: string; finishedAt: string }) =>
  Math.max(Date.parse(finishedAt) - Date.parse(startedAt), 0)
