import * as z from 'zod'

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

export type StepRecord = z.infer<typeof stepRecord>
