import * as z from 'zod'
import type { CallResult, RecordedStep } from '../core/step.ts'

const usage = z.object({ inputTokens: z.int(), outputTokens: z.int() })

const toolCallRecord = z.object({
  id: z.string(),
  name: z.string(),
  input: z.unknown(),
  result: z
    .unknown()
    .optional()
    .meta({ description: 'What the tool gave; absent while it runs or when it failed.' }),
  error: z.string().optional().meta({ description: 'What went wrong, as the model was told.' }),
  durationMs: z.int().optional().meta({ description: 'Absent while it runs.' }),
})

export const stepRecord = z
  .object({
    number: z.int().meta({ description: 'From 1.' }),
    name: z.string().optional().meta({ description: 'Of a code agent’s step.' }),
    result: z.unknown().optional().meta({ description: 'What a code agent’s step gave.' }),
    text: z.string().optional().meta({ description: 'What the model said.' }),
    toolCalls: z.array(toolCallRecord).optional(),
    usage: usage.optional(),
    startedAt: z.iso.datetime(),
    finishedAt: z.iso.datetime(),
    durationMs: z.int(),
  })
  .meta({ id: 'Step' })

export function toStepRecord({ step, results }: RecordedStep): z.infer<typeof stepRecord> {
  const { number, startedAt, finishedAt } = step
  const times = { startedAt, finishedAt, durationMs: durationOf(step) }
  if (step.kind === 'CODE') return { number, name: step.name, result: step.value, ...times }
  const toolCalls = step.calls.map(({ id, name, input, error }) => ({
    id,
    name,
    input,
    ...(error !== null && { error }),
    ...outcomeOf(results.get(id)),
  }))
  return { number, text: step.text, toolCalls, usage: step.usage, ...times }
}

function outcomeOf(recorded: CallResult | undefined) {
  if (!recorded) return {}
  const { result } = recorded
  const outcome = result.ok ? { result: result.value } : { error: result.error }
  return { ...outcome, durationMs: durationOf(recorded) }
}

const durationOf = ({ startedAt, finishedAt }: { startedAt: string; finishedAt: string }) =>
  Math.max(Date.parse(finishedAt) - Date.parse(startedAt), 0)
