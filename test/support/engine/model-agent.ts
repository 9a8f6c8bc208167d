import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Version } from '../../../lib/core/agent.ts'
import { agentIdOf } from '../../../lib/core/ids.ts'
import type { Json } from '../../../lib/core/json/json.ts'
import { agentStore } from '../../../lib/dynamodb/agent-store.ts'
import type { Table } from '../../../lib/dynamodb/table/table.ts'
import { system } from '../../../lib/system.ts'
import { toolsSchema } from '../../../lib/tools/document/tools-schema.ts'
import { startServer } from '../service/start-server.ts'
import { engineTable } from '../tables/memory-table.ts'

/** Publishes an agent, by default a model agent of a new organization. `tools` have the format of `agent.md`. */
export async function aModelAgent(
  overrides: Partial<Omit<Version, 'tools'>> & { tools?: unknown[] } = {},
  { code = null, table }: { code?: string | null; table?: Table } = {},
): Promise<Version> {
  const { tools = [], ...fields } = overrides
  const organizationId = fields.organizationId ?? system.newId()
  const slug = fields.slug ?? 'model-agent'
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
    env: [],
    instructions: 'Answer the question.',
    execution: { useCache: false, cacheTtlSeconds: null, maxAgentSteps: 100, timeoutSeconds: null },
    digest: '',
    documentHash: '',
    ...fields,
  }
  await agentStore(table ?? (await engineTable())).publish({ version, code })
  return version
}

export const finalAnswer = (input: Json) => ({ name: 'final_answer', input })

export type ToolServer = {
  host: string
  url: string
  /** Path and idempotency key of every request, in order. */
  calls: { path: string; key: string }[]
  stop: () => Promise<void>
}

/** Starts a server for http tools; `respond` handles the requests. */
export async function startToolServer(
  respond: (path: string, response: ServerResponse, request: IncomingMessage) => void,
): Promise<ToolServer> {
  const calls: ToolServer['calls'] = []
  const { host, url, stop } = await startServer((request, response) => {
    const path = request.url ?? ''
    calls.push({ path, key: String(request.headers['idempotency-key']) })
    respond(path, response, request)
  })
  return { host, url, calls, stop }
}

/** The definition of an http tool that calls the server. */
export const httpTool = (server: ToolServer, name: string, path: string, more: object = {}) => ({
  name,
  description: `Calls ${path}.`,
  input: { id: { type: 'string', description: 'An id.' } },
  http: { method: 'GET', url: `${server.url}${path}`, allowedHosts: [server.host] },
  ...more,
})
