import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  MissingRequiredClientCapabilityError,
  type Result,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import * as z from 'zod/mini'
import { assertScope, hasScope } from '../access/permissions.ts'
import type { Access, Scope } from '../core/access.ts'
import type { AuditSource } from '../core/audit.ts'
import { ServiceError } from '../core/errors.ts'
import type { Execution } from '../core/execution.ts'
import { isJsonObject, type Json, type JsonObject } from '../core/json/json.ts'
import { readExecution } from '../engine/executions/read-execution.ts'
import { type Approval, openApprovals } from '../engine/waiting/approvals.ts'
import { openDecider } from '../engine/waiting/open-decider.ts'
import { toDecision } from './elicitation.ts'
import { cancelRecorded } from './execution-tools.ts'
import { toTask } from './task.ts'
import { InvalidParams, type McpEngine } from './tool-call.ts'
import { decideRecorded } from './waiting-tools.ts'

/**
 * The extension of revision 2026-07-28 for requests that outlast a connection, declared by clients in each request:
 * https://modelcontextprotocol.github.io/ext-tasks/specification/2026-07-28/tasks.html
 */
const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks'

/** "No extension-specific settings are currently defined; an empty object indicates support." */
export const TASKS_CAPABILITY = { [TASKS_EXTENSION]: {} }

/** The methods, with what a token needs. */
export const TASK_SCOPES = {
  'tasks/get': 'read',
  'tasks/update': 'approve',
  'tasks/cancel': 'run',
} as const satisfies Record<string, Scope>

const taskParams = z.looseObject({ taskId: z.string() })

const capabilitiesOf = ({ mcpReq }: ServerContext): ClientCapabilities | undefined =>
  (mcpReq.envelope as Record<string, ClientCapabilities> | undefined)?.[CLIENT_CAPABILITIES_META_KEY]

/** Whether a call may be answered with a task: the client knows tasks, and the token may read what becomes of them. */
export const mayGetTask = (context: ServerContext, access: Access): boolean =>
  declaresTasks(context) && hasScope(access, 'read')

const declaresTasks = (context: ServerContext): boolean =>
  capabilitiesOf(context)?.extensions?.[TASKS_EXTENSION] !== undefined

/**
 * "If a client does not declare support for `elicitation`, the server MUST NOT include any `elicitation/create`
 * requests." "An empty capabilities object is equivalent to declaring support for `form` mode only."
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
function declaresForms(context: ServerContext): boolean {
  const elicitation = capabilitiesOf(context)?.elicitation
  return elicitation !== undefined && ('form' in elicitation || !('url' in elicitation))
}

type Params = {
  engine: McpEngine
  access: Access
  source: AuditSource
  /** Of the request, as they arrived: the SDK takes `inputResponses` out of its copy. */
  params: JsonObject
}

/**
 * Adds the methods of the extension, which the SDK does not know. They have the rules of the routes that read and
 * cancel executions and that decide on approvals.
 * @param toError what a failed request is answered with
 */
export function addTaskMethods(
  server: Server,
  { engine, access, source, params }: Params,
  toError: (error: unknown) => Error,
) {
  const add = (
    method: keyof typeof TASK_SCOPES,
    respond: (executionId: string, context: ServerContext) => Promise<Result>,
  ) =>
    server.setRequestHandler(method, { params: taskParams }, async ({ taskId }, context) => {
      if (!declaresTasks(context))
        throw new MissingRequiredClientCapabilityError({
          requiredCapabilities: { extensions: TASKS_CAPABILITY },
        })
      try {
        assertScope(access, TASK_SCOPES[method])
        return await respond(taskId, context)
      } catch (error) {
        throw toError(error)
      }
    })
  const read = async (executionId: string): Promise<Execution> =>
    (await readExecution(engine, { access, executionId, waitSeconds: 0 })).execution

  add('tasks/get', async (executionId, context) => {
    const execution = await read(executionId)
    const isAsked = hasScope(access, 'approve') && declaresForms(context)
    const approvals = isAsked ? await openApprovals(engine, execution) : []
    const mayDecide = openDecider(engine.tokens, access)
    const answers = await Promise.all(approvals.map((approval) => mayDecide(approval, execution)))
    return toTask(
      engine,
      execution,
      approvals.filter((_, index) => answers[index]),
    )
  })

  add('tasks/update', async (executionId) => {
    const { inputResponses } = params
    if (!isJsonObject(inputResponses)) throw new InvalidParams('inputResponses must be an object.')
    const approvals = await openApprovals(engine, await read(executionId))
    for (const decision of readDecisions(inputResponses, approvals))
      await decideRecorded(engine, { source }, { access, executionId, input: null, ...decision }).catch(
        ignoreLate,
      )
    return {}
  })

  // Cancelling is cooperative: a final execution stays as it is.
  add('tasks/cancel', async (executionId) => {
    await cancelRecorded(engine, { access, source }, executionId)
    return {}
  })
}

/**
 * "A server SHOULD ignore any `inputResponses` responses mapped to a key that is not currently outstanding for the
 * task." The others are checked before the first one has an effect.
 * @throws InvalidParams
 */
function readDecisions(inputResponses: JsonObject, approvals: Approval[]) {
  return approvals.flatMap(({ id: approvalId }) => {
    if (!Object.hasOwn(inputResponses, approvalId)) return []
    const decision = toDecision(approvalId, inputResponses[approvalId] as Json)
    return decision ? [{ approvalId, ...decision }] : []
  })
}

/** Somebody else was faster, or the execution has ended meanwhile: then it is no longer outstanding. */
function ignoreLate(error: unknown): void {
  if (!(error instanceof ServiceError) || error.status !== 409) throw error
}
