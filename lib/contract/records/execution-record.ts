import * as z from 'zod'
import { SOURCES } from '../../core/execution.ts'
import { STOP_REASONS } from '../../core/model.ts'
import { SELECTED_BY } from '../../core/rollout.ts'

const optionalId = z.uuid().optional()
const optionalText = z.string().optional()
const nullableText = z.string().nullable()
const nullableInt = z.int().nullable()
const optionalInt = z.int().optional()
const nullableTime = z.iso.datetime().nullable()
const nullableNumber = z.number().nullable()

const jsonObject = z.record(z.string(), z.unknown())

export const usageRecord = z
  .object({
    inputTokens: z.int().describe('Includes the cached and the cache write tokens.'),
    outputTokens: z.int().describe('Includes the reasoning tokens.'),
    cachedInputTokens: nullableInt.describe(
      "Read from the provider's prompt cache. Null if the provider does not report them.",
    ),
    cacheWriteTokens: nullableInt.describe(
      "Written to the provider's prompt cache. Null if the provider does not report them.",
    ),
    reasoningTokens: nullableInt.describe('Null if the provider does not report them.'),
    estimated: z
      .literal(true)
      .optional()
      .describe('A part is estimated because a provider did not report it. Absent if nothing is.'),
  })
  .meta({ id: 'Usage' })

const feedbackRecord = z
  .object({
    rating: z.literal([1, -1]).meta({ type: 'integer' }),
    correctedOutput: jsonObject.nullable(),
    note: nullableText,
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: 'Feedback' })

const inputAdaptation = z.object({
  path: z.string().describe('JSON Pointer into the adapted input that the agent received.'),
  kind: z.enum(['renamed', 'unwrapped', 'converted', 'removed', 'defaulted']),
  from: optionalText.describe(
    'JSON Pointer into the input that was sent, or the type of the original value.',
  ),
  message: z.string(),
})

const waitRecord = z
  .object({
    kind: z.enum(['approval', 'signal', 'sleep', 'execution', 'limit']),
    name: z.string().describe('The name of the wait in a code agent, or of the tool.'),
    since: z.iso.datetime(),
    until: nullableTime.describe(
      'When the wait ends if nothing else ends it. Null: when the run may wait no longer.',
    ),
    id: optionalText.describe('The ID of the approval, or of the execution that it waits for.'),
    step: optionalInt.describe('The number of the step.'),
    signals: z.array(z.string()).optional().describe('The names of the signals that end the wait.'),
  })
  .meta({ id: 'Wait' })

const omittedValues = z
  .record(z.string(), z.int())
  .optional()
  .describe(
    'The values that `maxValueBytes` left out: their JSON Pointers, with their size in bytes of JSON. Absent if none were.',
  )

const requestedOptions = z.object({
  model: optionalText,
  maxAgentSteps: optionalInt,
  maxTokens: optionalInt,
  maxCostUsd: z.number().optional(),
  useDynamicLearning: z.boolean().describe('As it was for the execution, also if the version decided.'),
  useCache: z.boolean().describe('As it was for the execution, also if the version decided.'),
})

export const executionRecord = z
  .object({
    id: z.uuid().describe('The ID of the execution, for polling.'),
    documentId: z.uuid().describe('The agent that ran.'),
    versionId: z.uuid(),
    selectedBy: z
      .enum(SELECTED_BY)
      .describe(
        'Why it has this version. CURRENT: it was the current version of the agent. ROLLOUT: a rollout selected it. REQUEST: the request named it.',
      ),
    draft: z
      .literal(true)
      .optional()
      .describe('The version was a draft when the execution was accepted. Absent otherwise.'),
    tenantId: nullableText,
    status: z.enum(['IN_PROGRESS', 'SUCCESS', 'ERROR']),
    source: z
      .enum(SOURCES)
      .describe(
        'API: a client started the execution. AGENT: another agent called this one as a tool. BATCH: it is a line of a batch. SCHEDULE: a schedule started it. TRIAL: it belongs to a trial, or is a rerun that takes something from the recording of its original.',
      ),
    originalExecutionId: optionalId.describe('The execution that it repeats, in a trial or a rerun.'),
    trialId: optionalId.describe('The trial that it belongs to.'),
    batchId: optionalId.describe('The batch that it is a line of. Present only if source is BATCH.'),
    customId: optionalText.describe('The name that the client gave to the line of the batch.'),
    scheduleName: optionalText.describe('The schedule that started it. Present only if source is SCHEDULE.'),
    scheduledFor: z.iso.datetime().optional().describe('When the schedule was due.'),
    parentExecutionId: optionalId.describe(
      'The execution that called this one. Present only if source is AGENT.',
    ),
    tokenId: z
      .uuid()
      .nullable()
      .describe('The token that started the execution, or the one that called it. Null if no token did.'),
    waitingFor: z
      .array(waitRecord)
      .nullable()
      .describe('What a suspended execution waits for: at most 1 kB of it. Null unless it is suspended.'),
    input: jsonObject.describe('The input that was sent.'),
    output: jsonObject.nullable().describe('The result. Null until status is SUCCESS.'),
    error: z
      .looseObject({ code: z.string(), message: z.string() })
      .nullable()
      .describe('Why the execution failed. Null unless status is ERROR.'),
    inputAdaptations: z
      .array(inputAdaptation)
      .describe('The changes that made the input match the input schema.'),
    adaptedInput: jsonObject
      .optional()
      .describe(
        'The input that the agent received. Present only if it was requested with `adaptedInput=true` and differs from the one that was sent.',
      ),
    requestedOptions: requestedOptions
      .optional()
      .describe(
        'What the request chose in place of the settings of its version. Present only if it was requested with `requestedOptions=true`.',
      ),
    cached: z.boolean().describe('Whether the result of an earlier execution was reused.'),
    cachedDocumentExecutionId: optionalId.describe(
      'The execution whose result was reused. Present only if cached is true.',
    ),
    createdAt: z.iso.datetime(),
    startedAt: nullableTime,
    finishedAt: nullableTime,
    attempts: z
      .int()
      .describe('How often a worker has begun or resumed the run. 0 while it waits for the first one.'),
    steps: z.int().describe('The number of steps: model responses, or steps and waits of a code agent.'),
    usage: usageRecord,
    costUsd: nullableNumber.describe(
      'The price of the model responses in US dollars, without those of agents called as tools. Null if the model has no price.',
    ),
    totalUsage: usageRecord.describe('With the agents called as tools, as soon as their calls have ended.'),
    totalCostUsd: nullableNumber.describe(
      'The same in US dollars. Null if the model, or that of an agent, has no price.',
    ),
    model: nullableText.describe('The model that was used, of several the last one. Null for a code agent.'),
    learnedFrom: z.array(z.uuid()).describe('The past executions that the model was shown as examples.'),
    warnings: z
      .array(z.string())
      .optional()
      .describe(
        'What to know about the run: codes, some followed by a colon and details. ToolsNeverCalled: the agent has tools, and the model answered in text without calling any. TemperatureIgnored: the model does not accept the temperature of the document. ModelWithoutPrice: a limit in US dollars of its tenant or agent did not count the run. McpServerUnavailable: the run had no tools of this MCP server. McpToolsOmitted: it did without the tools that its server declares wrongly. Present only if there are any.',
      ),
    feedback: feedbackRecord.nullable().describe('The feedback on the execution, if any.'),
    logs: nullableText.describe('What a code agent printed: the last 16,000 characters. Null if nothing.'),
    omitted: omittedValues,
  })
  .meta({ id: 'Execution' })

/** In lists with `fields=summary`. */
export const executionSummaryRecord = executionRecord
  .omit({ input: true, inputAdaptations: true, adaptedInput: true, output: true, feedback: true })
  .omit({ logs: true, omitted: true, requestedOptions: true })
  .meta({ id: 'ExecutionSummary' })

/** For tokens that may change an execution, but not read it. */
const executionStateRecord = executionRecord.pick({ id: true, status: true }).meta({ id: 'ExecutionState' })

export const changedExecutionRecord = z.union([executionRecord, executionStateRecord])

const decisionFields = {
  decision: z.enum(['approve', 'reject', 'timeout']),
  by: nullableText.describe(
    'The name and the short ID of the token that decided: `Ann (01a2003a…9251)`. Null after a timeout.',
  ),
  note: nullableText,
  decidedAt: z.iso.datetime(),
  input: jsonObject.nullable().describe('What the approver replaced the input by. Null if it is unchanged.'),
}

export const decisionRecord = z
  .object({
    id: z.string().describe('The ID of the approval.'),
    executionId: z.uuid(),
    ...decisionFields,
    decision: z.enum(['approve', 'reject']),
  })
  .meta({ id: 'Decision' })

export const approvalRecord = z
  .object({
    id: z.string(),
    executionId: z.uuid(),
    documentId: z.uuid().describe('The agent that asks.'),
    versionId: z.uuid(),
    tenantId: nullableText,
    name: z.string().describe('The name of the tool, or of the wait in a code agent.'),
    title: z.string(),
    input: z
      .unknown()
      .optional()
      .describe(
        'The arguments of the call with their defaults, or the data of the wait. Absent in a summary.',
      ),
    inputSchema: jsonObject
      .nullable()
      .optional()
      .describe(
        'The JSON Schema that an edited input must match. Null for the wait of a code agent, whose data can be any object. Absent in a summary.',
      ),
    mayDecide: z
      .boolean()
      .describe(
        'Whether this token may decide. False without the scope `approve`. If the tool says `notByCaller`, also false for the token that started the execution, and for every token that it or the same person has created.',
      ),
    since: z.iso.datetime(),
    until: z.iso.datetime(),
    step: z.int().describe('The number of the step.'),
  })
  .meta({ id: 'Approval' })

const callApprovalRecord = z.object({
  id: z.string(),
  until: z.iso.datetime(),
  ...z.object(decisionFields).partial().shape,
})

const toolCallRecord = z.object({
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
})

export const stepRecord = z
  .object({
    number: z.int().describe('The position of the step, from 1.'),
    name: optionalText.describe('The name of a code agent step.'),
    result: z.unknown().optional().describe('The result of a code agent step, or of a wait that has ended.'),
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
  .meta({ id: 'Step' })

const differenceRecord = z.object({
  path: z
    .string()
    .describe(
      'JSON Pointer into the record of the execution (`/output`, `/error`), or into that of the step.',
    ),
  left: z
    .unknown()
    .optional()
    .describe('Absent if there is no such value. More than 200 characters are cut.'),
  right: z.unknown().optional(),
})

const comparedFields = {
  differences: z.array(differenceRecord).describe('The first ones.'),
  isCut: z.literal(true).optional().describe('There are more differences. Absent otherwise.'),
}

export const comparisonRecord = z
  .object({
    left: executionSummaryRecord,
    right: executionSummaryRecord,
    request: z
      .object(comparedFields)
      .describe('What differs in the inputs as they were sent (`/input`), and in the options (`/options`).'),
    ...comparedFields,
    steps: z
      .array(
        z.object({
          number: nullableInt.describe('Null if only the other execution has the step.'),
          otherNumber: nullableInt.describe(
            'In the other execution; null if it has no such step. Steps of code agents are compared by name.',
          ),
          name: optionalText.describe('The name of a code agent step: the first 200 characters.'),
          isSame: z.boolean(),
          ...comparedFields,
        }),
      )
      .describe(
        'In the order of the left execution, then those that only the other one has. Texts, stop reasons, tool calls and results are compared.',
      ),
    hasMoreSteps: z.boolean().describe('Whether there are more steps than these, which were not compared.'),
  })
  .meta({ id: 'ExecutionComparison' })

/** One event of a stream, field by field. OpenAPI 3.1 has no way to say that a stream consists of them. */
export const sentEvent = z
  .object({
    event: z
      .string()
      .describe(
        'status, step, tool, waiting or done for an execution; message for the Model Context Protocol.',
      ),
    data: z
      .string()
      .describe(
        'JSON. status: `id` and `status`. step: a record of the list of steps. tool: a tool call of a step, and its number as `step`. waiting: `id` and `waitingFor`. done: the execution.',
      ),
    id: optionalText.describe('The number of the last step, for `Last-Event-ID`. Only `step` sets it.'),
  })
  .meta({ id: 'SentEvent', description: 'One server-sent event.' })

export type UsageRecord = z.infer<typeof usageRecord>
export type ExecutionStateRecord = z.infer<typeof executionStateRecord>
export type WaitRecord = z.infer<typeof waitRecord>
export type ExecutionRecord = z.infer<typeof executionRecord>
export type ExecutionSummaryRecord = z.infer<typeof executionSummaryRecord>
export type DecisionRecord = z.infer<typeof decisionRecord>
export type ApprovalRecord = z.infer<typeof approvalRecord>
export type StepRecord = z.infer<typeof stepRecord>
export type ComparisonRecord = z.infer<typeof comparisonRecord>
