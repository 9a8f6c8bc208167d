import { LIST_SHARDS, OPEN_SHARDS, STATUS_SHARDS, USAGE_SHARDS } from './keys.ts'

/**
 * The table that the stack and the local service create. Indexes are named after the question that they answer; the
 * README of this folder lists the access patterns.
 */
export const TABLE = {
  partitionKey: 'pk',
  sortKey: 'sk',
  timeToLive: 'ttl',
} as const

export type IndexName =
  | 'owned-by-organization'
  | 'executions-of-agent'
  | 'executions-of-tenant'
  | 'executions-by-status'
  | 'failed-executions-of-agent'
  | 'active-executions'
  | 'open-executions'
  | 'lessons-of-agent'
  | 'usage-entries'

export type Index = {
  partitionKey: { name: string; type: 'S' }
  sortKey: { name: string; type: 'S' | 'N' }
  /** Partitions over which the entries of one list are distributed. */
  shards: number
  /** Attributes projected beside the keys: what filters and searches need, no payload, nothing that a run changes. */
  projection: string[]
}

/** Of a final execution: what its entry of the usage index shows. */
export const USAGE_ATTRIBUTES = [
  'organizationId',
  'agentId',
  'versionId',
  'tenantId',
  'tokenId',
  'model',
  'errorCode',
  'cached',
  'steps',
  'usage',
  'lostSteps',
  'lostUsage',
  'childUsage',
  'startedAt',
  'waitedMs',
] as const

/** An index whose entries are listed by `listOrder`. */
const listIndex = (partitionKey: string, projection: string[], shards = LIST_SHARDS): Index => ({
  partitionKey: { name: partitionKey, type: 'S' },
  sortKey: { name: 'listOrder', type: 'S' },
  shards,
  projection,
})

export const INDEXES: Record<IndexName, Index> = {
  'owned-by-organization': listIndex('ownerShard', []),
  'executions-of-agent': listIndex('agentShard', ['tenantId']),
  'executions-of-tenant': listIndex('tenantShard', ['agentId']),
  'executions-by-status': listIndex('statusShard', ['agentId', 'tenantId'], STATUS_SHARDS),
  'failed-executions-of-agent': listIndex('failedShard', ['tenantId']),
  'active-executions': {
    partitionKey: { name: 'activeShard', type: 'S' },
    sortKey: { name: 'activeOrder', type: 'S' },
    shards: OPEN_SHARDS,
    projection: ['organizationId', 'agentId', 'tenantId', 'createdAt', 'openUntil', 'deadlineAt'],
  },
  'open-executions': {
    partitionKey: { name: 'openShard', type: 'S' },
    sortKey: { name: 'openUntil', type: 'N' },
    shards: OPEN_SHARDS,
    projection: ['organizationId', 'tenantId', 'createdAt', 'deadlineAt'],
  },
  'lessons-of-agent': {
    partitionKey: { name: 'lessonShard', type: 'S' },
    sortKey: { name: 'lessonOrder', type: 'S' },
    shards: 1,
    projection: ['id', 'lesson', 'versionId'],
  },
  'usage-entries': {
    partitionKey: { name: 'usageShard', type: 'S' },
    sortKey: { name: 'usageAt', type: 'N' },
    shards: USAGE_SHARDS,
    projection: [...USAGE_ATTRIBUTES],
  },
}
