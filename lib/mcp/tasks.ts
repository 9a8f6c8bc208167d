import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  MissingRequiredClientCapabilityError,
  type Result,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import * as z from 'zod/mini'
import { assertScope, hasScope } from '../access/permissions.ts'
import type { Access } from '../core/access.ts'
import { CANCELLED, type Execution } from '../core/execution.ts'
import { isJsonObject, type JsonObject } from '../core/json/json.ts'
import { cancelExecution } from '../engine/executions/change-execution.ts'
import { readExecution } from '../engine/executions/read-execution.ts'
import { retryAfterSeconds } from '../http/responses.ts'
import { describeWaits } from './describe-waits.ts'
import { InvalidParams, type McpEngine, toRunResult } from './tool-call.ts'

/**
 * The extension of revision 2026-07-28 for requests that outlast a connection, declared by clients in each request:
 * https://modelcontextprotocol.github.io/ext-tasks/specification/2026-07-28/tasks.html
 */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks'

/** "No extension-specific settings are currently defined; an empty object indicates support." */
export const TASKS_CAPABILITY = { [TASKS_EXTENSION]: {} }

/** A `Task` of the extension is an execution, with its ID. `ttlMs`: it expires a time after its end, if at all. */
type Task = {
  taskId: string
  status: 'working' | 'input_required' | 'completed' | 'cancelled'
  statusMessage?: string
  createdAt: string
  lastUpdatedAt: string
  ttlMs: null
  pollIntervalMs?: number
}

const taskParams = z.looseObject({ taskId: z.string() })

const capabilitiesOf = ({ mcpReq }: ServerContext): ClientCapabilities | undefined =>
  (mcpReq.envelope as Record<string, ClientCapabilities> | undefined)?.[CLIENT_CAPABILITIES_META_KEY]

/** Whether a call may be answered with a task: the client knows tasks, and the token may read what becomes of them. */
export const mayGetTask = (context: ServerContext, access: Access): boolean =>
  declaresTasks(context) && hasScope(access, 'read')

const declaresTasks = (context: ServerContext): boolean =>
  capabilitiesOf(context)?.extensions?.[TASKS_EXTENSION] !== undefined

/** A `CreateTaskResult`. The SDK expects `content` in results of calls; other fields are allowed in all results. */
export const toCreatedTask = (engine: McpEngine, execution: Execution): CallToolResult => ({
  resultType: 'task',
  ...toWorkingTask(engine, execution),
  content: [],
})

type Params = {
  engine: McpEngine
  access: Access
  /** Of the request, as they arrived: the SDK takes `inputResponses` out of its copy. */
  params: JsonObject
}

/**
 * Adds the methods of the extension. They have the rules of the routes that read and cancel executions.
 * @param toError what a failed request is answered with
 */
export function addTaskMethods(
  server: Server,
  { engine, access, params }: Params,
  toError: (error: unknown) => Error,
) {
  const add = (method: string, respond: (executionId: string, context: ServerContext) => Promise<Result>) =>
    server.setRequestHandler(method, { params: taskParams }, async ({ taskId }, context) => {
      if (!declaresTasks(context))
        throw new MissingRequiredClientCapabilityError({
          requiredCapabilities: { extensions: TASKS_CAPABILITY },
        })
      try {
        return await respond(taskId, context)
      } catch (error) {
        throw toError(error)
      }
    })

  add('tasks/get', async (executionId) => {
    assertScope(access, 'read')
    const { execution } = await readExecution(engine, { access, executionId, waitSeconds: 0 })
    return toTask(engine, execution)
  })

  // "A server SHOULD ignore any responses mapped to a key that is not currently outstanding for the task."
  add('tasks/update', async (executionId) => {
    assertScope(access, 'approve')
    if (!isJsonObject(params.inputResponses)) throw new InvalidParams('inputResponses must be an object.')
    await readExecution(engine, { access, executionId, waitSeconds: 0 })
    return {}
  })

  // Cancelling is cooperative: a final execution stays as it is.
  add('tasks/cancel', async (executionId) => {
    assertScope(access, 'run')
    await cancelExecution(engine, { access, executionId })
    return {}
  })
}

/** "The `tasks/get` endpoint returns exactly what the underlying request would have returned." */
function toTask(engine: McpEngine, execution: Execution): Task & { result?: CallToolResult } {
  const { id: taskId, status, error, createdAt } = execution
  if (status === 'IN_PROGRESS') return toWorkingTask(engine, execution)
  const task = { taskId, createdAt, lastUpdatedAt: execution.finishedAt ?? createdAt, ttlMs: null }
  if (error?.code === CANCELLED.code) return { ...task, status: 'cancelled', statusMessage: error.message }
  return { ...task, status: 'completed', result: toRunResult(execution) }
}

function toWorkingTask({ system }: McpEngine, { id, createdAt, suspension }: Execution): Task {
  const now = system.now()
  return {
    taskId: id,
    status: 'working',
    statusMessage: suspension ? describeWaits(suspension.waits) : 'The run continues.',
    createdAt,
    // What happens in a run that does not wait is not part of its record.
    lastUpdatedAt: new Date(suspension?.at ?? now).toISOString(),
    ttlMs: null,
    pollIntervalMs: retryAfterSeconds((now - (suspension?.at ?? Date.parse(createdAt))) / 1000) * 1000,
  }
}
