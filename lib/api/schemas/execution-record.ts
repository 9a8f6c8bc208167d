import * as z from 'zod'
import { usageRecord } from './usage-record.ts'

const jsonObject = z.record(z.string(), z.unknown())

const feedbackRecord = z
  .object({
    rating: z.literal([1, -1]).meta({ type: 'integer' }),
    correctedOutput: jsonObject.nullable(),
    note: z.string().nullable(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: 'Feedback' })

const inputAdaptation = z.object({
  path: z.string().meta({ description: 'JSON Pointer into the adapted input that the agent received.' }),
  kind: z.enum(['renamed', 'unwrapped', 'converted', 'removed', 'defaulted']),
  from: z
    .string()
    .optional()
    .meta({ description: 'JSON Pointer into the input that was sent, or the type of the original value.' }),
  message: z.string(),
})

export const executionRecord = z
  .object({
    id: z.uuid().meta({ description: 'The ID of the execution, for polling.' }),
    documentId: z.uuid().meta({ description: 'The agent that ran.' }),
    versionId: z.uuid(),
    tenantId: z.string().nullable(),
    status: z.enum(['IN_PROGRESS', 'SUCCESS', 'ERROR']),
    source: z.enum(['API', 'AGENT']).meta({
      description: 'API: a client started the execution. AGENT: another agent called this one as a tool.',
    }),
    parentExecutionId: z
      .uuid()
      .optional()
      .meta({ description: 'The execution that called this one. Present only if source is AGENT.' }),
    input: jsonObject.meta({ description: 'The input that was sent.' }),
    output: jsonObject.nullable().meta({ description: 'The result. Null until status is SUCCESS.' }),
    error: z
      .looseObject({ code: z.string(), message: z.string() })
      .nullable()
      .meta({ description: 'Why the execution failed. Null unless status is ERROR.' }),
    inputAdaptations: z.array(inputAdaptation).meta({
      description: 'The changes that made the input match the input schema.',
    }),
    adaptedInput: jsonObject.optional().meta({
      description:
        'The input that the agent received. Present only if it was requested with `adaptedInput=true` and differs from the one that was sent.',
    }),
    cached: z.boolean().meta({ description: 'Whether the result of an earlier execution was reused.' }),
    cachedDocumentExecutionId: z
      .uuid()
      .optional()
      .meta({ description: 'The execution whose result was reused. Present only if cached is true.' }),
    createdAt: z.iso.datetime(),
    startedAt: z.iso.datetime().nullable(),
    finishedAt: z.iso.datetime().nullable(),
    attempts: z.int().meta({
      description: 'How often a worker has begun or resumed the run. 0 while it waits for the first one.',
    }),
    steps: z.int().meta({ description: 'The number of model responses. 0 for a code agent.' }),
    usage: usageRecord,
    costUsd: z.number().nullable().meta({
      description:
        'The price of the model responses in US dollars, without those of agents called as tools. Null if the model has no price.',
    }),
    model: z.string().nullable().meta({ description: 'The model that was used. Null for a code agent.' }),
    learnedFrom: z
      .array(z.uuid())
      .meta({ description: 'The past executions that the model was shown as examples.' }),
    feedback: feedbackRecord.nullable().meta({ description: 'The feedback on the execution, if any.' }),
    logs: z
      .string()
      .nullable()
      .meta({ description: 'What a code agent printed: the last 16,000 characters. Null if nothing.' }),
  })
  .meta({ id: 'Execution' })

/** In lists with `fields=summary`. */
export const executionSummaryRecord = executionRecord
  .omit({ input: true, inputAdaptations: true, adaptedInput: true, output: true, feedback: true, logs: true })
  .meta({ id: 'ExecutionSummary' })

/** For tokens that may change an execution, but not read it. */
const executionStateRecord = executionRecord.pick({ id: true, status: true }).meta({ id: 'ExecutionState' })

export const changedExecutionRecord = z.union([executionRecord, executionStateRecord])

export type ExecutionStateRecord = z.infer<typeof executionStateRecord>
export type ExecutionRecord = z.infer<typeof executionRecord>
export type ExecutionSummaryRecord = z.infer<typeof executionSummaryRecord>
