import type {
  Execution,
  ExecutionError,
  ExecutionSource,
  ExecutionStatus,
  RunOptions,
  Usage,
} from '../core/execution.ts'
import type { JsonObject } from '../core/json.ts'
import { ENQUEUED_GRACE_MS } from '../core/limits.ts'
import { agentShard, executionKey, openShard, ownedShard, shardOf } from './keys.ts'
import { loadPayload, type StoredPayload, storePayload } from './payload.ts'
import type { Item, Table } from './table.ts'

/** An execution's record as it is stored: payloads by value or by reference, absent attributes for null. */
export type ExecutionItem = {
  id: string
  organizationId: string
  agentId: string
  versionId: string
  tenantId?: string
  source: ExecutionSource
  parentExecutionId?: string
  callers?: string[]
  status: ExecutionStatus
  input: StoredPayload
  output?: StoredPayload
  /** JSON */
  error?: string
  cached: boolean
  cachedExecutionId?: string
  createdAt: string
  startedAt?: string
  finishedAt?: string
  /** The owner that ended it, so that a finish whose answer was lost knows itself. */
  finishedBy?: string
  steps: number
  usage: Usage
  model?: string
  options: RunOptions
  attempts: number
  leaseOwner?: string
  leaseExpiresAt?: number
  deadlineAt: number
  /** Set at the start of a deletion that takes several writes: it is gone for every reader from then on. */
  deleted?: true
}

/** The attributes that keep an execution in the lists of its organization and agent. */
export const LIST_ATTRIBUTES = ['ownerShard', 'agentShard', 'listOrder']

/** The attributes that keep an execution in the index of open ones, and its lease. */
export const OPEN_ATTRIBUTES = ['openShard', 'openUntil', 'leaseOwner', 'leaseExpiresAt']

export async function toItem(table: Table, execution: Execution): Promise<Item> {
  const { id, organizationId, agentId, input, output, error, lease, createdAt, ...rest } = execution
  const shard = shardOf(id)
  const isOpen = execution.status === 'IN_PROGRESS'
  return {
    ...executionKey(id),
    ownerShard: ownedShard(organizationId, 'EXEC', shard),
    agentShard: agentShard(agentId, shard),
    listOrder: id,
    openShard: isOpen ? openShard(shard) : undefined,
    openUntil: isOpen ? (lease?.expiresAt ?? Date.parse(createdAt) + ENQUEUED_GRACE_MS) : undefined,
    ...withoutNulls(rest),
    id,
    organizationId,
    agentId,
    createdAt,
    input: await storePayload(table, id, 'input', input),
    output: output ? await storePayload(table, id, 'output', output) : undefined,
    error: error ? JSON.stringify(error) : undefined,
    leaseOwner: lease?.owner,
    leaseExpiresAt: lease?.expiresAt,
  }
}

export async function fromItem(table: Table, stored: Item): Promise<Execution> {
  const item = stored as ExecutionItem
  const [input, output] = await Promise.all([
    loadPayload(table, item.id, item.input),
    item.output ? loadPayload(table, item.id, item.output) : null,
  ])
  return {
    id: item.id,
    organizationId: item.organizationId,
    agentId: item.agentId,
    versionId: item.versionId,
    tenantId: item.tenantId ?? null,
    source: item.source,
    parentExecutionId: item.parentExecutionId ?? null,
    callers: item.callers ?? [],
    status: item.status,
    input: input as JsonObject,
    output: output as JsonObject | null,
    error: item.error ? (JSON.parse(item.error) as ExecutionError) : null,
    cached: item.cached,
    cachedExecutionId: item.cachedExecutionId ?? null,
    createdAt: item.createdAt,
    startedAt: item.startedAt ?? null,
    finishedAt: item.finishedAt ?? null,
    steps: item.steps,
    usage: { inputTokens: item.usage.inputTokens, outputTokens: item.usage.outputTokens },
    model: item.model ?? null,
    options: item.options,
    attempts: item.attempts,
    lease:
      item.leaseOwner && item.leaseExpiresAt
        ? { owner: item.leaseOwner, expiresAt: item.leaseExpiresAt }
        : null,
    deadlineAt: item.deadlineAt,
  }
}

function withoutNulls(item: Item): Item {
  return Object.fromEntries(Object.entries(item).filter(([, value]) => value !== null))
}
