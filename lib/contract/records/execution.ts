import * as z from 'zod'
import { type Execution, type ExecutionSummary, SOURCES } from '../../core/execution.ts'
import { isUnused, type Usage, usageOfTree } from '../../core/model-usage.ts'
import { SELECTED_BY } from '../../core/rollout.ts'
import { toWaitingFor } from '../../core/wait.ts'
import {
  jsonObject,
  nullableInt,
  nullableNumber,
  nullableText,
  nullableTime,
  optionalId,
  optionalInt,
  optionalText,
  schema,
} from './fields.ts'

export const usageRecord = /* @__PURE__ */ schema(() =>
  z
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
    .meta({ id: 'Usage' }),
)

const feedbackRecord = /* @__PURE__ */ schema(() =>
  z
    .object({
      rating: z.literal([1, -1]).meta({ type: 'integer' }),
      correctedOutput: jsonObject.nullable(),
      note: nullableText,
      updatedAt: z.iso.datetime(),
    })
    .meta({ id: 'Feedback' }),
)

const scoreRecord = /* @__PURE__ */ schema(() =>
  z
    .object({
      agent: z.string().describe('The slug of the scorer.'),
      executionId: z.uuid().nullable().describe('Its run. Null if it could not be started.'),
      versionId: z.uuid().nullable(),
      score: nullableNumber.describe('From 0 to 1. Null without one; then `error` says why.'),
      reason: nullableText,
      error: z.object({ code: z.string(), message: z.string() }).nullable(),
    })
    .meta({ id: 'Score' }),
)

const inputAdaptation = /* @__PURE__ */ schema(() =>
  z.object({
    path: z.string().describe('JSON Pointer into the adapted input that the agent received.'),
    kind: z.enum(['renamed', 'unwrapped', 'converted', 'removed', 'defaulted']),
    from: optionalText.describe(
      'JSON Pointer into the input that was sent, or the type of the original value.',
    ),
    message: z.string(),
  }),
)

const waitRecord = /* @__PURE__ */ schema(() =>
  z
    .object({
      kind: z.enum(['approval', 'signal', 'sleep', 'retry', 'execution', 'limit']),
      name: z
        .string()
        .describe('The name of the wait in a code agent, of the step that is tried again, or of the tool.'),
      since: z.iso.datetime(),
      until: nullableTime.describe(
        'When the wait ends if nothing else ends it. Null: when the run may wait no longer.',
      ),
      id: optionalText.describe('The ID of the approval, or of the execution that it waits for.'),
      step: optionalInt.describe('The number of the step.'),
      signals: z.array(z.string()).optional().describe('The names of the signals that end the wait.'),
      url: optionalText.describe(
        'Of an approval, in events: where people decide in the console. Only a path without the setting `publicUrl`.',
      ),
    })
    .meta({ id: 'Wait' }),
)

export const omittedValues = /* @__PURE__ */ schema(() =>
  z
    .record(z.string(), z.int())
    .optional()
    .describe(
      'The values that `maxValueBytes` left out: their JSON Pointers, with their size in bytes of JSON. Absent if none were.',
    ),
)

const requestedOptions = /* @__PURE__ */ schema(() =>
  z.object({
    model: optionalText,
    maxAgentSteps: optionalInt,
    maxTokens: optionalInt,
    maxCostUsd: z.number().optional(),
    useDynamicLearning: z.boolean().describe('As it was for the execution, also if the version decided.'),
    useCache: z.boolean().describe('As it was for the execution, also if the version decided.'),
  }),
)

export const executionRecord = /* @__PURE__ */ schema(() =>
  z
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
      keys: z
        .record(z.string(), z.string())
        .optional()
        .describe(
          'Its values of the keys that its version declares, cut after 128 characters. Absent without any.',
        ),
      status: z.enum(['IN_PROGRESS', 'SUCCESS', 'ERROR']),
      source: z
        .enum(SOURCES)
        .describe(
          'API: a client started the execution. AGENT: another agent called this one as a tool. BATCH: it is a line of a batch. SCHEDULE: a schedule started it. TRIAL: it belongs to a trial, or is a rerun that takes something from the recording of its original. SCORE: it scores another execution.',
        ),
      originalExecutionId: optionalId.describe('The execution that it repeats, in a trial or a rerun.'),
      scoredExecutionId: optionalId.describe('The execution that it scores.'),
      trialId: optionalId.describe('The trial that it belongs to.'),
      batchId: optionalId.describe('The batch that it is a line of. Present only if source is BATCH.'),
      customId: optionalText.describe('The name that the client gave to the line of the batch.'),
      scheduleName: optionalText.describe(
        'The schedule that started it. Present only if source is SCHEDULE.',
      ),
      scheduledFor: z.iso.datetime().optional().describe('When the schedule was due.'),
      parentExecutionId: optionalId.describe(
        'The execution that called this one, that it scores, or whose trial had it scored.',
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
      model: nullableText.describe(
        'The model that was used, of several the last one. Null for a code agent.',
      ),
      learnedFrom: z.array(z.uuid()).describe('The past executions that the model was shown as examples.'),
      warnings: z
        .array(z.string())
        .optional()
        .describe(
          'What to know about the run: codes, some followed by a colon and details. ToolsNeverCalled: the agent has tools, and the model answered in text without calling any. TemperatureIgnored: the model does not accept the temperature of the document. ModelWithoutPrice: a limit in US dollars of its tenant or agent did not count the run. McpServerUnavailable: the run had no tools of this MCP server. McpToolsOmitted: it did without the tools that its server declares wrongly. Present only if there are any.',
        ),
      scores: z
        .array(scoreRecord)
        .optional()
        .describe('What its scorers say about it, once they have. Absent without any.'),
      feedback: feedbackRecord.nullable().describe('The feedback on the execution, if any.'),
      logs: nullableText.describe('What a code agent printed: the last 16,000 characters. Null if nothing.'),
      omitted: omittedValues,
    })
    .meta({ id: 'Execution' }),
)

/** In lists with `fields=summary`. */
export const executionSummaryRecord = /* @__PURE__ */ schema(() =>
  executionRecord
    .omit({ input: true, inputAdaptations: true, adaptedInput: true, output: true, feedback: true })
    .omit({ logs: true, omitted: true, requestedOptions: true })
    .meta({ id: 'ExecutionSummary' }),
)

/** For tokens that may change an execution, but not read it. */
const executionStateRecord = /* @__PURE__ */ schema(() =>
  executionRecord.pick({ id: true, status: true }).meta({ id: 'ExecutionState' }),
)

export const changedExecutionRecord = /* @__PURE__ */ schema(() =>
  z.union([executionRecord, executionStateRecord]),
)

/** One event of a stream, field by field. OpenAPI 3.1 has no way to say that a stream consists of them. */
export const sentEvent = /* @__PURE__ */ schema(() =>
  z
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
    .meta({ id: 'SentEvent', description: 'One server-sent event.' }),
)

export type UsageRecord = z.infer<typeof usageRecord>

export type ExecutionStateRecord = z.infer<typeof executionStateRecord>

export type WaitRecord = z.infer<typeof waitRecord>

export type ExecutionRecord = z.infer<typeof executionRecord>

export type ExecutionSummaryRecord = z.infer<typeof executionSummaryRecord>

export function toExecutionRecord(execution: Execution): ExecutionRecord {
  return {
    id: execution.id,
    documentId: execution.agentId,
    versionId: execution.versionId,
    selectedBy: execution.selectedBy,
    ...(execution.isDraft && { draft: true as const }),
    tenantId: execution.tenantId,
    ...(execution.keys.length > 0 && {
      keys: Object.fromEntries(execution.keys.map(({ name, value }) => [name, value])),
    }),
    status: execution.status,
    source: execution.source,
    tokenId: execution.tokenId,
    ...(execution.replay && { originalExecutionId: execution.replay.executionId }),
    ...(execution.scored && { scoredExecutionId: execution.scored.executionId }),
    ...toBatchLine(execution),
    ...(execution.schedule && {
      scheduleName: execution.schedule.name,
      scheduledFor: execution.schedule.at,
    }),
    ...(execution.parentExecutionId && { parentExecutionId: execution.parentExecutionId }),
    waitingFor: execution.suspension && toWaitingFor(execution.suspension.waits),
    input: execution.input,
    output: execution.output,
    error: execution.error,
    inputAdaptations: execution.inputAdaptations,
    cached: execution.cached,
    ...(execution.cachedExecutionId && { cachedDocumentExecutionId: execution.cachedExecutionId }),
    createdAt: execution.createdAt,
    startedAt: execution.startedAt,
    finishedAt: execution.finishedAt,
    attempts: execution.attempts,
    steps: execution.steps,
    ...toUsageRecord(execution.usage),
    // Code agents have no model. Without a price, the cost of a model is not known.
    ...((execution.steps === 0 || execution.model === null) && isUnused(execution.usage) && { costUsd: 0 }),
    ...toTotal(execution),
    model: execution.model,
    learnedFrom: execution.learnedFrom ?? [],
    ...(execution.warnings.length > 0 && { warnings: execution.warnings }),
    ...toScores(execution.scores),
    feedback: execution.feedback,
    logs: execution.logs,
  }
}

function toScores(all: Execution['scores']) {
  const scores = all.flatMap(({ result }) => result ?? [])
  return scores.length > 0 && { scores }
}

/** The lines of a trial are named by their originals. */
function toBatchLine({ batch, source }: Pick<Execution, 'batch' | 'source'>) {
  if (!batch) return {}
  return source === 'TRIAL' ? { trialId: batch.id } : { batchId: batch.id, customId: batch.customId }
}

const NO_PAYLOADS = { input: {}, output: null, inputAdaptations: [], feedback: null, logs: null }

export function toExecutionSummary(summary: ExecutionSummary): ExecutionSummaryRecord {
  const record = toExecutionRecord({ ...summary, ...NO_PAYLOADS })
  const { input, output, inputAdaptations, feedback, logs, ...others } = record
  return others
}

/** An item of a list, with payloads if they were read. */
export const toListedExecution = (item: Execution | ExecutionSummary) =>
  'input' in item ? toExecutionRecord(item) : toExecutionSummary(item)

/** With the agents that it called as tools. */
function toTotal(execution: Execution) {
  const total = toUsageRecord(usageOfTree(execution) ?? { ...execution.usage, costUsd: 0 })
  return { totalUsage: total.usage, totalCostUsd: total.costUsd }
}

/** The tokens and the cost, which a record has next to each other. */
export function toUsageRecord(usage: Usage): { usage: UsageRecord; costUsd: number | null } {
  const { inputTokens, outputTokens, costUsd = null, estimated } = usage
  const { cachedInputTokens = null, cacheWriteTokens = null, reasoningTokens = null } = usage
  return {
    usage: {
      inputTokens,
      outputTokens,
      cachedInputTokens,
      cacheWriteTokens,
      reasoningTokens,
      ...(estimated && { estimated }),
    },
    costUsd,
  }
}
