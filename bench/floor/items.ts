import { newExecution } from '../../lib/core/execution.ts'
import { agentIdOf } from '../../lib/core/ids.ts'
import { toItem } from '../../lib/dynamodb/execution-item.ts'
import { agentKey } from '../../lib/dynamodb/keys.ts'
import type { Item, Table } from '../../lib/dynamodb/table.ts'
import { system } from '../../lib/system.ts'
import { ORGANIZATION_ID } from '../service.ts'

/** What the floors read and write: items of the service's own, so that they are of the same size. */
export type FloorItems = { agent: Item; execution: Item; output: Item }

const LEASE_MS = 60_000

/** As the service stores a run of the no-op agent when it begins. */
export async function floorItems(table: Table, input: { text: string }): Promise<FloorItems> {
  const agentId = agentIdOf(ORGANIZATION_ID, 'no-op')
  const agent = await table.get(agentKey(agentId), { consistent: true })
  if (!agent) throw new Error('The no-op agent is not published.')
  const now = system.now()
  const execution = newExecution({
    id: system.newId(),
    organizationId: ORGANIZATION_ID,
    agentId,
    versionId: system.newId(),
    tenantId: null,
    input,
    options: { maxAgentSteps: 100, model: null, useDynamicLearning: false },
    now,
    deadlineMs: LEASE_MS,
    lease: { owner: system.newId(), expiresAt: now + LEASE_MS },
  })
  const item = await toItem(table, execution)
  const stored = Object.fromEntries(Object.entries(item).filter(([, value]) => value !== undefined))
  return { agent, execution: stored, output: input }
}
