import * as z from 'zod'
import { STOP_REASONS } from '../../core/model.ts'

const jsonObject = z.record(z.string(), z.unknown())

const reported = z.int().nullable()

export const usageRecord = z
  .object({
    inputTokens: z.int().meta({ description: 'Includes the cached and the cache write tokens.' }),
    outputTokens: z.int().meta({ description: 'Includes the reasoning tokens.' }),
    cachedInputTokens: reported.meta({
      description: "Read from the provider's prompt cache. Null if the provider does not report them.",
    }),
    cacheWriteTokens: reported.meta({
      description: "Written to the provider's prompt cache. Null if the provider does not report them.",
    }),
    reasoningTokens: reported.meta({ description: 'Null if the provider does not report them.' }),
  })
  .meta({ id: 'Usage' })

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

/** One event of a stream, field by field. OpenAPI 3.1 has no way to say that a stream consists of them. */
export const sentEvent = z
  .object({
    event: z.string().meta({
      description: 'status, step, tool or done for an execution; message for the Model Context Protocol.',
    }),
    data: z.string().meta({
      description:
        'JSON. status: `id` and `status`. step: a record of the list of steps. tool: a tool call of a step, and its number as `step`. done: the execution.',
    }),
    id: z
      .string()
      .optional()
      .meta({ description: 'The number of the last step, for `Last-Event-ID`. Only `step` sets it.' }),
  })
  .meta({ id: 'SentEvent', description: 'One server-sent event.' })

export type UsageRecord = z.infer<typeof usageRecord>
export type ExecutionStateRecord = z.infer<typeof executionStateRecord>
export type ExecutionRecord = z.infer<typeof executionRecord>
export type ExecutionSummaryRecord = z.infer<typeof executionSummaryRecord>
export type StepRecord = z.infer<typeof stepRecord>
