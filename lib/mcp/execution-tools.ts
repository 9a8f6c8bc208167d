import type { CallToolResult, Tool } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { suggestSlug } from '../agents/visible-agents.ts'
import { runParameters } from '../api/parameters.ts'
import {
  changedExecutionRecord,
  executionRecord,
  executionSummaryRecord,
} from '../api/schemas/execution-record.ts'
import { toChangedRecord, toExecutionRecord, toExecutionSummary } from '../api/to-execution-record.ts'
import type { Scope } from '../core/access.ts'
import { encodeCursor } from '../core/cursor.ts'
import { describeMedia } from '../core/describe-media.ts'
import type { JsonObject } from '../core/json/json.ts'
import { PAGE_SIZE } from '../core/limits.ts'
import { cancelExecution } from '../engine/executions/change-execution.ts'
import { listExecutions } from '../engine/executions/list-executions.ts'
import { readExecution } from '../engine/executions/read-execution.ts'
import { compileStrictValidator } from '../schema/validate/validate.ts'
import { toObjectSchema } from './agent-tools.ts'
import { type McpEngine, type ToolCall, toArgumentsError, toResult, toToolError } from './tool-call.ts'

/** A tool that is not an agent. Slugs have no underscores, so that names never collide. */
type ServiceTool = {
  declaration: Tool
  /** What a token needs to call it. */
  scope: Scope
  run: (engine: McpEngine, call: ToolCall) => Promise<CallToolResult>
}

export type ServiceTools = Map<string, ServiceTool>

const EXECUTION_ID = z.string().describe('The ID of the execution.')

/** The tools for executions, with the longest wait that the engine allows. */
export function executionTools(syncDeadlineMs: number): ServiceTools {
  const tools = [getExecution(Math.floor(syncDeadlineMs / 1000)), CANCEL_EXECUTION, LIST_EXECUTIONS]
  return new Map(tools.map((tool) => [tool.declaration.name, tool]))
}

const getExecution = (maxSeconds: number) =>
  serviceTool({
    name: 'get_execution',
    title: 'Get an execution',
    description: 'Returns the record of a run of an agent: its status, and its output or error.',
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
  async run(engine, { access }, { executionId }) {
    return toResult(
      withoutFiles(toChangedRecord(await cancelExecution(engine, { access, executionId }), access)),
    )
  },
})

/** With the rules of the HTTP parameter, of which JSON Schema can express only the length. */
const TENANT_ID = runParameters.shape.tenantId

const LIST_EXECUTIONS = serviceTool({
  name: 'list_executions',
  title: 'List executions',
  description: 'Lists runs of agents without their inputs and outputs, newest first.',
  input: z.strictObject({
    agent: z.string().optional().describe('Only runs of this agent: the name of its tool.'),
    status: executionRecord.shape.status.optional().describe('Only runs with this status.'),
    tenantId: z.string().min(1).max(128).optional().describe('Only runs of this tenant.'),
    limit: z.int().min(PAGE_SIZE.min).max(PAGE_SIZE.max).optional().meta({ default: PAGE_SIZE.default }),
    cursor: z.string().optional().describe('The nextCursor of the previous page.'),
  }),
  output: z.object({ executions: z.array(executionSummaryRecord), nextCursor: z.string().optional() }),
  annotations: { readOnlyHint: true, openWorldHint: false },
  scope: 'read',
  async run(engine, { access }, input) {
    const { error } = TENANT_ID.safeParse(input.tenantId)
    if (error) return toToolError(`tenantId ${error.issues[0]?.message}.`)
    const query = { ...input, fields: 'summary' } as const
    const page = await listExecutions(engine, access, query).catch(async (error: unknown) => {
      throw await suggestSlug(engine.agents)(error, access, input.agent ?? '')
    })
    return toResult({
      executions: page.items.map(toExecutionSummary),
      ...(page.next && { nextCursor: encodeCursor(page.next) }),
    })
  },
})

/** The base64 of files would fill the context of the model that reads the result. */
const withoutFiles = <Record extends object>(record: Record): Record =>
  'input' in record ? { ...record, input: describeMedia(record.input as JsonObject) } : record

type Definition<Input extends z.ZodObject> = Pick<Tool, 'name' | 'title' | 'description' | 'annotations'> & {
  input: Input
  output: z.ZodType
  scope: Scope
  run: (engine: McpEngine, call: ToolCall, input: z.output<Input>) => Promise<CallToolResult>
}

/** Validates the arguments with the input schema that clients see. */
function serviceTool<Input extends z.ZodObject>(definition: Definition<Input>): ServiceTool {
  const { input, output, scope, run, ...tool } = definition
  const inputSchema = toJsonSchema(input)
  const validate = compileStrictValidator(inputSchema)
  return {
    declaration: { ...tool, inputSchema, outputSchema: toJsonSchema(output) },
    scope,
    async run(engine, call) {
      const violations = validate(call.input)
      if (violations.length > 0) return toArgumentsError(violations)
      return run(engine, call, call.input as z.output<Input>)
    },
  }
}

function toJsonSchema(schema: z.ZodType) {
  return toObjectSchema(z.toJSONSchema(schema) as JsonObject)
}
