import { fileURLToPath } from 'node:url'
import { loadFolder } from '../lib/agents/load-folder.ts'
import { publishAgent } from '../lib/agents/publish-agent.ts'
import type { Version } from '../lib/core/agent.ts'
import { agentStore } from '../lib/dynamodb/agent-store.ts'
import { openTable, type Table } from '../lib/dynamodb/table.ts'
import { DYNAMODB_ENDPOINT, TABLE_NAME } from '../lib/environment.ts'
import { system } from '../lib/system.ts'
import { DEVELOPMENT_ORGANIZATION } from '../local/development.ts'
import { LOCAL_TABLE, openStore } from '../local/open-store.ts'
import { type Child, startChild } from './child.ts'
import type { Call } from './client.ts'
import type { Workplace } from './workplace.ts'

const NO_OP = fileURLToPath(new URL('agents/no-op', import.meta.url))
export const TOKEN = 'aes_bench'
export const ORGANIZATION_ID = DEVELOPMENT_ORGANIZATION.id

export type Service = Child & {
  /** Of its own DynamoDB, which the floor shares. */
  dynamodb: string
  table: Table
  /** A call of it, with its token unless another one is given. */
  request: (
    method: Call['method'],
    path: string,
    options: { status: number; body?: unknown; token?: string; headers?: Record<string, string> },
  ) => Call
}

type Options = { folder?: string; environment?: Record<string, string>; npm?: boolean }

/** Starts the whole local service as `npm start` does, with the no-op agent; with `npm` by `npm start` itself. */
export async function startService(workplace: Workplace, options: Options = {}): Promise<Service> {
  const folder = options.folder ?? (await workplace.folder())
  const environment = {
    PORT: '0',
    DATA_DIR: folder,
    DEV_TOKEN: TOKEN,
    // As npm sets it: the service then ends when we are gone, however we end.
    npm_lifecycle_event: 'start',
    ...options.environment,
  }
  const start = options.npm
    ? { command: 'npm', args: ['start'] }
    : { command: process.execPath, args: ['local/start.mjs'] }
  const child = await startChild(workplace, { ...start, environment })
  const { endpoint } = await openStore('command', { DATA_DIR: folder })
  const table = openTable({ [TABLE_NAME]: LOCAL_TABLE, [DYNAMODB_ENDPOINT]: endpoint })
  await publishNoOp(table, ORGANIZATION_ID)
  return {
    ...child,
    dynamodb: endpoint,
    table,
    request: (method, path, { status, body, token = TOKEN, headers }) => ({
      method,
      url: child.url + path,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      status,
    }),
  }
}

/** Publishes the agent that gives its input back, so that what a run takes is what the service takes. */
export async function publishNoOp(table: Table, organizationId: string): Promise<Version> {
  const { agent, problems } = await loadFolder(NO_OP)
  if (!agent) throw new Error(JSON.stringify(problems))
  const store = agentStore(table)
  return publishAgent({ store, system, organizationId, createdBy: organizationId, agent, draft: false })
}
