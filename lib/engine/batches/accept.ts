import pRetry from 'p-retry'
import { idempotencyKeyOf } from '../../access/permissions.ts'
import type { Access } from '../../core/access.ts'
import { isStrict, type Version } from '../../core/agent.ts'
import { type Batch, type LineInput, MAX_CONCURRENCY, type ReceivedLine } from '../../core/batch.ts'
import { toBudget } from '../../core/budget.ts'
import { type ServiceError, Unavailable, type Violation } from '../../core/errors.ts'
import { timeOfId } from '../../core/ids.ts'
import { hashJson } from '../../core/json/hash-json.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { LEASE_MS } from '../../core/lease-times.ts'
import type { AgentStore } from '../../core/ports/agents.ts'
import type { BatchStore } from '../../core/ports/batches.ts'
import type { IdempotencyStore } from '../../core/ports/caches.ts'
import type { WebhookStore } from '../../core/ports/notifications.ts'
import type { FeedQueue } from '../../core/ports/queues.ts'
import type { System } from '../../core/ports/system.ts'
import type { LimitStore } from '../../core/ports/usage.ts'
import { InputSchemaMismatch } from '../../core/request-errors.ts'
import type { BatchOptions } from '../../core/run-options.ts'
import type { TrialSettings } from '../../core/trial.ts'
import { checkCostLimit, checkInput, checkOverrides, type RunOverrides } from '../submit/check-request.ts'
import { checkLimitedModel } from '../submit/limited-models.ts'
import { reserveId } from '../submit/reserve-id.ts'
import { resolveTarget } from '../submit/run-request.ts'
import { checkLines } from './check-lines.ts'

export type AcceptStores = {
  agents: AgentStore
  batches: BatchStore
  webhooks: Pick<WebhookStore, 'hasDefaultSecret'>
  limits: Pick<LimitStore, 'hasAny' | 'get'>
  idempotency: IdempotencyStore
  queue: Pick<FeedQueue, 'feed'>
  system: System
}

/** What a client chooses for all lines. */
export type BatchOverrides = RunOverrides & {
  version?: string | undefined
  maxBatchCostUsd?: number | undefined
  maxConcurrency?: number | undefined
}

type Call = {
  access: Access
  idOrSlug: string
  overrides: BatchOverrides
  /** As the client sent it. */
  idempotencyKey: string | undefined
}

/** What is known of a batch before it has lines. `refusal`: it can only repeat an earlier request with the same key. */
export type BatchTarget = {
  access: Access
  version: Version
  overrides: BatchOverrides
  key: string | undefined
  refusal: ServiceError | null
  selectedBy: Batch['selectedBy']
  /** The id by which its version was chosen: that of the batch, unless its idempotency key is bound to another. */
  newId: string
}

/** A validated request. */
export type BatchRequest = BatchTarget & { lines: LineInput[] }

/**
 * Checks a request and all of its lines, before anything is recorded.
 * @throws AgentNotFound, VersionNotFound, Forbidden, AgentArchived, VersionRetired, InvalidModelOverride,
 * InvalidQueryParameter, and what `checkLines` throws
 */
export async function prepareBatch(
  stores: Pick<AcceptStores, 'agents' | 'limits' | 'system' | 'webhooks'>,
  { received, ...call }: Call & { received: ReceivedLine[] },
): Promise<BatchRequest> {
  const target = await prepareTarget(stores, call)
  const { version, overrides } = target
  const check = isStrict(version, overrides) ? (input: JsonObject) => violationsOf(version, input) : undefined
  return { ...target, lines: await checkLines(received, check) }
}

export async function prepareTarget(
  { agents, limits, system, webhooks }: Pick<AcceptStores, 'agents' | 'limits' | 'system' | 'webhooks'>,
  { access, idempotencyKey, ...call }: Call,
): Promise<BatchTarget> {
  const key = idempotencyKeyOf(access, idempotencyKey)
  const target = await resolveTarget({ agents, system, webhooks, access, key, ...call })
  const { version, overrides, refusal, selectedBy, newId } = target
  if (refusal && key === undefined) throw refusal
  await checkOverrides(version, overrides, toBudget(version.execution, overrides))
  const { tenantId = null, model } = overrides
  await checkLimitedModel(limits, { version, tenantId, model })
  if (overrides.maxBatchCostUsd !== undefined) await checkCostLimit(version, overrides, 'maxBatchCostUsd')
  return { access, version, overrides, key, refusal, selectedBy, newId }
}

async function violationsOf(version: Version, input: JsonObject): Promise<Violation[]> {
  try {
    await checkInput(version, input)
    return []
  } catch (error) {
    if (error instanceof InputSchemaMismatch) return error.errors ?? []
    throw error
  }
}

/**
 * Records a batch and has its first lines started; or returns the one that an earlier request with the same idempotency
 * key has recorded.
 * @throws IdempotencyKeyReused, the refusal of the request, Unavailable while an earlier request is being accepted
 */
export const acceptBatch = (stores: AcceptStores, { lines, ...target }: BatchRequest): Promise<Batch> =>
  startBatch(stores, target, {
    identity: lines.map(({ customId, input }) => [customId, input]),
    readLines: async () => ({ lines }),
  })

/**
 * @param source.identity what must be the same when the idempotency key is used again
 * @param source.readLines called if the batch is a new one. `isCut`: of a trial
 * @param source.trial its lines are the originals that a trial repeats
 */
export async function startBatch(
  stores: AcceptStores,
  { access, version, overrides, key, refusal, selectedBy, newId }: BatchTarget,
  source: {
    identity: unknown
    readLines: () => Promise<{ lines: LineInput[]; isCut?: boolean }>
    retryOf?: string
    trial?: TrialSettings
  },
): Promise<Batch> {
  const { batches, queue, system } = stores
  const { organizationId } = access
  const { retryOf = null, trial = null } = source
  const request = [trial ? 'trial' : 'batch', retryOf, source.identity, overrides]
  const idempotency = key === undefined ? null : { key, requestHash: hashJson(request) }
  const { executionId: id, idempotencyId, isBound } = await reserveId(stores, version, idempotency, newId)
  const known = isBound ? await batches.get({ organizationId, id }) : null
  if (known) return known
  if (refusal) throw refusal
  const { lines, isCut = false } = await source.readLines()
  const now = isBound ? system.now() : timeOfId(id)
  const batch: Omit<Batch, 'blocks'> = {
    id,
    organizationId,
    agentId: version.agentId,
    versionId: version.id,
    selectedBy,
    isDraft: version.status === 'DRAFT',
    tenantId: overrides.tenantId ?? null,
    tokenId: access.tokenId || null,
    options: optionsOf(overrides),
    webhookUrl: overrides.webhookUrl ?? null,
    trial: trial && { ...trial, ...(isCut && { isCut }) },
    sums: null,
    retryOf,
    idempotencyId,
    lines: lines.length,
    lanes: Math.min(overrides.maxConcurrency ?? MAX_CONCURRENCY.default, lines.length),
    maxCostUsd: overrides.maxBatchCostUsd ?? null,
    status: 'IN_PROGRESS',
    stopped: null,
    createdAt: new Date(now).toISOString(),
    endedAt: null,
    totals: null,
    openUntil: now + LEASE_MS,
  }
  const created = (await batches.create({ batch, lines })) ?? (await readAccepted(stores, batch))
  // Best effort: until it arrives, the timer starts the lines.
  await queue.feed({ batchId: id, organizationId }).catch(() => undefined)
  return created
}

/**
 * The batch that another request with the same key is writing.
 * @throws Unavailable if it is not complete within seconds, or is being deleted
 */
const readAccepted = ({ batches }: AcceptStores, key: Pick<Batch, 'id' | 'organizationId'>): Promise<Batch> =>
  pRetry(
    async () => {
      const batch = await batches.get(key)
      if (!batch) throw new Unavailable(new Error(`Batch ${key.id} is being accepted, or deleted.`))
      return batch
    },
    { retries: 5, minTimeout: 200 },
  )

function optionsOf(overrides: BatchOverrides): BatchOptions {
  const { enforceInputSchema, maxAgentSteps, maxTokens, maxCostUsd, model, useCache, useDynamicLearning } =
    overrides
  return { enforceInputSchema, maxAgentSteps, maxTokens, maxCostUsd, model, useCache, useDynamicLearning }
}
