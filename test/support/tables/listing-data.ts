import { v7 } from 'uuid'
import type { Execution } from '../../../lib/core/execution.ts'
import { newExecution } from '../../../lib/core/new-execution.ts'
import { statusKey, toItem } from '../../../lib/dynamodb/executions/execution-item.ts'
import type { Table } from '../../../lib/dynamodb/table/table.ts'
import { system } from '../../../lib/system.ts'
import { runOptions } from '../engine/executions.ts'

const INTERVAL_MS = 100
const DAY_MS = 24 * 60 * 60 * 1000
const BATCH = 100

/** All of its executions are of the first agent. */
export const MATCHING_TENANT = 'tenant-matching'

type Params = {
  organizationId: string
  agentIds: string[]
  size: number
  /** Executions of the first agent that failed; as many are in progress, and as many of `MATCHING_TENANT`. */
  matches: number
}

/** Milliseconds since the epoch. */
export type CreationTimes = { firstAt: number; lastAt: number }

/**
 * Stores executions of an organization as their runs leave them, one every 100 ms up to now. All others succeeded, and
 * half of these have one of twenty tenants.
 * @returns when the first and the last one were created
 */
export async function storeExecutions(table: Table, params: Params): Promise<CreationTimes> {
  const { size } = params
  const firstAt = Date.now() - size * INTERVAL_MS
  for (let done = 0; done < size; done += BATCH) {
    const numbers = Array.from({ length: Math.min(BATCH, size - done) }, (_, i) => done + i)
    const items = await Promise.all(
      numbers.map((number) => toStoredItem(table, createExecution(params, number, firstAt))),
    )
    await table.writeMany(items.map((put) => ({ put })))
  }
  return { firstAt, lastAt: firstAt + (size - 1) * INTERVAL_MS }
}

/** With the index keys that the writes of its end set and remove. */
async function toStoredItem(table: Table, execution: Execution) {
  const item = await toItem(table, execution)
  if (execution.status !== 'ERROR') return item
  return { ...item, statusShard: statusKey(execution, 'ERROR'), failedShard: item.agentShard }
}

function createExecution(params: Params, number: number, firstAt: number): Execution {
  const { organizationId, agentIds, size, matches } = params
  // One of each kind in every interval.
  const match = number % Math.floor(size / matches)
  const now = firstAt + number * INTERVAL_MS
  const agentId = agentIds[match < 3 ? 0 : Math.floor(number / 40) % agentIds.length] ?? ''
  const started = newExecution({
    id: v7({ msecs: now }),
    organizationId,
    agentId,
    versionId: agentId,
    tenantId: match === 2 ? MATCHING_TENANT : number % 2 === 0 ? `tenant-${(number / 2) % 20}` : null,
    input: { text: `Ticket ${number}: nothing has worked since this morning, please help.` },
    options: runOptions(),
    now,
    deadlineMs: size * INTERVAL_MS + DAY_MS,
    // One that the sweeper leaves alone.
    lease: { owner: organizationId, expiresAt: system.now() + DAY_MS },
    graceMs: size * INTERVAL_MS + DAY_MS,
  })
  if (match === 1) return started
  const finishedAt = new Date(now + 900).toISOString()
  const finished = { ...started, finishedAt, lease: null, openUntil: null, steps: 2 }
  return match === 0
    ? { ...finished, status: 'ERROR', error: { code: 'AgentFailed', message: 'The agent threw an error.' } }
    : { ...finished, status: 'SUCCESS', output: { summary: `Ticket ${number}`, urgent: false } }
}
