import { Stack } from 'aws-cdk-lib'
import type { Table } from 'aws-cdk-lib/aws-dynamodb'
import { Effect, PolicyStatement, type Role } from 'aws-cdk-lib/aws-iam'
import type { Queue } from 'aws-cdk-lib/aws-sqs'
import { getOperation, operationsOf } from '../../lib/api/routes.ts'
import {
  AGENT_PREFIX,
  ORGANIZATION_PREFIX,
  RATE_PREFIX,
  TOKEN_ID_PREFIX,
  TOKEN_PREFIX,
} from '../../lib/dynamodb/table/keys.ts'
import type { IndexName } from '../../lib/dynamodb/table/schema.ts'
import { type KeySetting, STACK_KEYS } from '../../lib/models/providers/provider-settings.ts'
import type { Settings } from '../settings.ts'
import { AGENT_FUNCTIONS, type FunctionName } from './function-settings.ts'

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
 * The table and queue permissions of each function. `test/infra/functions/grants.slow.test.ts` runs every function and
 * fails for a call without a grant and for a grant without a call.
 */
export const GRANTS: Record<FunctionName, Grant> = {
  'authorize-request': { table: ['GetItem'] },
  'check-health': { table: ['GetItem'] },
  'get-openapi-document': { table: [] },
  'get-me': { table: [] },
  'serve-console': { table: [] },
  'get-agent': { table: ['BatchGetItem', 'GetItem'], indexes: ['owned-by-organization'] },
  'list-agents': { table: ['BatchGetItem'], indexes: ['owned-by-organization'] },
  'publish-agent': { table: ['BatchWriteItem', 'GetItem', 'PutItem', 'UpdateItem'] },
  'archive-agent': { table: ['UpdateItem'] },
  'restore-agent': { table: ['UpdateItem'] },
  'list-versions': { table: ['BatchGetItem', 'GetItem', 'Query'], indexes: ['owned-by-organization'] },
  'get-version': { table: ['BatchGetItem', 'GetItem'], indexes: ['owned-by-organization'] },
  'delete-version': {
    table: ['BatchGetItem', 'BatchWriteItem', 'GetItem', 'UpdateItem'],
    indexes: ['executions-by-status'],
  },
  'promote-version': { table: ['GetItem', 'UpdateItem'] },
  'retire-version': { table: ['GetItem', 'UpdateItem'] },
  'run-agent': {
    table: ['BatchGetItem', 'BatchWriteItem', 'DeleteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'],
    indexes: ['executions-by-status', 'executions-of-agent', 'owned-by-organization'],
    queue: ['SendMessage'],
  },
  'serve-mcp': {
    table: ['BatchGetItem', 'BatchWriteItem', 'DeleteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'],
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
      'owned-by-organization',
    ],
  },
  'get-execution': { table: ['BatchGetItem', 'GetItem'] },
  'stream-events': { table: ['BatchGetItem', 'GetItem', 'Query'] },
  'list-steps': { table: ['BatchGetItem', 'GetItem', 'Query'] },
  'cancel-execution': { table: ['BatchGetItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'] },
  'give-feedback': {
    table: ['BatchGetItem', 'BatchWriteItem', 'DeleteItem', 'GetItem', 'PutItem', 'UpdateItem'],
  },
  'delete-execution': {
    table: ['BatchWriteItem', 'DeleteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'],
  },
  'process-dead-letter': {
    table: ['BatchGetItem', 'GetItem', 'Query', 'UpdateItem'],
    queue: ['SendMessage'],
  },
  'process-execution': {
    table: ['BatchGetItem', 'BatchWriteItem', 'DeleteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'],
    indexes: ['executions-of-agent'],
    queue: ['ChangeMessageVisibility', 'SendMessage'],
  },
  'sweep-executions': {
    table: ['BatchGetItem', 'BatchWriteItem', 'DeleteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'],
    indexes: ['open-executions'],
    queue: ['SendMessage'],
  },
}

/**
 * The prefix of the partition keys of items that a function may update without `UpdateItem` in its grant: the
 * authorizer records the use of a token, and every function that requires a token counts the requests of those with a
 * rate.
 */
export function getUpdatedPrefix(name: FunctionName): string | null {
  if (name === 'authorize-request') return TOKEN_PREFIX
  return operationsOf(name).some((each) => !getOperation(each).public) ? RATE_PREFIX : null
}

/** Of the partition keys of items that say who may do what, and what agents do. */
export const PROTECTED_PREFIXES = [ORGANIZATION_PREFIX, TOKEN_PREFIX, TOKEN_ID_PREFIX, AGENT_PREFIX]

const WRITES: TableAction[] = ['BatchWriteItem', 'DeleteItem', 'PutItem', 'UpdateItem']

/**
 * The code of an agent can use the role of its function. It must not create tokens with it, nor replace other agents.
 * Only writes are denied: partition keys of indexes begin with the same prefixes. A write has the keys of all its
 * items, and one is enough.
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-single-vs-multi-valued-context-keys.html
 */
function denyProtectedWrites(role: Role, table: Table): void {
  role.addToPolicy(
    new PolicyStatement({
      effect: Effect.DENY,
      actions: WRITES.map((action) => `dynamodb:${action}`),
      resources: [table.tableArn],
      conditions: {
        'ForAnyValue:StringLike': {
          'dynamodb:LeadingKeys': PROTECTED_PREFIXES.map((prefix) => `${prefix}*`),
        },
      },
    }),
  )
}

/** Allows only the actions of the grant on table, indexes and queue, and what `getUpdatedPrefix` says. */
export function applyGrant(
  role: Role,
  name: FunctionName,
  { table, queue }: { table: Table; queue: Queue },
): void {
  const { table: tableActions, indexes = [], queue: queueActions = [] } = GRANTS[name]
  const allow = (service: string, actions: readonly string[], resources: string[], conditions = {}) => {
    if (actions.length === 0 || resources.length === 0) return
    role.addToPolicy(
      new PolicyStatement({
        actions: actions.map((action) => `${service}:${action}`),
        resources,
        conditions,
      }),
    )
  }
  const prefix = getUpdatedPrefix(name)
  if (prefix !== null && !tableActions.includes('UpdateItem'))
    // https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/specifying-conditions.html
    allow('dynamodb', ['UpdateItem'], [table.tableArn], {
      'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [`${prefix}*`] },
    })
  allow('dynamodb', tableActions, [table.tableArn])
  allow(
    'dynamodb',
    ['Query'],
    indexes.map((index) => `${table.tableArn}/index/${index}`),
  )
  allow('sqs', queueActions, [queue.queueArn])
  if (AGENT_FUNCTIONS.includes(name)) denyProtectedWrites(role, table)
}

/** Path of the secrets of tools: `${secret:NAME}` is the SSM parameter or secret `<path>/NAME` of the stack. */
export const getSecretsPath = ({ stackName }: { stackName: string }): string => `/aes/${stackName}/secrets`

/** Agents can use the Lambda functions with this name prefix as tools. */
export const TOOL_FUNCTION_PREFIX = 'agent-tool-'

type AgentSettings = Pick<Settings, 'stackName' | KeySetting>

/** Allows what agents use: Bedrock models, API keys of providers, secrets of tools, and Lambda functions as tools. */
export function grantAgentPermissions(role: Role, settings: AgentSettings): void {
  const secretsPath = getSecretsPath(settings)
  const { partition, region, account } = Stack.of(role)
  const arn = (service: string, resource: string, owner = account) =>
    `arn:${partition}:${service}:${region}:${owner}:${resource}`
  const allow = (actions: string[], resources: string[]) =>
    role.addToPolicy(new PolicyStatement({ actions, resources }))
  allow(
    ['bedrock:InvokeModelWithResponseStream'],
    [
      // A request to an inference profile needs permission for the profile and for the model in every region that the
      // profile routes to: https://docs.aws.amazon.com/bedrock/latest/userguide/inference-profiles-prereq.html
      `arn:${partition}:bedrock:*::foundation-model/*`,
      arn('bedrock', 'inference-profile/*'),
      arn('bedrock', 'application-inference-profile/*'),
    ],
  )
  const keys = STACK_KEYS.map(({ setting }) => settings[setting]).filter((name) => name !== null)
  allow(
    ['ssm:GetParameter'],
    [`${secretsPath}/*`, ...keys].map((name) => arn('ssm', `parameter/${name.replace(/^\//, '')}`)),
  )
  allow(['secretsmanager:GetSecretValue'], [arn('secretsmanager', `secret:${secretsPath}/*`)])
  allow(['lambda:InvokeFunction'], [arn('lambda', `function:${TOOL_FUNCTION_PREFIX}*`)])
}
