import type { IndexName } from '../../lib/dynamodb/table/schema.ts'
import type { FunctionName } from './function-settings.ts'

export const READS = ['BatchGetItem', 'GetItem', 'Query'] as const
export const WRITES = ['BatchWriteItem', 'DeleteItem', 'PutItem', 'UpdateItem'] as const

export type Grant = {
  /** Actions on the table, without its indexes. */
  table: ((typeof READS)[number] | (typeof WRITES)[number])[]
  /** Indexes that the function queries. */
  indexes?: IndexName[]
  /** Actions on the two run queues. */
  queue?: ('ChangeMessageVisibility' | 'DeleteMessage' | 'SendMessage')[]
  /** Actions on the delivery queue: of functions that end or suspend executions, or accept them. */
  deliveryQueue?: ['SendMessage']
}

/** Of the lists of the executions of an agent. */
const LIST_INDEXES: IndexName[] = [
  'active-executions',
  'executions-by-status',
  'executions-of-agent',
  'executions-of-tenant',
  'failed-executions-of-agent',
  'owned-by-organization',
]

/**
 * The table and queue permissions of each function. `test/nightly/infra/grants.test.ts` runs every function and
 * fails for a call without a grant and for a grant without a call.
 */
export const GRANTS: Record<FunctionName, Grant> = {
  'authorize-request': { table: ['GetItem'] },
  'check-health': { table: ['GetItem'] },
  'get-openapi-document': { table: [] },
  'get-me': { table: ['BatchGetItem', 'GetItem', 'Query'] },
  'serve-console': { table: [] },
  'get-agent': { table: ['BatchGetItem', 'GetItem'], indexes: ['owned-by-organization'] },
  'list-agents': { table: ['BatchGetItem', 'GetItem'], indexes: ['owned-by-organization'] },
  'publish-agent': { table: ['BatchWriteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'] },
  'archive-agent': { table: ['UpdateItem'] },
  'restore-agent': { table: ['UpdateItem'] },
  'list-versions': { table: ['BatchGetItem', 'GetItem', 'Query'], indexes: ['owned-by-organization'] },
  'get-version': { table: ['BatchGetItem', 'GetItem'], indexes: ['owned-by-organization'] },
  'delete-version': {
    table: ['BatchGetItem', 'BatchWriteItem', 'GetItem', 'UpdateItem'],
    indexes: ['active-executions', 'executions-by-status'],
  },
  'promote-version': { table: ['GetItem', 'UpdateItem'] },
  'retire-version': { table: ['GetItem', 'UpdateItem'] },
  'manage-rollouts': { table: ['GetItem', 'UpdateItem'] },
  'run-agent': {
    table: ['BatchGetItem', 'BatchWriteItem', 'DeleteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'],
    indexes: [
      'active-executions',
      'executions-by-status',
      'executions-of-agent',
      'lessons-of-agent',
      'owned-by-organization',
    ],
    queue: ['SendMessage'],
    deliveryQueue: ['SendMessage'],
  },
  'serve-mcp': {
    table: ['BatchGetItem', 'BatchWriteItem', 'DeleteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'],
    indexes: [...LIST_INDEXES, 'lessons-of-agent'],
    queue: ['SendMessage'],
    deliveryQueue: ['SendMessage'],
  },
  'list-executions': {
    table: ['BatchGetItem'],
    indexes: ['active-executions', 'executions-by-status', 'executions-of-tenant', 'owned-by-organization'],
  },
  'list-agent-executions': { table: ['BatchGetItem', 'GetItem'], indexes: LIST_INDEXES },
  'get-execution': { table: ['BatchGetItem', 'GetItem'] },
  'stream-events': { table: ['BatchGetItem', 'GetItem', 'Query'] },
  'list-steps': { table: ['BatchGetItem', 'GetItem', 'Query'] },
  'send-signal': {
    table: ['BatchGetItem', 'BatchWriteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'],
    queue: ['SendMessage'],
  },
  'cancel-execution': {
    table: ['BatchGetItem', 'DeleteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'],
    queue: ['SendMessage'],
    deliveryQueue: ['SendMessage'],
  },
  'decide-approval': {
    table: ['BatchGetItem', 'BatchWriteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'],
    indexes: ['executions-by-status', 'owned-by-organization'],
    queue: ['SendMessage'],
  },
  'manage-webhooks': {
    table: ['BatchGetItem', 'DeleteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'],
    indexes: ['owned-by-organization'],
  },
  'manage-schedules': {
    table: ['BatchGetItem', 'BatchWriteItem', 'DeleteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'],
    indexes: ['active-executions', 'executions-by-status'],
    queue: ['SendMessage'],
    deliveryQueue: ['SendMessage'],
  },
  'manage-limits': {
    table: ['BatchGetItem', 'DeleteItem', 'GetItem', 'PutItem', 'Query'],
    indexes: ['owned-by-organization'],
  },
  'manage-access': {
    table: ['BatchGetItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'],
    indexes: ['owned-by-organization'],
  },
  'manage-batches': {
    table: ['BatchGetItem', 'BatchWriteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'],
    indexes: ['owned-by-organization'],
    queue: ['SendMessage'],
  },
  'manage-trials': {
    table: ['BatchGetItem', 'BatchWriteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'],
    indexes: ['executions-of-agent', 'executions-of-tenant', 'owned-by-organization'],
    queue: ['SendMessage'],
  },
  'rerun-execution': {
    table: ['BatchGetItem', 'BatchWriteItem', 'DeleteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'],
    indexes: ['active-executions', 'executions-by-status'],
    queue: ['SendMessage'],
  },
  'read-usage': { table: ['BatchGetItem', 'GetItem', 'Query'], indexes: ['executions-by-status'] },
  'give-feedback': {
    table: ['BatchGetItem', 'BatchWriteItem', 'DeleteItem', 'GetItem', 'PutItem', 'UpdateItem'],
  },
  'delete-execution': {
    table: ['BatchGetItem', 'BatchWriteItem', 'DeleteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'],
  },
  'process-dead-letter': {
    table: ['BatchGetItem', 'DeleteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'],
    queue: ['SendMessage'],
    deliveryQueue: ['SendMessage'],
  },
  'process-execution': {
    table: ['BatchGetItem', 'BatchWriteItem', 'DeleteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'],
    indexes: ['active-executions', 'executions-by-status', 'executions-of-agent', 'lessons-of-agent'],
    queue: ['ChangeMessageVisibility', 'DeleteMessage', 'SendMessage'],
    deliveryQueue: ['SendMessage'],
  },
  'sweep-executions': {
    table: ['BatchGetItem', 'BatchWriteItem', 'DeleteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'],
    indexes: ['active-executions', 'open-executions', 'usage-entries'],
    queue: ['SendMessage'],
    deliveryQueue: ['SendMessage'],
  },
  'deliver-events': {
    table: ['BatchGetItem', 'BatchWriteItem', 'DeleteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'],
    indexes: ['active-executions', 'executions-by-status', 'owned-by-organization'],
    queue: ['SendMessage'],
    deliveryQueue: ['SendMessage'],
  },
}

/** The only functions that may read or write the secrets of webhooks. */
export const SECRET_FUNCTIONS: FunctionName[] = ['deliver-events', 'manage-webhooks']
/** The only functions that may read audit logs. */
export const AUDIT_READERS: FunctionName[] = ['deliver-events', 'manage-access']
