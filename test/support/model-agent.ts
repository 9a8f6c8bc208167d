import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Version } from '../../lib/core/agent.ts'
import { agentIdOf } from '../../lib/core/ids.ts'
import type { Json } from '../../lib/core/json.ts'
import { agentStore } from '../../lib/dynamodb/agent-store.ts'
import { system } from '../../lib/system.ts'
import { toolsSchema } from '../../lib/tools/document/tools-schema.ts'
import { sharedTable } from './organization.ts'

/** Publishes an agent, by default a model agent in an organization of its own. `tools` are as an `agent.md` has them. */
export async function aModelAgent(
  overrides: Partial<Omit<Version, 'tools'>> & { tools?: unknown[] } = {},
  code: string | null = null,
): Promise<Version> {
  const { tools = [], ...given } = overrides
  const organizationId = given.organizationId ?? system.newId()
  const slug = given.slug ?? 'model-agent'
  const version: Version = {
    id: system.newId(),
    agentId: agentIdOf(organizationId, slug),
    organizationId,
    slug,
    status: 'PUBLISHED',
    title: 'Model agent',
    description: 'Answers questions.',
    createdAt: new Date().toISOString(),
    createdBy: organizationId,
    inputSchema: { question: { type: 'string', description: 'What to answer.' } },
    outputSchema: { answer: { type: 'string', description: 'The answer.' } },
    model: null,
    tools: toolsSchema.parse(tools) as unknown as Json[],
    code: false,
    instructions: 'Answer the question.',
    execution: { useCache: false, cacheTtlSeconds: null, maxAgentSteps: 100, timeoutSeconds: null },
    digest: '',
    ...given,
  }
  await agentStore(sharedTable()).publish({ version, code })
  return version
}

export const finalAnswer = (input: Json) => ({ name: 'final_answer', input })

export type ToolServer = {
  host: string
  url: string
  /** The idempotency key of every request, by path, in the order of arrival. */
  calls: { path: string; key: string }[]
  stop: () => Promise<void>
}

/** A server for http tools: `answer` says what each path does. */
export async function startToolServer(
  answer: (path: string, response: ServerResponse, request: IncomingMessage) => void,
): Promise<ToolServer> {
  const calls: ToolServer['calls'] = []
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    calls.push({ path, key: String(request.headers['idempotency-key']) })
    answer(path, response, request)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    host,
    url: `http://${host}`,
    calls,
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** An http tool of the server. */
export const httpTool = (server: ToolServer, name: string, path: string, more: object = {}) => ({
  name,
  description: `Asks ${path}.`,
  input: { id: { type: 'string', description: 'An id.' } },
  http: { method: 'GET', url: `${server.url}${path}`, allowedHosts: [server.host] },
  ...more,
})
