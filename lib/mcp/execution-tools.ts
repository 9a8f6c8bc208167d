import type { CallToolResult, Tool } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { resolveAgent } from '../agents/resolve-agent.ts'
import {
  changedExecutionRecord,
  executionRecord,
  executionSummaryRecord,
} from '../api/schemas/execution-record.ts'
import { toChangedRecord, toExecutionRecord, toExecutionSummary } from '../api/to-execution-record.ts'
import { type Access, mayUseAgent, resolveTenant, type Scope } from '../core/access.ts'
import type { Agent } from '../core/agent.ts'
import { encodeCursor } from '../core/cursor.ts'
import { AgentNotFound, ExecutionNotFound } from '../core/errors.ts'
import type { ExecutionStatus } from '../core/execution.ts'
import type { JsonObject } from '../core/json.ts'
import { PAGE_SIZE } from '../core/limits.ts'
import type { AgentStore } from '../core/ports.ts'
import { cancelExecution } from '../engine/end-execution.ts'
import type { SubmitEngine } from '../engine/submit/submit.ts'
import { waitForCompletion } from '../engine/wait-for-completion.ts'
import { resolveExecutionId } from '../http/execution-id.ts'
import { withAgents } from '../http/execution-page.ts'
import { whileHeld } from '../http/open-requests.ts'
import { BY_ID, parsePage } from '../http/page.ts'
import { findSimilarSlug } from '../http/suggest-agent.ts'
import { compileStrictValidator } from '../schema/validate/validate.ts'
import { toObjectSchema } from './object-schema.ts'
import type { ToolCall } from './tool-call.ts'
import { describeViolations, toResult, toToolError } from './tool-result.ts'

/** A tool that is not an agent. Slugs have no underscores, so that names never collide. */
type ServiceTool = {
  declaration: Tool
  /** What a token needs to call it. */
  scope: Scope
  run: (engine: SubmitEngine, call: ToolCall) => Promise<CallToolResult>
}

const EXECUTION_ID = { type: 'string', description: 'The ID of the execution.' }
const EXECUTION = toOutputSchema(executionRecord)

/** The tools for executions, with the longest wait that the engine allows. */
export function executionTools(syncDeadlineMs: number): Map<string, ServiceTool> {
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
    async run({ executions }, { access, cancelled }, { executionId, waitSeconds = 0 }) {
      const id = await resolveExecutionId(executions, { executionId, access })
      const { organizationId } = access
      const params = { executions, organizationId, id, timeoutMs: waitSeconds * 1000, signal: cancelled }
      const wait = () => waitForCompletion(params)
      const completed = waitSeconds > 0 ? await whileHeld('wait', access, wait) : 'IN_PROGRESS'
      const execution = completed === 'IN_PROGRESS' ? await executions.get({ organizationId, id }) : completed
      if (!execution) throw new ExecutionNotFound()
      return toResult(toExecutionRecord(execution))
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
    const id = await resolveExecutionId(engine.executions, { executionId, access })
    const execution = await cancelExecution(engine, { organizationId: access.organizationId, id })
    return toResult(toChangedRecord(execution, access))
  },
})

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
  async run({ agents, executions }, { access }, { agent, status = null, limit, cursor, ...input }) {
    const { organizationId } = access
    const page = parsePage({ limit, cursor }, BY_ID)
    const tenantId = resolveTenant(access, input.tenantId?.toWellFormed()) ?? null
    const found = agent === undefined ? null : await findAgent(agents, access, agent)
    const scope = withAgents({ organizationId, agentId: found?.id ?? null }, access)
    const { items, next } = await executions.listSummaries({ ...scope, status, tenantId, ...page })
    return toResult({
      executions: items.map(toExecutionSummary),
      ...(next && { nextCursor: encodeCursor(next) }),
    })
  },
})

/** @throws AgentNotFound that suggests one that the token may use */
async function findAgent(store: AgentStore, access: Access, idOrSlug: string): Promise<Agent> {
  try {
    if (!mayUseAgent(access, idOrSlug)) throw new AgentNotFound()
    return await resolveAgent({ store, organizationId: access.organizationId, idOrSlug })
  } catch (error) {
    if (!(error instanceof AgentNotFound)) throw error
    throw new AgentNotFound(await findSimilarSlug(store, access, idOrSlug))
  }
}

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
