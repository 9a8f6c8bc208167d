import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inject } from 'vitest'
import { publishAgent } from '../../../lib/agents/lifecycle/publish-agent.ts'
import { loadFolder } from '../../../lib/agents/load-folder.ts'
import type { TokenLimits } from '../../../lib/core/access.ts'
import type { Version } from '../../../lib/core/agent.ts'
import { agentStore } from '../../../lib/dynamodb/agent-store.ts'
import { openTable } from '../../../lib/dynamodb/table/table.ts'
import { system } from '../../../lib/system.ts'
import { LOCAL_TABLE } from '../../../local/emulators/provision.ts'
import { type ApiClient, type ApiResponse, createClient } from '../service/client.ts'
import { engineTable } from '../tables/memory-table.ts'
import { createOrganization, createToken } from './access.ts'

const SAMPLES = fileURLToPath(new URL('../../../agents', import.meta.url))
const FIXTURES = fileURLToPath(new URL('../../fixtures/agents', import.meta.url))

export const sharedTable = () => openTable({ TABLE_NAME: LOCAL_TABLE, DYNAMODB_ENDPOINT: inject('dynamodb') })

export type TestOrganization = {
  id: string
  token: string
  call: ApiClient
  /** A client with another token of the organization. */
  withLimits: (limits: Partial<TokenLimits>) => Promise<ApiClient>
  /** Publishes the agent of this name in `test/fixtures/agents` or `agents`, by default with its own title. */
  publish: (slug: string, options?: { draft?: boolean; title?: string }) => Promise<Version>
  /** Runs an agent. The query string is without the question mark. */
  run: (slug: string, input: object, query?: string) => Promise<ApiResponse>
  /** The execution record. */
  getExecution: (id: string) => Promise<ApiResponse['json']>
}

/** Creates an organization with a token, by default on the shared service. */
export async function newOrganization(table = sharedTable()): Promise<TestOrganization> {
  const { id, token } = await createOrganization(table)
  const call = createClient(inject('service'), token)
  return {
    id,
    token,
    call,
    run: (slug, input, query = '') => call('POST', `/v1/agents/${slug}/executions?${query}`, { body: input }),
    withLimits: async (limits) => createClient(inject('service'), await createToken(table, id, limits)),
    getExecution: async (executionId) => (await call('GET', `/v1/agent_executions/${executionId}`)).json,
    publish: async (slug, { draft = false, title } = {}) => {
      const fixture = join(FIXTURES, slug)
      const { agent, problems } = await loadFolder(existsSync(fixture) ? fixture : join(SAMPLES, slug))
      if (!agent) throw new Error(JSON.stringify(problems))
      const { version } = await publishAgent({
        store: agentStore(table),
        system,
        organizationId: id,
        createdBy: id,
        agent: title === undefined ? agent : { ...agent, document: { ...agent.document, title } },
        draft,
      })
      return version
    },
  }
}

/** Publishes an agent of `test/fixtures/agents` or `agents` in a new organization on the table of the worker. */
export const publishFixture = async (slug: string): Promise<Version> =>
  (await newOrganization(await engineTable())).publish(slug)
