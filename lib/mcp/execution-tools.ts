import * as z from 'zod'
import { audited } from '../access/audit-log.ts'
import { suggestSlug } from '../agents/visible-agents.ts'
import { executionPageParameters } from '../contract/parameters/executions.ts'
import {
  changedExecutionRecord,
  executionRecord,
  executionSummaryRecord,
  toExecutionRecord,
  toExecutionSummary,
} from '../contract/records/execution.ts'
import { toSeenRecord } from '../contract/records/seen.ts'
import { actorOf, targetOf } from '../core/audit-request.ts'
import { encodeCursor } from '../core/cursor.ts'
import { describeMedia } from '../core/describe-media.ts'
import type { JsonObject } from '../core/json/json.ts'
import { PAGE_SIZE } from '../core/limits.ts'
import { cancelExecution } from '../engine/executions/change-execution.ts'
import { listExecutions } from '../engine/executions/list-executions.ts'
import { readExecution } from '../engine/executions/read-execution.ts'
import { EXECUTION_ID, type ServiceTool, serviceTool } from './service-tool.ts'
import { type McpEngine, type ToolCall, toResult, toToolError } from './tool-call.ts'
import { DECIDE_APPROVAL, SEND_SIGNAL } from './waiting-tools.ts'

export type ServiceTools = Map<string, ServiceTool>

/** The tools for executions, with the longest wait that the engine allows. */
export function executionTools(syncDeadlineMs: number): ServiceTools {
  const maxSeconds = Math.floor(syncDeadlineMs / 1000)
  const tools = [getExecution(maxSeconds), CANCEL_EXECUTION, LIST_EXECUTIONS, DECIDE_APPROVAL, SEND_SIGNAL]
  return new Map(tools.map((tool) => [tool.declaration.name, tool]))
}

const getExecution = (maxSeconds: number) =>
  serviceTool({
    name: 'get_execution',
    title: 'Get an execution',
    description:
      'Returns the record of a run of an agent: its status, what it waits for, and its output or error.',
    input: z.strictObject({
      executionId: EXECUTION_ID,
      waitSeconds: z
        .int()
        .min(0)
        .max(maxSeconds)
        .optional()
        .describe('How long to wait until the execution is final. Default: 0.'),
    }),
    output: executionRecord,
    annotations: { readOnlyHint: true, openWorldHint: false },
    scope: 'read',
    async run(engine, { access, cancelled }, { executionId, waitSeconds = 0 }) {
      const params = { access, executionId, waitSeconds, signal: cancelled }
      const { execution } = await readExecution(engine, params)
      return toResult(withoutFiles(toExecutionRecord(execution)))
    },
  })

const CANCEL_EXECUTION = serviceTool({
  name: 'cancel_execution',
  title: 'Cancel an execution',
  description:
    'Cancels a run that is in progress and returns its record; its ID and status if the token may not read it. A final execution does not change.',
  input: z.strictObject({ executionId: EXECUTION_ID }),
  output: changedExecutionRecord,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  scope: 'run',
  async run(engine, call, { executionId }) {
    const record = toExecutionRecord(await cancelRecorded(engine, call, executionId))
    return toResult(withoutFiles(toSeenRecord(record, call.access)))
  },
})

/** Cancels an execution, which the audit log records. */
export function cancelRecorded(
  engine: McpEngine,
  { access, source }: Pick<ToolCall, 'access' | 'source'>,
  executionId: string,
) {
  const { organizationId } = access
  const action = 'execution.cancel'
  const target = targetOf(action, organizationId, { executionId })
  return audited(
    engine,
    { organizationId, actor: actorOf(access), source, action, target, changes: {} },
    () => cancelExecution(engine, { access, executionId }),
  )
}

const { tenantId, key, errorCode, errorText, version, source, model } = executionPageParameters.shape
const SEARCH = { errorCode, errorText, version, source, model }
/** The rules of the HTTP parameters, of which JSON Schema cannot express all. */
const FILTERS = z.object({ tenantId, key, ...SEARCH })

const LIST_EXECUTIONS = serviceTool({
  name: 'list_executions',
  title: 'List executions',
  description: 'Lists runs of agents without their inputs and outputs, newest first.',
  input: z.strictObject({
    agent: z.string().optional().describe('Only runs of this agent: the name of its tool.'),
    status: executionRecord.shape.status.optional().describe('Only runs with this status.'),
    tenantId: z.string().min(1).max(128).optional().describe('Only runs of this tenant.'),
    key,
    ...SEARCH,
    limit: z.int().min(PAGE_SIZE.min).max(PAGE_SIZE.max).optional().meta({ default: PAGE_SIZE.default }),
    cursor: z.string().optional().describe('The nextCursor of the previous page.'),
  }),
  output: z.object({
    executions: z.array(executionSummaryRecord),
    nextCursor: z.string().optional(),
    searchedUntil: z
      .string()
      .optional()
      .describe('With a filter that looks at a limited number of runs: when the last of them was created.'),
  }),
  annotations: { readOnlyHint: true, openWorldHint: false },
  scope: 'read',
  async run(engine, { access }, input) {
    const { data: filters, error } = FILTERS.safeParse(input)
    if (error)
      return toToolError(error.issues.map(({ path, message }) => `${path.join('/')} ${message}.`).join(' '))
    const query = { ...input, ...filters, fields: 'summary' } as const
    const page = await listExecutions(engine, access, query).catch(async (error: unknown) => {
      throw await suggestSlug(engine.agents)(error, access, input.agent ?? '')
    })
    return toResult({
      executions: page.items.map(toExecutionSummary),
      ...(page.next && { nextCursor: encodeCursor(page.next) }),
      ...(page.searched?.until && { searchedUntil: page.searched.until }),
    })
  },
})

/** The base64 of files would fill the context of the model that reads the result. */
const withoutFiles = <Record extends object>(record: Record): Record =>
  'input' in record ? { ...record, input: describeMedia(record.input as JsonObject) } : record
