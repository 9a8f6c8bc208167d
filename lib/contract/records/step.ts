import * as z from 'zod'
import { attemptsAt, endOfStep, timeInBackoff } from '../../core/attempts.ts'
import { maskMacs } from '../../core/callback-mac.ts'
import { STOP_REASONS } from '../../core/model.ts'
import { type CallResult, type RecordedStep, WAIT_RESULT } from '../../core/step.ts'
import { callApprovalRecord, toCallApproval } from './approval.ts'
import { omittedValues, toUsageRecord, usageRecord } from './execution.ts'
import { nullableNumber, nullableTime, optionalId, optionalInt, optionalText, schema } from './fields.ts'

const toolCallRecord = /* @__PURE__ */ schema(() =>
  z.object({
    id: z.string(),
    name: z.string(),
    input: z.unknown(),
    result: z
      .unknown()
      .optional()
      .describe('The result of the tool. Absent while the call is in progress or if it failed.'),
    error: optionalText.describe('The error message that the model received.'),
    approval: callApprovalRecord
      .optional()
      .describe(
        'The approval that the call needs, with the decision once there is one. Absent if it needs none.',
      ),
    executionId: optionalId.describe('The execution of the agent that was called. Absent for other tools.'),
    replayed: z
      .literal(true)
      .optional()
      .describe('The call was not made: the result is that of the original execution. Absent otherwise.'),
    startedAt: z.iso.datetime().optional().describe('Absent while the call is in progress.'),
    durationMs: optionalInt.describe('Absent while the call is in progress.'),
    attempt: optionalInt.describe(
      'The attempt at the execution that made the call, from 1. Absent while it is in progress.',
    ),
  }),
)

const failedAttemptRecord = /* @__PURE__ */ schema(() =>
  z.object({
    error: z.object({
      name: z.string(),
      message: z.string(),
      code: optionalText,
      at: optionalText.describe('The position in the source of the agent.'),
    }),
    retryAt: nullableTime.describe('When the next attempt may begin. Null if none follows.'),
    startedAt: z.iso.datetime(),
    durationMs: z.int(),
    attempt: z.int().describe('The attempt at the execution that made it, from 1.'),
  }),
)

export const stepRecord = /* @__PURE__ */ schema(() =>
  z
    .object({
      number: z.int().describe('The position of the step, from 1.'),
      name: optionalText.describe('The name of a code agent step.'),
      result: z
        .unknown()
        .optional()
        .describe('The result of a code agent step, or of a wait that has ended.'),
      error: optionalText.describe(
        'The error message that a code agent step with options threw. Absent while another attempt follows.',
      ),
      attempts: optionalInt.describe(
        'How often a code agent step was attempted. Absent if its first attempt succeeded.',
      ),
      agent: optionalText.describe('The slug of the agent that the step runs.'),
      executionId: optionalId.describe('The execution of that agent. Absent while it is in progress.'),
      backoffMs: optionalInt.describe('The time between these attempts. Absent like `attempts`.'),
      failedAttempts: z.array(failedAttemptRecord).optional().describe('Absent like `attempts`.'),
      wait: z.looseObject({ kind: z.string() }).optional().describe('What a code agent waits for.'),
      skipped: z
        .array(z.object({ id: z.string(), reason: z.string() }))
        .optional()
        .describe('The signals that do not match the schema of the wait. Absent for none.'),
      text: optionalText.describe('The text of the model response.'),
      model: optionalText.describe('The model that responded.'),
      toolCalls: z.array(toolCallRecord).optional(),
      stopReason: z
        .enum(STOP_REASONS)
        .optional()
        .describe(
          'Why the model stopped. The calls of a response that reached the output limit (length), filled the context window or was refused are not executed.',
        ),
      clearedResults: optionalInt.describe(
        'How many of the oldest tool results of the run its request had cleared, with the arguments of their calls, because the context window filled. Absent for none.',
      ),
      replayed: z
        .literal(true)
        .optional()
        .describe(
          'The model was not asked: the response is that of the original execution, and has used nothing here. Absent otherwise.',
        ),
      usage: usageRecord.optional(),
      costUsd: nullableNumber
        .optional()
        .describe('The price of the model response in US dollars. Null if the model has no price.'),
      attempt: z
        .int()
        .describe(
          'The attempt at the execution that made the step, from 1. Later attempts resume the run where a worker stopped.',
        ),
      startedAt: z.iso.datetime(),
      finishedAt: z.iso.datetime(),
      durationMs: z.int(),
      omitted: omittedValues,
    })
    .meta({ id: 'Step' }),
)

export type StepRecord = z.infer<typeof stepRecord>

export function toStepRecord({ step, results }: RecordedStep): StepRecord {
  const { number, attempt = 1, startedAt, finishedAt } = step
  const times = { attempt, startedAt, finishedAt, durationMs: getDurationMs(step) }
  if (step.kind === 'CODE')
    return maskMacs({ number, name: step.name, ...toCodeStep({ step, results }, times) })
  if (step.kind === 'WAIT') {
    const { kind, ...wait } = step.wait
    const resultId = 'id' in wait ? wait.id : WAIT_RESULT
    const outcome = toOutcome(results.get(resultId))
    const skipped = [...results.values()].flatMap(({ signals }) => signals?.skipped ?? [])
    const others = { ...(skipped.length > 0 && { skipped }), ...times }
    return maskMacs({ number, name: step.name, wait: { kind, ...wait }, ...outcome, ...others })
  }
  const toolCalls = step.calls.map(({ id, name, input, error, approval }) => ({
    id,
    name,
    input,
    ...(error !== null && { error }),
    ...(approval && { approval: toCallApproval(approval, results.get(approval.id)) }),
    ...toOutcome(results.get(id)),
  }))
  const { text, model, usage, stopReason, clearedResults, replayed } = step
  return {
    number,
    text,
    toolCalls,
    ...(model && { model }),
    ...(stopReason && { stopReason }),
    ...(clearedResults && { clearedResults }),
    ...(replayed && { replayed: true as const }),
    ...toUsageRecord(usage),
    ...times,
  }
}

/** A step ends with the last of its attempts. */
function toCodeStep(
  recorded: RecordedStep,
  times: Pick<StepRecord, 'attempt' | 'startedAt' | 'finishedAt' | 'durationMs'>,
) {
  const { agent } = recorded.step as Extract<RecordedStep['step'], { kind: 'CODE' }>
  const attempts = attemptsAt(recorded)
  const end = endOfStep(recorded)
  const result = end && 'value' in end && { result: end.value }
  const { attempt = times.attempt, finishedAt = times.finishedAt } = attempts.at(-1) ?? {}
  if (attempts.length === 0 && agent === undefined) return { ...result, ...times }
  const executionId = attempts.at(-1)?.result.executionId
  return {
    ...(agent !== undefined && { agent }),
    ...(executionId !== undefined && { executionId }),
    ...result,
    ...(end && 'failed' in end && !end.failed.result.ok && { error: end.failed.result.error }),
    ...(agent === undefined && { attempts: attempts.length, backoffMs: timeInBackoff(attempts) }),
    ...(attempts.some(({ failure }) => failure) && { failedAttempts: attempts.flatMap(toFailedAttempt) }),
    attempt,
    startedAt: times.startedAt,
    finishedAt,
    durationMs: getDurationMs({ ...times, finishedAt }),
  }
}

function toFailedAttempt({ result, failure, attempt = 1, ...times }: CallResult) {
  if (result.ok || !failure) return []
  const { name, code, at, retryAt } = failure
  const error = { name, message: result.error, ...(code !== undefined && { code }), ...(at && { at }) }
  return [{ error, retryAt, startedAt: times.startedAt, durationMs: getDurationMs(times), attempt }]
}

function toOutcome(recorded: CallResult | undefined) {
  if (!recorded) return {}
  const { result, attempt = 1, startedAt } = recorded
  const outcome = result.ok ? { result: result.value } : { error: result.error }
  const { executionId, replayed } = result
  return {
    ...outcome,
    ...(executionId !== undefined && { executionId }),
    ...(replayed && { replayed: true as const }),
    startedAt,
    durationMs: getDurationMs(recorded),
    attempt,
  }
}

const getDurationMs = ({ startedAt, finishedAt }: { startedAt: string; finishedAt: string }) =>
  Math.max(Date.parse(finishedAt) - Date.parse(startedAt), 0)
