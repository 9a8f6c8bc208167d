import {
  type ListToolsResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { hasScope } from '../access/permissions.ts'
import { findSimilarSlug, listAgents } from '../agents/visible-agents.ts'
import type { Access } from '../core/access.ts'
import type { AuditSource } from '../core/audit.ts'
import { encodeCursor } from '../core/cursor.ts'
import { ServiceError } from '../core/errors.ts'
import { isJsonObject, type JsonObject } from '../core/json/json.ts'
import { InvalidCursor } from '../core/request-errors.ts'
import { NEVER } from '../engine/checkpoints/deadline.ts'
import { toServiceError } from '../http/problem-details.ts'
import { AGENT_SCOPE, toAgentTool } from './agent-tools.ts'
import { callAgent } from './call-agent.ts'
import { executionTools, type ServiceTools } from './execution-tools.ts'
import { addTaskMethods, mayGetTask, TASKS_CAPABILITY } from './tasks.ts'
import { InvalidParams, type McpEngine, type ToolCall, toToolError, UnknownTool } from './tool-call.ts'

/**
 * The versions whose clients begin with `initialize`, newest first. The SDK adds those without. Earlier ones have
 * batches, which would evade limits that count requests.
 */
const INITIALIZED_VERSIONS = ['2025-11-25', '2025-06-18']

const INVALID_CURSOR = 'cursor must be the nextCursor of the previous page.'

/** How long clients may reuse a list of tools. */
const TOOLS_TTL_MS = 60_000

const INSTRUCTIONS =
  'Each tool is an agent that runs on this service. A call that takes long, or waits, returns an executionId: call get_execution with it for the output.'

type Params = {
  engine: McpEngine
  access: Access
  source: AuditSource
  /** Revision 2026-07-28: a closed connection cancels the request, and there are tasks. */
  isModern: boolean
  /** The header of the HTTP request. */
  traceparent: string | undefined
  /** The params as they arrived: the SDK copies them, which changes numbers that a double cannot hold. */
  params: JsonObject
  /** Called with errors of the service itself. The client gets only their message. */
  onServerError: (error: ServiceError) => void
}

/** The MCP server of one request. */
export function newMcpServer(request: Params): Server {
  const { engine, access, onServerError } = request
  const server = new Server(
    { name: 'agent-execution-service', title: 'Agent Execution Service', version: '1' },
    {
      capabilities: { tools: {}, ...(request.isModern && { extensions: TASKS_CAPABILITY }) },
      instructions: INSTRUCTIONS,
      supportedProtocolVersions: INITIALIZED_VERSIONS,
      cacheHints: {
        // The tools of an organization are its own.
        'tools/list': { ttlMs: TOOLS_TTL_MS, cacheScope: 'private' },
        'server/discover': { ttlMs: TOOLS_TTL_MS, cacheScope: 'public' },
      },
    },
  )
  const serviceTools = executionTools(engine.syncDeadlineMs)

  server.setRequestHandler('tools/list', ({ params: { cursor } = {} }) =>
    listTools(request, serviceTools, cursor).catch((error) => {
      throw toProtocolError(error, onServerError)
    }),
  )

  server.setRequestHandler('tools/call', async ({ params: { name } }, context) => {
    const call = toToolCall(request, name, context)
    try {
      const tool = serviceTools.get(name)
      if (!hasScope(access, tool?.scope ?? AGENT_SCOPE)) throw new UnknownTool(name)
      return await (tool ? tool.run(engine, call) : callAgent(engine, call))
    } catch (error) {
      if (error instanceof UnknownTool) throw new UnknownTool(name, await findSimilarTool(request, name))
      if (error instanceof InvalidCursor) return toToolError(INVALID_CURSOR)
      if (error instanceof ServiceError && error.status < 500) return toToolError(error.message)
      throw toProtocolError(error, onServerError)
    }
  })

  if (request.isModern) addTaskMethods(server, request, (error) => toTaskError(error, onServerError))
  return server
}

/**
 * A page of the tools that the token may call: those of the service on the first one, then one per published agent,
 * newest first.
 * @throws InvalidCursor
 */
async function listTools(
  { engine, access }: Params,
  serviceTools: ServiceTools,
  cursor: string | undefined,
): Promise<ListToolsResult> {
  const allowed = [...serviceTools.values()].filter(({ scope }) => hasScope(access, scope))
  const first = cursor === undefined ? allowed.map(({ declaration }) => declaration) : []
  if (!hasScope(access, AGENT_SCOPE)) {
    if (cursor !== undefined) throw new InvalidCursor()
    return { tools: first }
  }
  const { items, next } = await listAgents(engine.agents, access, { cursor })
  return {
    tools: [...first, ...items.flatMap(({ current }) => (current ? [toAgentTool(current)] : []))],
    ...(next && { nextCursor: encodeCursor(next) }),
  }
}

/** The name of an agent that the token may call. */
const findSimilarTool = async ({ engine, access }: Params, name: string): Promise<string | undefined> =>
  hasScope(access, AGENT_SCOPE)
    ? findSimilarSlug(engine.agents, access, name, { isPublished: true })
    : undefined

function toProtocolError(error: unknown, onServerError: Params['onServerError']): ProtocolError {
  if (error instanceof ProtocolError) return error
  if (error instanceof InvalidCursor) return new InvalidParams(INVALID_CURSOR)
  const serviceError = toServiceError(error)
  onServerError(serviceError)
  return new ProtocolError(ProtocolErrorCode.InternalError, serviceError.message)
}

/** The task does not exist, or the token may not do this with it. */
const toTaskError = (error: unknown, onServerError: Params['onServerError']): ProtocolError =>
  error instanceof ServiceError && error.status < 500
    ? new InvalidParams(error.message)
    : toProtocolError(error, onServerError)

/** @throws InvalidParams if the arguments are not an object */
function toToolCall(
  { access, source, isModern, params, traceparent }: Params,
  name: string,
  context: ServerContext,
): ToolCall {
  const { mcpReq } = context
  const { arguments: input = {}, _meta: meta } = params
  if (!isJsonObject(input)) throw new InvalidParams('arguments must be an object.')
  const progressToken = mcpReq._meta?.progressToken
  return {
    access,
    source,
    name,
    input,
    meta,
    traceparent,
    mayGetTask: mayGetTask(context, access),
    cancelled: isModern ? mcpReq.signal : NEVER,
    onProgress:
      progressToken === undefined
        ? undefined
        : (progress, message) => {
            const notification = { progressToken, progress, message }
            void mcpReq
              .notify({ method: 'notifications/progress', params: notification })
              .catch(() => undefined)
          },
  }
}
