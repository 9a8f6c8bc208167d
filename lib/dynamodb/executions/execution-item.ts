import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { Unavailable } from '../../core/errors.ts'
import {
  type Execution,
  type ExecutionError,
  type ExecutionSource,
  type ExecutionStatus,
  type ExecutionSummary,
  type Feedback,
  type InputAdaptation,
  type LostStep,
  type RunOptions,
  totalUsage,
  type Usage,
} from '../../core/execution.ts'
import type { JsonObject } from '../../core/json.ts'
import { MissingChunk } from '../table/chunks.ts'
import {
  agentShard,
  executionKey,
  LIST_SHARDS,
  OPEN_SHARDS,
  openShard,
  ownedShard,
  STATUS_SHARDS,
  shardOf,
  statusShard,
  tenantShard,
} from '../table/keys.ts'
import { loadPayload, loadSentPayload, type StoredPayload, storePayload } from '../table/payload.ts'
import type { Item, Table } from '../table/table.ts'

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
  /** Whether `feedback` was given by a token that may not teach. */
  feedbackIsNoReview?: boolean
  /** The last review, if `feedback` is a later one that is none. */
  review?: StoredPayload
  /** Counts changes of a final record. */
  revision?: number
  attempts: number
  attemptsSinceProgress: number
  /** Absent until the first one. */
  outages?: number
  /** Absent until the first one; `usage` does not include them. */
  lostSteps?: LostStep[]
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

export async function toItem(table: Table, execution: Execution): Promise<Item> {
  const { id, organizationId, agentId, input, output, error, lastError, lease, ...others } = execution
  const { inputAdaptations, feedback, outages, lostSteps, ...rest } = others
  const listShard = shardOf(id, LIST_SHARDS)
  const isOpen = execution.status === 'IN_PROGRESS'
  const key = executionKey(id)
  const writtenAt = Date.parse(execution.createdAt)
  const store = (name: string, value: unknown) =>
    storePayload(table, { executionId: id, holder: key, writer: `${name}-${randomUUID()}`, writtenAt }, value)
  return {
    ...key,
    ownerShard: ownedShard(organizationId, 'EXEC', listShard),
    agentShard: agentShard(agentId, listShard),
    tenantShard:
      execution.tenantId === null ? undefined : tenantShard(organizationId, execution.tenantId, listShard),
    listOrder: id,
    openShard: isOpen ? openShard(shardOf(id, OPEN_SHARDS)) : undefined,
    statusShard: isOpen ? statusKey(execution, 'IN_PROGRESS') : undefined,
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
    outages: outages || undefined,
    lostSteps: lostSteps.length > 0 ? lostSteps : undefined,
    leaseOwner: lease?.owner,
    leaseExpiresAt: lease?.expiresAt,
  }
}

/** The key under which the lists of an organization show an open or failed execution. */
export const statusKey = (
  { organizationId, id }: Pick<Execution, 'organizationId' | 'id'>,
  status: 'IN_PROGRESS' | 'ERROR',
): string => statusShard(organizationId, status, shardOf(id, STATUS_SHARDS))

/** Whether an item of the execution refers to the payload with this name. */
export function refersTo(item: Item | null, name: string): boolean {
  const { input, output, inputAdaptations, feedback, review, content } = item ?? {}
  const payloads = [input, output, inputAdaptations, feedback, review, content] as (
    | { name?: string }
    | undefined
  )[]
  return payloads.some((payload) => payload?.name === name)
}

/** What `toSummary` reads. */
export const SUMMARY_ATTRIBUTES = [
  'id',
  'organizationId',
  'agentId',
  'versionId',
  'tenantId',
  'source',
  'parentExecutionId',
  'callers',
  'status',
  'error',
  'cached',
  'cachedExecutionId',
  'createdAt',
  'startedAt',
  'finishedAt',
  'steps',
  'usage',
  'model',
  'options',
  'learnedFrom',
  'attempts',
  'attemptsSinceProgress',
  'outages',
  'lostSteps',
  'lastError',
  'leaseOwner',
  'leaseExpiresAt',
  'openUntil',
  'deadlineAt',
  'idempotencyId',
  'cache',
] satisfies (keyof ExecutionItem)[]

/** @throws MissingChunk */
async function fromItem(table: Table, stored: Item): Promise<Execution> {
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
    ...toSummary(item),
    input: input as JsonObject,
    inputAdaptations: inputAdaptations as InputAdaptation[],
    output: output as JsonObject | null,
    feedback: feedback as Feedback | null,
    logs: item.logs ?? null,
  }
}

export function toSummary(item: ExecutionItem): ExecutionSummary {
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
    error: item.error ? (JSON.parse(item.error) as ExecutionError) : null,
    cached: item.cached,
    cachedExecutionId: item.cachedExecutionId ?? null,
    createdAt: item.createdAt,
    startedAt: item.startedAt ?? null,
    finishedAt: item.finishedAt ?? null,
    steps: item.steps,
    usage: totalUsage(item, item.lostSteps ?? []),
    model: item.model ?? null,
    options: item.options,
    learnedFrom: item.learnedFrom ?? null,
    attempts: item.attempts,
    attemptsSinceProgress: item.attemptsSinceProgress,
    outages: item.outages ?? 0,
    lostSteps: item.lostSteps ?? [],
    lastError: item.lastError ? (JSON.parse(item.lastError) as ExecutionError) : null,
    lease:
      item.leaseOwner && item.leaseExpiresAt
        ? { owner: item.leaseOwner, expiresAt: item.leaseExpiresAt }
        : null,
    openUntil: item.openUntil ?? null,
    deadlineAt: item.deadlineAt,
    idempotencyId: item.idempotencyId ?? null,
    cache: item.cache ?? null,
  }
}

const toJson = (value: ExecutionError | null) => (value ? JSON.stringify(value) : undefined)

export function withoutNulls(item: Item): Item {
  return Object.fromEntries(Object.entries(item).filter(([, value]) => value !== null))
}

const MAX_READS = 5

/** The record; null if the execution does not exist or was deleted. */
export async function readRecord(table: Table, id: string): Promise<Item | null> {
  const item = await table.get(executionKey(id), { consistent: true })
  return item && !item.deleted ? item : null
}

/**
 * The execution of a record, with its payloads. When a chunk is missing, a payload has been replaced or deleted since the
 * record was read, so the record is read again. Null if the execution was deleted.
 * @throws Unavailable when payloads are replaced faster than they can be read
 */
export async function loadExecution(table: Table, record: Item): Promise<Execution | null> {
  let current: Item | null = record
  for (let reads = 0; current && reads < MAX_READS; reads++) {
    try {
      return await fromItem(table, current)
    } catch (error) {
      if (!(error instanceof MissingChunk)) throw error
      const previous: Item = current
      current = await readRecord(table, String(record.id))
      if (isDeepStrictEqual(current, previous)) return null
    }
  }
  if (current) throw new Unavailable(new Error(`The payloads of ${record.id} changed ${MAX_READS} times.`))
  return null
}
