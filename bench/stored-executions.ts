import { v7 } from 'uuid'
import { type Execution, newExecution } from '../lib/core/execution.ts'
import { toItem } from '../lib/dynamodb/execution-item.ts'
import { organizationStore } from '../lib/dynamodb/organization-store.ts'
import type { Table } from '../lib/dynamodb/table.ts'
import { tokenStore } from '../lib/dynamodb/token-store.ts'
import { system } from '../lib/system.ts'
import { newToken } from '../lib/tokens/token.ts'
import { publishNoOp } from './service.ts'

/** Written at a time, as four requests: the database takes no more at once, and more only wait for each other. */
const BATCH = 100
/** Beside the one that is published. */
const OTHER_AGENTS = 9
const TENANTS = 20
/** Between one execution and the next. */
const PACE_MS = 100
const DAY_MS = 24 * 60 * 60 * 1000

export type FilledOrganization = { token: string; agentId: string }

/**
 * An organization with so many executions, as the service stores them, of ten agents and many tenants: of 100, 90 have
 * succeeded, 9 have failed, and 1 is at work, with a lease that the sweeper leaves alone.
 * @returns its token, and the one of its agents that is published
 */
export async function fillOrganization(table: Table, count: number): Promise<FilledOrganization> {
  const id = system.newId()
  const createdAt = new Date().toISOString()
  await organizationStore(table).create({ organization: { id, name: 'Filled', createdAt } })
  const { token, text } = newToken({
    system,
    organizationId: id,
    name: 'bench',
    createdBy: id,
    lifetimeMs: null,
  })
  await tokenStore(table).create({ token })
  const published = await publishNoOp(table, id)
  const agentIds = [published.agentId, ...Array.from({ length: OTHER_AGENTS }, () => system.newId())]
  const firstAt = system.now() - count * PACE_MS
  for (let done = 0; done < count; done += BATCH) {
    const numbers = Array.from({ length: Math.min(BATCH, count - done) }, (_, i) => done + i)
    const items = await Promise.all(
      numbers.map((number) => {
        const agentId = agentIds[Math.floor(number / 3) % agentIds.length] ?? published.agentId
        return toItem(
          table,
          execution({ organizationId: id, agentId, number, now: firstAt + number * PACE_MS }),
        )
      }),
    )
    await table.writeMany(items.map((put) => ({ put })))
  }
  return { token: text, agentId: published.agentId }
}

type Place = { organizationId: string; agentId: string; number: number; now: number }

function execution({ organizationId, agentId, number, now }: Place): Execution {
  const expiresAt = system.now() + DAY_MS
  const begun = newExecution({
    id: v7({ msecs: now }),
    organizationId,
    agentId,
    versionId: agentId,
    tenantId: number % 2 === 0 ? `tenant-${(number / 2) % TENANTS}` : null,
    input: { text: `Ticket ${number}: nothing works any more since this morning, please help.` },
    options: { maxAgentSteps: 100, model: null, useDynamicLearning: false },
    now,
    deadlineMs: DAY_MS,
    lease: { owner: organizationId, expiresAt },
  })
  const kind = (number * 37) % 100
  if (kind === 0) return begun
  const finishedAt = new Date(now + 900).toISOString()
  const closed = { ...begun, finishedAt, lease: null, openUntil: null, steps: 2 }
  if (kind < 10) {
    return {
      ...closed,
      status: 'ERROR',
      error: { code: 'AgentFailed', message: 'The agent threw an error.' },
    }
  }
  return {
    ...closed,
    status: 'SUCCESS',
    output: { summary: `Ticket ${number} is about an outage.`, urgent: false },
  }
}
