import { randomUUID } from 'node:crypto'
import type {
  Execution,
  ExecutionError,
  ExecutionSource,
  ExecutionStatus,
  Feedback,
  InputAdaptation,
  RunOptions,
  Usage,
} from '../core/execution.ts'
import type { JsonObject } from '../core/json.ts'
import type { Guard, Transition } from '../core/transitions.ts'
import type { Change, Condition } from './table/expressions.ts'
import { agentShard, executionKey, openShard, ownedShard, shardOf } from './table/keys.ts'
import { loadPayload, loadSentPayload, type StoredPayload, storePayload } from './table/payload.ts'
import type { Item, Table } from './table/table.ts'

/** The stored record of an execution. Payloads are stored by value or by reference; null is an absent attribute. */
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
  /** The worker that finished it. Shows a worker whose write was repeated that its own write succeeded. */
  finishedBy?: string
  steps: number
  usage: Usage
  model?: string
  options: RunOptions
  learnedFrom?: string[]
  feedback?: StoredPayload
  /** The writer of `feedback`, so that a write whose response was lost is recognized. */
  feedbackBy?: string
  /** Counts changes of a final record. */
  revision?: number
  attempts: number
  attemptsSinceProgress: number
  /** JSON */
  lastError?: string
  leaseOwner?: string
  leaseExpiresAt?: number
  openUntil?: number
  deadlineAt: number
  /** Absent when there are none; JSON in records of earlier versions. */
  inputAdaptations?: StoredPayload | string
  idempotencyId?: string
  logs?: string
  cache?: { key: string; ttlSeconds: number | null }
  /** Only in the tombstone of a deleted execution. */
  deleted?: true
}

/** Index keys of the open executions. */
const OPEN_ATTRIBUTES = ['openShard', 'openOwner', 'openUntil']

export async function toItem(table: Table, execution: Execution): Promise<Item> {
  const { id, organizationId, agentId, input, output, error, lastError, lease, ...others } = execution
  const { inputAdaptations, feedback, ...rest } = others
  const shard = shardOf(id)
  const isOpen = execution.status === 'IN_PROGRESS'
  const key = executionKey(id)
  const writtenAt = Date.parse(execution.createdAt)
  const store = (name: string, value: unknown) =>
    storePayload(table, { executionId: id, holder: key, writer: `${name}-${randomUUID()}`, writtenAt }, value)
  return {
    ...key,
    ownerShard: ownedShard(organizationId, 'EXEC', shard),
    agentShard: agentShard(agentId, shard),
    listOrder: id,
    openShard: isOpen ? openShard(shard) : undefined,
    openOwner: isOpen ? ownedShard(organizationId, 'OPEN', shard) : undefined,
    ...withoutNulls(rest),
    id,
    organizationId,
    agentId,
    input: await store('input', input),
    output: output ? await store('output', output) : undefined,
    inputAdaptations: inputAdaptations.length > 0 ? await store('adaptations', inputAdaptations) : undefined,
    feedback: feedback ? await store('feedback', feedback) : undefined,
    error: toJson(error),
    lastError: toJson(lastError),
    leaseOwner: lease?.owner,
    leaseExpiresAt: lease?.expiresAt,
  }
}

/** The update of a transition, without its guard and its output (which may be stored in chunks). */
export function toChange({ set, claimedAt }: Transition): Change {
  const { lease, error, lastError, output: _, ...plain } = set
  const values = {
    ...plain,
    ...('error' in set && { error: error && JSON.stringify(error) }),
    ...('lastError' in set && { lastError: lastError && JSON.stringify(lastError) }),
    ...('lease' in set && { leaseOwner: lease?.owner ?? null, leaseExpiresAt: lease?.expiresAt ?? null }),
  }
  const isFinal = set.status !== undefined && set.status !== 'IN_PROGRESS'
  const cleared = Object.entries(values).flatMap(([name, value]) => (value === null ? [name] : []))
  return {
    set: withoutNulls(values),
    remove: isFinal ? [...new Set([...cleared, ...OPEN_ATTRIBUTES])] : cleared,
    ...(claimedAt && { setOnce: { startedAt: claimedAt }, add: { attempts: 1, attemptsSinceProgress: 1 } }),
  }
}

/** The condition of a write that a transition's guard requires: `isPermitted`, as an expression. */
export function toCondition({ organizationId, owner, unleasedAt, openUntil }: Guard): Condition {
  const terms: [string, unknown, string][] = [
    ['status', 'IN_PROGRESS', '#status = :isStatus'],
    ['organizationId', organizationId, '#organizationId = :isOrganizationId'],
    ['leaseOwner', owner, '#leaseOwner = :isLeaseOwner'],
    [
      'leaseExpiresAt',
      unleasedAt,
      '(attribute_not_exists(#leaseExpiresAt) OR #leaseExpiresAt < :isLeaseExpiresAt)',
    ],
    ['openUntil', openUntil, '#openUntil = :isOpenUntil'],
  ]
  const present = terms.filter(([, value]) => value !== undefined)
  return {
    expression: present.map(([, , expression]) => expression).join(' AND '),
    names: present.map(([name]) => name),
    values: Object.fromEntries(
      present.map(([name, value]) => [`is${name[0]?.toUpperCase()}${name.slice(1)}`, value]),
    ),
  }
}

/** Whether an item of the execution refers to the payload with this name. */
export function refersTo(item: Item | null, name: string): boolean {
  const { input, output, inputAdaptations, feedback, content } = item ?? {}
  const payloads = [input, output, inputAdaptations, feedback, content] as ({ name?: string } | undefined)[]
  return payloads.some((payload) => payload?.name === name)
}

/** @throws MissingChunk */
export async function fromItem(table: Table, stored: Item): Promise<Execution> {
  const item = stored as ExecutionItem
  const adaptations =
    typeof item.inputAdaptations === 'string' ? { json: item.inputAdaptations } : item.inputAdaptations
  const [input, output, feedback, inputAdaptations] = await Promise.all([
    loadSentPayload(table, item.id, item.input),
    item.output ? loadPayload(table, item.id, item.output) : null,
    item.feedback ? loadSentPayload(table, item.id, item.feedback) : null,
    adaptations ? loadPayload(table, item.id, adaptations) : [],
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
    inputAdaptations: inputAdaptations as InputAdaptation[],
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
    learnedFrom: item.learnedFrom ?? null,
    feedback: feedback as Feedback | null,
    attempts: item.attempts,
    attemptsSinceProgress: item.attemptsSinceProgress,
    lastError: item.lastError ? (JSON.parse(item.lastError) as ExecutionError) : null,
    lease:
      item.leaseOwner && item.leaseExpiresAt
        ? { owner: item.leaseOwner, expiresAt: item.leaseExpiresAt }
        : null,
    openUntil: item.openUntil ?? null,
    deadlineAt: item.deadlineAt,
    idempotencyId: item.idempotencyId ?? null,
    logs: item.logs ?? null,
    cache: item.cache ?? null,
  }
}

const toJson = (value: ExecutionError | null) => (value ? JSON.stringify(value) : undefined)

function withoutNulls(item: Item): Item {
  return Object.fromEntries(Object.entries(item).filter(([, value]) => value !== null))
}
