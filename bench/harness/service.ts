import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { publishAgent } from '../../lib/agents/lifecycle/publish-agent.ts'
import { loadFolder } from '../../lib/agents/load-folder.ts'
import type { Version } from '../../lib/core/agent.ts'
import { agentStore } from '../../lib/dynamodb/agent-store.ts'
import { openTable, type Table } from '../../lib/dynamodb/table/table.ts'
import { DYNAMODB_ENDPOINT, TABLE_NAME } from '../../lib/environment.ts'
import { system } from '../../lib/system.ts'
import { DEVELOPMENT_ORGANIZATION } from '../../local/development.ts'
import { openDatabase } from '../../local/emulators/open-database.ts'
import { LOCAL_TABLE } from '../../local/emulators/provision.ts'
import packageJson from '../../package.json' with { type: 'json' }
import type { ReadyProcess } from '../../test/support/processes/ready-process.ts'
import { startDynamoDB } from '../../test/support/service/port-emulators.ts'
import { startChild } from './child-process.ts'
import { type Call, call, type Response } from './client.ts'
import type { Workspace } from './workspace.ts'

const TOKEN = 'aes_bench'
const [, ...START] = packageJson.scripts.start.split(' ')

type RequestOptions = { status: number; body?: unknown; token?: string; headers?: Record<string, string> }

export type Service = ReadyProcess & {
  dynamodbEndpoint: string
  table: Table
  request: (method: Call['method'], path: string, options: RequestOptions) => Promise<Response>
}

type Options = {
  folder?: string
  environment?: Record<string, string>
  npm?: boolean
  /** The database listens on a port, for a floor or a meter, which is faster than the socket of the service. */
  hasPort?: boolean
}

/** Starts the local service on an embedded store, as `npm start` does; with `npm`, through `npm start` itself. */
export async function startService(workspace: Workspace, options: Options = {}): Promise<Service> {
  const folder = options.folder ?? (await workspace.createFolder())
  const database = options.hasPort ? await startDynamoDB(folder) : null
  if (database) workspace.onCleanUp(database.stop)
  const endpoints = database && { [DYNAMODB_ENDPOINT]: database.endpoint }
  const environment = {
    PORT: '0',
    DATA_DIR: folder,
    DEV_TOKEN: TOKEN,
    // npm sets it too; the service then exits with its parent, even when that is killed.
    npm_lifecycle_event: 'start',
    ...endpoints,
    ...options.environment,
  }
  const command = options.npm ? { command: 'npm', args: ['start'] } : { args: START }
  const child = await startChild(workspace, { ...command, environment })
  const { endpoint } = await openDatabase('command', {
    DATA_DIR: folder,
    ...endpoints,
    ...options.environment,
  })
  const table = openTable({ [TABLE_NAME]: LOCAL_TABLE, [DYNAMODB_ENDPOINT]: endpoint })
  return {
    ...child,
    dynamodbEndpoint: endpoint,
    table,
    request: (method, path, { status, body, token = TOKEN, headers }) => {
      const type = body === undefined ? {} : { 'content-type': 'application/json' }
      const text = body === undefined ? {} : { body: JSON.stringify(body) }
      const all = { authorization: `Bearer ${token}`, ...type, ...headers }
      return call({ method, url: child.url + path, headers: all, status, ...text })
    },
  }
}

type Agent = { slug: string; files: Record<string, string>; organizationId?: string }

/** Publishes an agent from the texts of its files. */
export async function publish(
  workspace: Workspace,
  table: Table,
  { slug, files, organizationId = DEVELOPMENT_ORGANIZATION.id }: Agent,
): Promise<Version> {
  const folder = join(await workspace.createFolder(), slug)
  await mkdir(folder)
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  const { agent, problems } = await loadFolder(folder)
  if (!agent) throw new Error(JSON.stringify(problems))
  const store = agentStore(table)
  const owner = { organizationId, createdBy: organizationId }
  return (await publishAgent({ store, system, ...owner, agent, draft: false })).version
}
