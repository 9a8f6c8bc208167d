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
import type { ExecutionStatus } from '../core/execution.ts'
import type { JsonObject } from '../core/json.ts'
import { PAGE_SIZE } from '../core/limits.ts'
import { cancelExecution } from '../engine/executions/change-execution.ts'
import { listExecutionSummaries } from '../engine/executions/list-executions.ts'
import { readExecution } from '../engine/executions/read-execution.ts'
import type { SubmitEngine } from '../engine/submit/submit.ts'
import { compileStrictValidator } from '../schema/validate/validate.ts'
import { toObjectSchema } from './agent-tools.ts'
import { describeViolations, type ToolCall, toResult, toToolError } from './tool-call.ts'

/** A tool that is not an agent. Slugs have no underscores, so that names never collide. */
type ServiceTool = {
  declaration: Tool
  /** What a token needs to call it. */
  scope: Scope
  run: (engine: SubmitEngine, call: ToolCall) => Promise<CallToolResult>
}

export type ServiceTools = Map<string, ServiceTool>

const EXECUTION_ID = { type: 'string', description: 'The ID of the execution.' }
const EXECUTION = toOutputSchema(executionRecord)

/** The tools for executions, with the longest wait that the engine allows. */
export function executionTools(syncDeadlineMs: number): ServiceTools {
  const tools = [getExecution(Math.floor(syncDeadlineMs / 1000)), CANCEL_EXECUTION, LIST_EXECUTIONS]
  return new Map(tools.map((tool) => [tool.declaration.name, tool]))
}

const getExecution = (maxSeconds: number) =>
  serviceTool<{ executionId: string; waitSeconds?: number }>({
    declaration: {
      name: 'get_execution',
      title: 'Get an execution',
      description: 'Returns the record of a run of an agent: its status, and its output or error.',
      inputSchema: {
        type: 'object',
        properties: {
          executionId: EXECUTION_ID,
          waitSeconds: {
            type: 'integer',
            minimum: 0,
            maximum: maxSeconds,
            description: 'How long to wait until the execution is final. Default: 0.',
          },
        },
        required: ['executionId'],
        additionalProperties: false,
      },
      outputSchema: EXECUTION,
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    scope: 'read',
    async run(engine, { access, cancelled }, { executionId, waitSeconds = 0 }) {
      const params = { access, executionId, waitSeconds, signal: cancelled }
      return toResult(toExecutionRecord(await readExecution(engine, params)))
    },
  })

const CANCEL_EXECUTION = serviceTool<{ executionId: string }>({
  declaration: {
    name: 'cancel_execution',
    title: 'Cancel an execution',
    description:
      'Cancels a run that is in progress and returns its record; its ID and status if the token may not read it. A final execution does not change.',
    inputSchema: {
      type: 'object',
      properties: { executionId: EXECUTION_ID },
      required: ['executionId'],
      additionalProperties: false,
    },
    outputSchema: toOutputSchema(changedExecutionRecord),
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  },
  scope: 'run',
  async run(engine, { access }, { executionId }) {
    return toResult(toChangedRecord(await cancelExecution(engine, { access, executionId }), access))
  },
})

/** With the rules of the HTTP parameter, of which JSON Schema can express only the length. */
const TENANT_ID = runParameters.shape.tenantId

type ListInput = {
  agent?: string
  status?: ExecutionStatus
  tenantId?: string
  limit?: number
  cursor?: string
}

const LIST_EXECUTIONS = serviceTool<ListInput>({
  declaration: {
    name: 'list_executions',
    title: 'List executions',
    description: 'Lists runs of agents without their inputs and outputs, newest first.',
    inputSchema: {
      type: 'object',
      properties: {
        agent: { type: 'string', description: 'Only runs of this agent: the name of its tool.' },
        status: { enum: ['IN_PROGRESS', 'SUCCESS', 'ERROR'], description: 'Only runs with this status.' },
        tenantId: { type: 'string', minLength: 1, maxLength: 128, description: 'Only runs of this tenant.' },
        limit: {
          type: 'integer',
          minimum: PAGE_SIZE.min,
          maximum: PAGE_SIZE.max,
          default: PAGE_SIZE.default,
        },
        cursor: { type: 'string', description: 'The nextCursor of the previous page.' },
      },
      additionalProperties: false,
    },
    outputSchema: toOutputSchema(
      z.object({ executions: z.array(executionSummaryRecord), nextCursor: z.string().optional() }),
    ),
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
  scope: 'read',
  async run(engine, { access }, input) {
    const { error } = TENANT_ID.safeParse(input.tenantId)
    if (error) return toToolError(`tenantId ${error.issues[0]?.message}.`)
    const page = await listExecutionSummaries(engine, access, input).catch(async (error: unknown) => {
      throw await suggestSlug(engine.agents)(error, access, input.agent ?? '')
    })
    return toResult({
      executions: page.items.map(toExecutionSummary),
      ...(page.next && { nextCursor: encodeCursor(page.next) }),
    })
  },
})

type Definition<Input> = {
  declaration: Tool
  scope: Scope
  run: (engine: SubmitEngine, call: ToolCall, input: Input) => Promise<CallToolResult>
}

/** Validates the arguments. `Input` is the type that the input schema describes. */
function serviceTool<Input>({ declaration, scope, run }: Definition<Input>): ServiceTool {
  const validate = compileStrictValidator(declaration.inputSchema as JsonObject)
  return {
    declaration,
    scope,
    async run(engine, call) {
      const violations = validate(call.input)
      if (violations.length > 0)
        return toToolError(`The arguments do not match the input schema.\n${describeViolations(violations)}`)
      return run(engine, call, call.input as Input)
    },
  }
}

function toOutputSchema(schema: z.ZodType): Tool['outputSchema'] {
  return toObjectSchema(z.toJSONSchema(schema) as JsonObject)
}
