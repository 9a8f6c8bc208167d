/**
 * The table that the stack and the local service create. Indexes are named after the question that they answer; the README
 * of this folder lists the access patterns.
 */
export const TABLE = {
  partitionKey: 'pk',
  sortKey: 'sk',
  timeToLive: 'ttl',
} as const

export type IndexName =
  | 'owned-by-organization'
  | 'executions-of-agent'
  | 'open-executions'
  | 'open-executions-of-organization'

export type Index = {
  partitionKey: { name: string; type: 'S' }
  sortKey: { name: string; type: 'S' | 'N' }
  /** Attributes projected in addition to the keys: those that filters need, never a payload. */
  projection: string[]
}

export const INDEXES: Record<IndexName, Index> = {
  'owned-by-organization': {
    partitionKey: { name: 'ownerShard', type: 'S' },
    sortKey: { name: 'listOrder', type: 'S' },
    projection: ['status', 'tenantId'],
  },
  'executions-of-agent': {
    partitionKey: { name: 'agentShard', type: 'S' },
    sortKey: { name: 'listOrder', type: 'S' },
    projection: ['status', 'tenantId'],
  },
  'open-executions': {
    partitionKey: { name: 'openShard', type: 'S' },
    sortKey: { name: 'openUntil', type: 'N' },
    projection: ['organizationId', 'tenantId', 'createdAt', 'deadlineAt'],
  },
  'open-executions-of-organization': {
    partitionKey: { name: 'openOwner', type: 'S' },
    sortKey: { name: 'listOrder', type: 'S' },
    projection: [],
  },
}
