import * as z from 'zod'
import { feedbackRecord } from './feedback-record.ts'

const jsonObject = z.record(z.string(), z.unknown())

const inputAdaptation = z.object({
  path: z.string().meta({ description: 'JSON Pointer of the place in the input that the agent got.' }),
  kind: z.enum(['renamed', 'unwrapped', 'converted', 'defaulted']),
  from: z
    .string()
    .optional()
    .meta({ description: 'JSON Pointer of the place in the input that was sent, or the type that it had.' }),
  message: z.string(),
})

export const executionRecord = z
  .object({
    id: z.uuid().meta({ description: 'Used to poll.' }),
    documentId: z.uuid().meta({ description: 'The agent that ran.' }),
    versionId: z.uuid(),
    tenantId: z.string().nullable(),
    status: z.enum(['IN_PROGRESS', 'SUCCESS', 'ERROR']),
    source: z
      .enum(['API', 'AGENT'])
      .meta({ description: 'A client of this interface, or an agent that has this one as a tool.' }),
    parentExecutionId: z
      .uuid()
      .optional()
      .meta({ description: 'The execution that called it; only when source is AGENT.' }),
    input: jsonObject.meta({ description: 'The input that was sent.' }),
    output: jsonObject.nullable().meta({ description: 'The result; null until status is SUCCESS.' }),
    error: z
      .looseObject({ code: z.string(), message: z.string() })
      .nullable()
      .meta({ description: 'What went wrong; null unless status is ERROR.' }),
    inputAdaptations: z.array(inputAdaptation).meta({
      description: 'What was changed in the input so that it fits the input schema.',
    }),
    cached: z.boolean().meta({ description: 'Whether the result came from an earlier execution.' }),
    cachedDocumentExecutionId: z
      .uuid()
      .optional()
      .meta({ description: 'The execution whose result was reused; only when cached.' }),
    createdAt: z.iso.datetime(),
    startedAt: z.iso.datetime().nullable(),
    finishedAt: z.iso.datetime().nullable(),
    steps: z.int().meta({ description: 'Model responses so far.' }),
    usage: z.object({ inputTokens: z.int(), outputTokens: z.int() }),
    model: z.string().nullable().meta({ description: 'The model that ran; null for a code agent.' }),
    learnedFrom: z
      .array(z.uuid())
      .meta({ description: 'The past executions whose results the model was shown as examples.' }),
    feedback: feedbackRecord.nullable().meta({ description: 'What was said of it; null until then.' }),
  })
  .meta({ id: 'Execution' })

export type ExecutionRecord = z.infer<typeof executionRecord>
