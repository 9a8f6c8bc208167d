import { createHash } from 'node:crypto'
import { SUBJECT_KINDS, type Subject } from '../../core/notification.ts'
import type { DeliveryId } from '../../core/ports/notifications.ts'
import { DEPLOYMENT, startOf, type UsageInterval } from '../../core/usage.ts'
import { LIMITED, type LimitSubject, type SpendingSubject } from '../../core/usage-limits.ts'

/** Key builders. Prefixes appear nowhere else. */
export type Key = { pk: string; sk: string }

/**
 * Partitions of one list, so that an organization, or the whole service, is not limited to the throughput of one
 * partition. A page of a list is one query per shard. docs/costs.md has the rates, and how to change a number.
 */
export const LIST_SHARDS = 10
export const STATUS_SHARDS = 16
export const OPEN_SHARDS = 64
export const CLEANUP_SHARDS = 8
export const TIMER_SHARDS = 16
export const OUTBOX_SHARDS = 16
export const USAGE_SHARDS = 32

/** Also in the policies that let functions read or write only some items, or all except some. */
export const ORGANIZATION_PREFIX = 'ORG#'
export const AGENT_PREFIX = 'AGENT#'
export const TOKEN_PREFIX = 'TOKEN#'
export const TOKEN_ID_PREFIX = 'TOKEN-ID#'
export const RATE_PREFIX = 'RATE#'
export const EXECUTION_PREFIX = 'EXEC#'
export const DESTINATIONS_PREFIX = 'DESTINATIONS#'
export const SECRET_PREFIX = 'SECRET#'
export const SIGNING_PREFIX = 'SIGNING#'
export const LIMITS_PREFIX = 'LIMITS#'
export const USAGE_PREFIX = 'USAGE#'

export const organizationKey = (id: string): Key => ({ pk: `${ORGANIZATION_PREFIX}${id}`, sk: 'ORG' })

export const tokenKey = (hash: string): Key => ({ pk: `${TOKEN_PREFIX}${hash}`, sk: 'TOKEN' })

/** The item has the token's hash: a token is revoked by its id. */
export const tokenIdKey = (id: string): Key => ({ pk: `${TOKEN_ID_PREFIX}${id}`, sk: 'TOKEN-ID' })

/** The requests of a token in a second. */
export const rateKey = (tokenId: string, second: number): Key => counterKey(`${tokenId}#${second}`)

/** The bytes in large bodies of an organization in a minute. */
export const largeBodiesKey = (organizationId: string, minute: number): Key =>
  counterKey(`${organizationId}#MINUTE#${minute}`)

/** The processes that open requests of an organization occupy in a window of time. */
export const occupancyKey = (organizationId: string, name: string, window: number): Key =>
  counterKey(`${organizationId}#OPEN#${name}#${window}`)

/** The runs of a tenant or an agent with limits in a minute. */
export const limitedRunsKey = (organizationId: string, subject: LimitSubject, minute: number): Key =>
  counterKey(`${organizationId}#RUNS#${minute}#${nameOf(subject)}`)

/** The quota of concurrent executions that the account has. */
export const QUOTA_KEY: Key = { pk: 'QUOTA', sk: 'QUOTA' }

const counterKey = (name: string): Key => ({ pk: `${RATE_PREFIX}${name}`, sk: 'RATE' })

const inDestinations = (organizationId: string, sk: string): Key => ({
  pk: `${DESTINATIONS_PREFIX}${organizationId}`,
  sk,
})
export const webhookKey = (organizationId: string, id: string): Key =>
  inDestinations(organizationId, `${WEBHOOK_PREFIX}${id}`)
export const WEBHOOK_PREFIX = 'WEBHOOK#'
/** The ids of the webhooks that exist, and whether there is a default secret. */
export const destinationsKey = (organizationId: string): Key => inDestinations(organizationId, 'ALL')
/** In a partition of its own, so that a policy can exclude it. */
export const webhookSecretKey = (organizationId: string, id: string): Key => ({
  pk: `${SECRET_PREFIX}${organizationId}`,
  sk: `${WEBHOOK_PREFIX}${id}`,
})

/** The default secret once more: agents run where no other one can be read. */
export const signingSecretKey = (organizationId: string): Key => ({
  pk: `${SIGNING_PREFIX}${organizationId}`,
  sk: 'SIGNING',
})

/** A tenant's id may contain any printable character: it comes last. */
const nameOf = ({ kind, id }: SpendingSubject): string => `${limitsPrefix(kind)}${id}`
export const limitsPrefix = (kind: SpendingSubject['kind']): string => `${kind.toUpperCase()}#`
export const limitsKey = (organizationId: string, subject: LimitSubject): Key => ({
  pk: `${LIMITS_PREFIX}${organizationId}`,
  sk: nameOf(subject),
})
/** Whose limits they are. */
export function limitedOf({ sk }: Key): LimitSubject {
  const kind = LIMITED.find((kind) => sk.startsWith(limitsPrefix(kind))) ?? 'tenant'
  return { kind, id: sk.slice(limitsPrefix(kind).length) }
}
export const SLOTS_PREFIX = 'SLOTS#'
/** The slots that executions of a tenant or an agent have taken, some in each item. */
export const slotsKey = (organizationId: string, subject: LimitSubject, number: number): Key => ({
  pk: `${SLOTS_PREFIX}${organizationId}#${nameOf(subject)}`,
  sk: padded(number),
})
/** The number of the item. */
export const slotsNumberOf = ({ sk }: Key): number => Number(sk)
export const QUEUED_PREFIX = 'QUEUED#'
/** An execution that waits for a slot, by the time of its acceptance. */
export const queuedRunKey = (
  subject: LimitSubject,
  run: { organizationId: string; createdAt: string; executionId: string },
): Key => ({
  pk: `${QUEUED_PREFIX}${run.organizationId}#${nameOf(subject)}`,
  sk: `${run.createdAt}#${run.executionId}`,
})
export const SPENT_PREFIX = 'SPENT#'
/** What a tenant or an agent with limits, or a trial, has spent in a month: a part of it is in each of the shards. */
export const SPENT_SHARDS = 8
export const spentKey = (
  organizationId: string,
  subject: SpendingSubject,
  month: string,
  shard: number,
): Key => ({ pk: `${SPENT_PREFIX}${organizationId}#${shard}#${nameOf(subject)}`, sk: month })
/** What destinations are told of a cost limit. */
export const warningKey = (id: string): Key => inSubject({ kind: 'limit', id }, 'WARNING')

const inAgent = (id: string, sk: string): Key => ({ pk: `${AGENT_PREFIX}${id}`, sk })
export const agentKey = (id: string): Key => inAgent(id, 'AGENT')
export const versionKey = (agentId: string, id: string): Key => inAgent(agentId, `${VERSION_PREFIX}${id}`)
export const VERSION_PREFIX = 'VERSION#'
export const codeKey = (agentId: string, versionId: string, chunk: number): Key =>
  inAgent(agentId, `CODE#${versionId}#${padded(chunk)}`)
/** The number of the last version of the agent. */
export const versionNumbersKey = (agentId: string): Key => inAgent(agentId, 'NUMBERS')
/** Says that the agent has, or had, a rollout that the service may end. */
export const rolloutWatchKey = (agentId: string): Key => inAgent(agentId, 'ROLLOUT')
export const watchedAgentIdOf = ({ pk }: Key): string => pk.slice(AGENT_PREFIX.length)
/** The id of the agent; null for other items. */
export const agentIdOf = ({ pk, sk }: Key): string | null =>
  pk.startsWith(AGENT_PREFIX) && sk === 'AGENT' ? pk.slice(AGENT_PREFIX.length) : null

/** Not in the partition of the agent: the runner moves schedules on, and must not write agents. */
const inSchedules = (agentId: string, sk: string): Key => ({ pk: `${SCHEDULES_PREFIX}${agentId}`, sk })
export const SCHEDULES_PREFIX = 'SCHEDULES#'
export const scheduleKey = (agentId: string, name: string): Key =>
  inSchedules(agentId, `${SCHEDULE_PREFIX}${name}`)
export const SCHEDULE_PREFIX = 'SCHEDULE#'
/** The names of all schedules of an agent. */
export const schedulesKey = (agentId: string): Key => inSchedules(agentId, 'ALL')
/** Null for other items. */
export const scheduleIdOf = ({ pk, sk }: Key): { agentId: string; schedule: string } | null =>
  pk.startsWith(SCHEDULES_PREFIX) && sk.startsWith(SCHEDULE_PREFIX)
    ? { agentId: pk.slice(SCHEDULES_PREFIX.length), schedule: sk.slice(SCHEDULE_PREFIX.length) }
    : null

export const batchKey = (id: string): Key => ({ pk: `${BATCH_PREFIX}${id}`, sk: 'BATCH' })
export const BATCH_PREFIX = 'BATCH#'
/** Each block is a partition: lines are read while others are. */
export const batchBlockKey = (id: string, block: number, chunk: number, writer?: string): Key => ({
  pk: `${BATCH_PREFIX}${id}#${block}`,
  sk: writer === undefined ? padded(chunk) : `${writer}#${padded(chunk)}`,
})
/** The lines of a batch that are open at the same time write their lanes. */
export const LANE_SHARDS = 8
export const laneKey = (id: string, number: number, lanes = LANE_SHARDS): Key => ({
  pk: `${BATCH_PREFIX}${id}#LANES#${number % Math.min(lanes, LANE_SHARDS)}`,
  sk: padded(number),
})
/** Of the batch to which the item belongs; null for other items. */
export const ownerBatchIdOf = ({ pk }: Key): string | null =>
  pk.startsWith(BATCH_PREFIX) ? (pk.split('#')[1] ?? null) : null
/** Of the record of a batch; null for other items. */
export const batchIdOf = ({ pk, sk }: Key): string | null =>
  sk === 'BATCH' ? pk.slice(BATCH_PREFIX.length) : null

export const AUDIT_PREFIX = 'AUDIT#'
/** Of changes over MCP: the function that makes them also runs agents, whose code can use its permissions. */
export const MCP_AUDIT_PREFIX = 'AUDIT-MCP#'
/** Partitions of the audit log of an organization: those of all interfaces but MCP, and its one. */
export const AUDIT_SHARDS = 4
export const AUDIT_PARTITIONS = AUDIT_SHARDS + 1
export const auditPartition = (organizationId: string, number: number): string =>
  number === AUDIT_SHARDS
    ? `${MCP_AUDIT_PREFIX}${organizationId}`
    : `${AUDIT_PREFIX}${organizationId}#${number}`
export const auditKey = (organizationId: string, id: string, isMcp: boolean): Key => ({
  pk: auditPartition(organizationId, isMcp ? AUDIT_SHARDS : shardOf(id, AUDIT_SHARDS)),
  sk: id,
})
/** Of an entry of an audit log; null for other items. */
export const auditIdOf = ({ pk, sk }: Key): string | null =>
  pk.startsWith(AUDIT_PREFIX) || pk.startsWith(MCP_AUDIT_PREFIX) ? sk : null

/** Of the partitions with the records of what has events. */
const SUBJECT_PREFIXES = {
  execution: EXECUTION_PREFIX,
  batch: BATCH_PREFIX,
  limit: 'LIMIT#',
  rollout: 'ROLLOUT#',
  // Only deliveries: entries are where the organization finds them.
  audit: 'AUDITED#',
} as const
const inSubject = ({ kind, id }: Subject, sk: string): Key => ({ pk: `${SUBJECT_PREFIXES[kind]}${id}`, sk })
/** Whose record or delivery it is. */
export function subjectOf(key: Key): Subject {
  const { pk } = key
  const auditId = auditIdOf(key)
  if (auditId !== null) return { kind: 'audit', id: auditId }
  const kind = SUBJECT_KINDS.find((kind) => pk.startsWith(SUBJECT_PREFIXES[kind])) ?? 'execution'
  return { kind, id: pk.slice(SUBJECT_PREFIXES[kind].length) }
}

const inExecution = (id: string, sk: string): Key => inSubject({ kind: 'execution', id }, sk)
export const executionKey = (id: string): Key => inExecution(id, 'RECORD')
export const payloadKey = (executionId: string, name: string, chunk: number): Key =>
  inExecution(executionId, `${payloadPrefix(name)}${padded(chunk)}`)
export const payloadPrefix = (name: string): string => `PAYLOAD#${name}#`
/** The scheduled check of a payload. */
export const cleanupKey = (executionId: string, name: string): Key =>
  inExecution(executionId, `${CLEANUP_PREFIX}${name}`)
/** The name of the payload that a scheduled check is about. */
export const payloadNameOf = ({ sk }: Key): string => sk.slice(CLEANUP_PREFIX.length)
const CLEANUP_PREFIX = 'CLEANUP#'
/** A payload's name contains the sort key of the item that refers to it. `writer` must be unique. */
export const payloadName = (holder: Key, writer: string): string => `${holder.sk}#${writer}`
export const holderOf = (executionId: string, name: string): Key =>
  inExecution(executionId, name.slice(0, name.lastIndexOf('#')))
export const stepKey = (executionId: string, number: number): Key =>
  inExecution(executionId, `STEP#${String(number).padStart(5, '0')}`)
/** The number of the step in the sort key of a step or of a result. */
export const stepNumberOf = (sk: string): number => Number(sk.split('#')[1])
/** The response that a model is writing for the execution. */
export const responseKey = (executionId: string): Key => inExecution(executionId, RESPONSE)
const RESPONSE = 'RESPONSE'
export const isResponse = ({ sk }: Key): boolean => sk === RESPONSE
/** With a hash of the call id, which a model chose and which may not fit a key. */
export const callKey = (executionId: string, number: number, callId: string): Key => {
  const call = createHash('sha256').update(callId).digest('hex').slice(0, 32)
  return inExecution(executionId, `${stepKey(executionId, number).sk}#CALL#${call}`)
}
/** Says that a tool call of the execution started, or may start, another one. */
export const childKey = (executionId: string, childId: string): Key =>
  inExecution(executionId, `${CHILD_PREFIX}${childId}`)
export const CHILD_PREFIX = 'CHILD#'
/** The id of the other one; null for other items. */
export const childIdOf = ({ sk }: Key): string | null =>
  sk.startsWith(CHILD_PREFIX) ? sk.slice(CHILD_PREFIX.length) : null
/** @param id a hash, if the sender chose it */
export const signalKey = (executionId: string, id: string): Key =>
  inExecution(executionId, `${SIGNAL_PREFIX}${id}`)
export const SIGNAL_PREFIX = 'SIGNAL#'
export const signalIdOf = ({ sk }: Key): string => sk.slice(SIGNAL_PREFIX.length)
/** @param value a hash: another attempt may have another value, whose item it must not replace */
export const searchKey = (executionId: string, name: string, value: string): Key =>
  inExecution(executionId, `KEY#${name}#${value}`)
/** How many signals the execution has. */
export const signalCountKey = (executionId: string): Key => inExecution(executionId, 'SIGNALS')
/** One event for one destination. */
export const deliveryKey = ({ subject, revision, destinationId }: DeliveryId): Key =>
  inSubject(subject, `${DELIVERY_PREFIX}${revision}#${destinationId}`)
export const DELIVERY_PREFIX = 'DELIVERY#'
/** Null for other items. */
export function deliveryIdOf({ pk, sk }: Key): DeliveryId | null {
  const [, revision, destinationId = ''] = sk.startsWith(DELIVERY_PREFIX) ? sk.split('#') : []
  return revision === undefined
    ? null
    : { subject: subjectOf({ pk, sk }), revision: Number(revision), destinationId }
}
/** Of a warning; null for other items. */
export const warningIdOf = ({ pk }: Key): string | null =>
  pk.startsWith(SUBJECT_PREFIXES.limit) ? pk.slice(SUBJECT_PREFIXES.limit.length) : null
/** Of a delivery of an entry of an audit log, or of what says that it is handled; null for other items. */
export const deliveredAuditIdOf = ({ pk }: Key): string | null =>
  pk.startsWith(SUBJECT_PREFIXES.audit) ? pk.slice(SUBJECT_PREFIXES.audit.length) : null
/** What destinations are told of a rollout that the service has ended. */
export const abortedRolloutKey = (id: string): Key => inSubject({ kind: 'rollout', id }, 'ABORTED')
export const ROLLOUT_PREFIX = SUBJECT_PREFIXES.rollout
/** Of what destinations are told of a rollout; null for other items. */
export const abortedRolloutIdOf = ({ pk }: Key): string | null =>
  pk.startsWith(ROLLOUT_PREFIX) ? pk.slice(ROLLOUT_PREFIX.length) : null
/** Says that all events of a subject that has ended have deliveries. */
export const handledKey = (subject: Subject): Key => inSubject(subject, HANDLED)
const HANDLED = 'HANDLED'
/** What the events of a deleted execution need until they are delivered. */
export const deletedKey = (executionId: string): Key => inExecution(executionId, DELETED)
const DELETED = 'DELETED'
/** Whether the item is needed as long as events of a deleted execution are not delivered. */
export const isOfEvents = (sk: string): boolean =>
  sk === DELETED || sk === HANDLED || sk.startsWith(DELIVERY_PREFIX)
/** Up to where the sweeper has read the outbox. */
export const OUTBOX_POSITION: Key = { pk: 'OUTBOX', sk: 'POSITION' }
/** Final executions, by the time at which they became final. */
export const usageShard = (shard: number): string => `${USAGE_PREFIX}${shard}`
/**
 * The partition with the totals of an organization in an interval. All minutes of an hour, and all hours of a day, are
 * in one of each shard: they are read for all organizations, too.
 */
export function usagePartition(interval: UsageInterval, organizationId: string, start: number): string {
  if (interval === 'day') return `${USAGE_PREFIX}DAY#${organizationId}`
  const shard = organizationId === DEPLOYMENT ? 'ALL' : shardOf(organizationId, USAGE_SHARDS)
  return usagePartsPartition(interval, start, shard)
}
export const usagePartsPartition = (
  interval: 'minute' | 'hour',
  start: number,
  shard: number | 'ALL',
): string =>
  `${USAGE_PREFIX}${interval.toUpperCase()}#${toIso(startOf(interval === 'minute' ? 'hour' : 'day', start))}#${shard}`
/** The totals of an organization in an interval. */
export const usageKey = (interval: UsageInterval, organizationId: string, start: number): Key => ({
  pk: usagePartition(interval, organizationId, start),
  sk: usageOrder(organizationId, start),
})
export const usageOrder = (organizationId: string, start: number): string =>
  `${organizationId}#${toIso(start)}`
export const usageOwnerOf = ({ sk }: Key): string => sk.slice(0, sk.lastIndexOf('#'))
/** A part of totals that are too large for one item. `write`: a UUID of their own. */
export const usageChunkKey = (write: string, chunk: number): Key => ({
  pk: `${USAGE_PREFIX}CHUNKS#${write}`,
  sk: padded(chunk),
})
/** Up to where totals are complete. */
export const USAGE_POSITION: Key = { pk: `${USAGE_PREFIX}POSITION`, sk: 'POSITION' }
const toIso = (ms: number): string => new Date(ms).toISOString()
export const executionIdOf = (pk: string): string => pk.slice('EXEC#'.length)
/** Whether the item is an execution's record, step or chunk. */
export const isOfExecution = ({ pk }: Key): boolean => pk.startsWith('EXEC#')
export const isExecutionRecord = (key: Key): boolean => isOfExecution(key) && key.sk === 'RECORD'

export const cacheKey = (key: string): Key => ({ pk: `${CACHE_PREFIX}${key}`, sk: 'CACHE' })
export const CACHE_PREFIX = 'CACHE#'

/** @param hash of the declarations */
export const declarationsKey = (organizationId: string, hash: string): Key => ({
  pk: `${DECLARATIONS_PREFIX}${organizationId}#${hash}`,
  sk: 'DECLARATIONS',
})
export const DECLARATIONS_PREFIX = 'DECLARATIONS#'
export const isDeclarations = ({ pk }: Key): boolean => pk.startsWith(DECLARATIONS_PREFIX)

/** @param id a hash of the client's key, which may be long and contain any characters */
export const idempotencyKey = (id: string): Key => ({
  pk: `${IDEMPOTENCY_PREFIX}${id}`,
  sk: 'IDEMPOTENCY',
})
export const IDEMPOTENCY_PREFIX = 'IDEMPOTENCY#'

export const ownedShard = (
  organizationId: string,
  kind: 'AGENT' | 'BATCH' | 'DECISION' | 'EXEC' | 'TOKEN' | 'TRIAL',
  shard: number,
): string => `ORG#${organizationId}#${kind}#${shard}`
export const organizationsShard = (shard: number): string => `ORGS#${shard}`
export const agentShard = (agentId: string, shard: number): string => `AGENT#${agentId}#EXEC#${shard}`
export const tenantShard = (organizationId: string, tenantId: string, shard: number): string =>
  `ORG#${organizationId}#TENANT#${shard}#${tenantId}`
/**
 * What the index `executions-by-status` tells apart. Both kinds of waiting executions are in progress for clients. Of
 * those that have succeeded, it has some with scores: a low one that nobody has reviewed, or one beside a review.
 */
export type StatusKey = 'IN_PROGRESS' | 'WAITING' | 'WAITING-APPROVAL' | 'ERROR' | 'LOW-SCORE' | 'REVIEWED'
export const statusShard = (organizationId: string, status: StatusKey, shard: number): string =>
  `ORG#${organizationId}#${status}#${shard}`
/** Executions that have a key with this name, by its value: in the index `executions-by-status`, too. */
export const searchShard = (organizationId: string, name: string, shard: number): string =>
  `ORG#${organizationId}#KEY#${name}#${shard}`
/** Before the ID of the execution. Values have no control characters. */
export const searchPrefix = (value: string): string => `${value}\n`
/** Rated executions of an agent and a tenant. Those whose feedback is no review are apart: they displace none. */
export const lessonShard = (agentId: string, tenantId: string | null, isReview: boolean): string =>
  `AGENT#${agentId}#${isReview ? 'REVIEWS' : 'FEEDBACK'}${tenantId === null ? '' : `#${tenantId}`}`
/** Backwards: corrected executions, newest first, then liked ones. */
export const lessonOrder = (isCorrected: boolean, id: string): string =>
  `${isCorrected ? CORRECTED : LIKED}#${id}`
export const isCorrectedLesson = (order: string): boolean => order.startsWith(CORRECTED)
const CORRECTED = '2'
const LIKED = '1'
export const cleanupShard = (shard: number): string => `CLEANUP#${shard}`
/** Final executions from whose end something follows. */
export const openShard = (shard: number): string => `OPEN#${shard}`
/**
 * Executions that run or are queued. All organizations share `OPEN_SHARDS` partitions, which the sweeper reads; each
 * has `STATUS_SHARDS` of them, in which its entries follow one another, so that its lists read no others.
 */
export const activeShard = (organizationId: string, shard: number): string =>
  activePartition((shardOf(organizationId, OPEN_SHARDS) + shard) % OPEN_SHARDS)
export const activePartition = (number: number): string => `ACTIVE#${number}`
export const activePrefix = (organizationId: string): string => `${organizationId}#`
/** Suspended executions, by the time at which they are resumed at the latest. */
export const timerShard = (shard: number): string => `TIMER#${shard}`
export const timerShardOf = (id: string): string => timerShard(shardOf(id, TIMER_SHARDS))

/** Agents with a rollout that the service may end: there are never many. */
export const ROLLOUTS_SHARD = 'ROLLOUTS'

/** What has ended and whose events may not be handled, by the time of the end. Entries stay: it is a log. */
export const outboxShard = (shard: number): string => `${OUTBOX_SHARD_PREFIX}${shard}`
export const isOutboxShard = (shard: string | undefined): boolean =>
  shard?.startsWith(OUTBOX_SHARD_PREFIX) ?? false
const OUTBOX_SHARD_PREFIX = 'OUTBOX#'
/** The keys of what has ended at a time, in milliseconds since the epoch. */
export const outboxKeys = (id: string, at: number) => ({
  openShard: outboxShard(shardOf(id, OUTBOX_SHARDS)),
  openUntil: at,
})
export const deliveriesShard = (organizationId: string, destinationId: string, shard: number): string =>
  `ORG#${organizationId}#WEBHOOK#${shard}#${destinationId}`

/** Derived from the last two bytes of the UUID, which are random in all UUID versions in use. */
export const shardOf = (id: string, shards: number): number => Number.parseInt(id.slice(-4), 16) % shards

const padded = (chunk: number): string => String(chunk).padStart(4, '0')
