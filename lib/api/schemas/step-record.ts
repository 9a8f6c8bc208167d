import * as z from 'zod'
import { STOP_REASONS } from '../../core/model.ts'
import { usageRecord } from './usage-record.ts'

const toolCallRecord = z.object({
  id: z.string(),
  name: z.string(),
  input: z.unknown(),
  result: z
    .unknown()
    .optional()
    .meta({ description: 'The result of the tool. Absent while the call is in progress or if it failed.' }),
  error: z.string().optional().meta({ description: 'The error message that the model received.' }),
  executionId: z
    .uuid()
    .optional()
    .meta({ description: 'The execution of the agent that was called. Absent for other tools.' }),
  startedAt: z.iso.datetime().optional().meta({ description: 'Absent while the call is in progress.' }),
  durationMs: z.int().optional().meta({ description: 'Absent while the call is in progress.' }),
  attempt: z.int().optional().meta({
    description: 'The attempt at the execution that made the call, from 1. Absent while it is in progress.',
  }),
})

export const stepRecord = z
  .object({
    number: z.int().meta({ description: 'The position of the step, from 1.' }),
    name: z.string().optional().meta({ description: 'The name of a code agent step.' }),
    result: z.unknown().optional().meta({ description: 'The result of a code agent step.' }),
    text: z.string().optional().meta({ description: 'The text of the model response.' }),
    toolCalls: z.array(toolCallRecord).optional(),
    stopReason: z.enum(STOP_REASONS).optional().meta({
      description:
        'Why the model stopped. The calls of a response that reached the output limit (length), filled the context window or was refused are not executed.',
    }),
    usage: usageRecord.optional(),
    costUsd: z.number().nullable().optional().meta({
      description: 'The price of the model response in US dollars. Null if the model has no price.',
    }),
    attempt: z.int().meta({
      description:
        'The attempt at the execution that made the step, from 1. Later attempts resume the run where a worker stopped.',
    }),
    startedAt: z.iso.datetime(),
    finishedAt: z.iso.datetime(),
    durationMs: z.int(),
  })
  .meta({ id: 'Step' })

export type StepRecord = z.infer<typeof stepRecord>
