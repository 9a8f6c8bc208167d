import type { Table } from 'aws-cdk-lib/aws-dynamodb'
import { PolicyStatement, type Role } from 'aws-cdk-lib/aws-iam'
import type { Queue } from 'aws-cdk-lib/aws-sqs'
import type { IndexName } from '../../lib/dynamodb/table/schema.ts'
import type { FunctionName } from './function-settings.ts'

export type TableAction =
  | 'BatchGetItem'
  | 'BatchWriteItem'
  | 'DeleteItem'
  | 'GetItem'
  | 'PutItem'
  | 'Query'
  | 'UpdateItem'

export type QueueAction = 'ChangeMessageVisibility' | 'SendMessage'

export type Grant = {
  /** Actions on the table, without its indexes. */
  table: TableAction[]
  /** Indexes that the function queries. */
  indexes?: IndexName[]
  queue?: QueueAction[]
}

/**
 * The table and queue permissions of each function. `test/infra/functions/grants.slow.test.ts` runs every function and fails
 * for a call without a grant and for a grant without a call.
 */
export const GRANTS: Record<FunctionName, Grant> = {
  'authorize-request': { table: ['GetItem'] },
  'check-health': { table: ['GetItem'] },
  'get-openapi-document': { table: [] },
  'get-agent': { table: ['GetItem'] },
  'list-agents': { table: ['BatchGetItem'], indexes: ['owned-by-organization'] },
  'list-versions': { table: ['GetItem', 'Query'] },
  'run-agent': {
    table: ['BatchGetItem', 'BatchWriteItem', 'GetItem', 'PutItem', 'UpdateItem'],
    indexes: ['executions-by-status', 'executions-of-agent'],
    queue: ['SendMessage'],
  },
  'serve-mcp': {
    table: ['BatchGetItem', 'BatchWriteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'],
    indexes: [
      'executions-by-status',
      'executions-of-agent',
      'executions-of-tenant',
      'failed-executions-of-agent',
      'owned-by-organization',
    ],
    queue: ['SendMessage'],
  },
  'list-executions': {
    table: ['BatchGetItem'],
    indexes: ['executions-by-status', 'executions-of-tenant', 'owned-by-organization'],
  },
  'list-agent-executions': {
    table: ['BatchGetItem', 'GetItem'],
    indexes: [
      'executions-by-status',
      'executions-of-agent',
      'executions-of-tenant',
      'failed-executions-of-agent',
    ],
  },
  'get-execution': { table: ['BatchGetItem', 'GetItem'] },
  'list-steps': { table: ['BatchGetItem', 'GetItem', 'Query'] },
  'cancel-execution': { table: ['BatchGetItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'] },
  'give-feedback': { table: ['BatchGetItem', 'BatchWriteItem', 'GetItem', 'PutItem', 'UpdateItem'] },
  'delete-execution': {
    table: ['BatchWriteItem', 'DeleteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'],
  },
  'process-dead-letter': {
    table: ['BatchGetItem', 'GetItem', 'Query', 'UpdateItem'],
    queue: ['SendMessage'],
  },
  'process-execution': {
    table: ['BatchGetItem', 'BatchWriteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'],
    indexes: ['executions-of-agent'],
    queue: ['ChangeMessageVisibility', 'SendMessage'],
  },
  'sweep-executions': {
    table: ['BatchGetItem', 'BatchWriteItem', 'DeleteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'],
    indexes: ['open-executions'],
    queue: ['SendMessage'],
  },
}

/** Allows the actions of the grant on the table, the indexes and the queue, and nothing else. */
export function applyGrant(
  role: Role,
  { table: tableActions, indexes = [], queue: queueActions = [] }: Grant,
  { table, queue }: { table: Table; queue: Queue },
): void {
  const allow = (service: string, actions: readonly string[], resources: string[]) => {
    if (actions.length === 0 || resources.length === 0) return
    role.addToPolicy(
      new PolicyStatement({ actions: actions.map((action) => `${service}:${action}`), resources }),
    )
  }
  allow('dynamodb', tableActions, [table.tableArn])
  allow(
    'dynamodb',
    ['Query'],
    indexes.map((index) => `${table.tableArn}/index/${index}`),
  )
  allow('sqs', queueActions, [queue.queueArn])
}
