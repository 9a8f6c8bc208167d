import { newToken } from '../../../lib/access/tokens.ts'
import { organizationStore, tokenStore } from '../../../lib/dynamodb/access-stores.ts'
import { openTable } from '../../../lib/dynamodb/table/table.ts'
import { system } from '../../../lib/system.ts'
import { CODE_AGENT } from '../../nightly/faults/load/planned-run.ts'
import { loadFixture, publishAgents } from '../../nightly/faults/load/publish-agents.ts'
import type { Service } from './load.ts'

/** Fixtures: what the smoke test and the acceptance run, an agent that fails, and the agent of the load. */
export const ECHO = 'echo'
export const FAILING = 'failing'
const AGENTS = [ECHO, FAILING, CODE_AGENT]

/** The token outlives the longest proof. */
const TOKEN_MS = 24 * 60 * 60 * 1000

/** Creates an organization with a token and the agents of the proof. */
export async function prepareService(
  { baseUrl, tableName }: { baseUrl: string; tableName: string },
  environment: Record<string, string> = {},
): Promise<Service> {
  const table = openTable({ ...environment, TABLE_NAME: tableName })
  const organizationId = system.newId()
  const createdAt = new Date(system.now()).toISOString()
  await organizationStore(table).create({ organization: { id: organizationId, name: 'Proof', createdAt } })
  const { token, text } = newToken({
    system,
    organizationId,
    name: 'proof',
    createdBy: organizationId,
    lifetimeMs: TOKEN_MS,
  })
  await tokenStore(table).create({ token })
  await publishAgents(table, organizationId, await Promise.all(AGENTS.map(loadFixture)))
  return { baseUrl, token: text, organizationId, table }
}
