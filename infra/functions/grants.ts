import { Stack, Token } from 'aws-cdk-lib'
import type { ITable } from 'aws-cdk-lib/aws-dynamodb'
import { Effect, PolicyStatement, type PolicyStatementProps, type Role } from 'aws-cdk-lib/aws-iam'
import { getOperation, operationsOf } from '../../lib/contract/routes.ts'
import {
  AGENT_PREFIX,
  AUDIT_PREFIX,
  BATCH_PREFIX,
  CACHE_PREFIX,
  DECLARATIONS_PREFIX,
  DESTINATIONS_PREFIX,
  EXECUTION_PREFIX,
  IDEMPOTENCY_PREFIX,
  LIMITS_PREFIX,
  MCP_AUDIT_PREFIX,
  ORGANIZATION_PREFIX,
  QUEUED_PREFIX,
  QUOTA_KEY,
  RATE_PREFIX,
  ROLLOUT_PREFIX,
  SCHEDULES_PREFIX,
  SECRET_PREFIX,
  SIGNING_PREFIX,
  SLOTS_PREFIX,
  SPENT_PREFIX,
  TOKEN_ID_PREFIX,
  TOKEN_PREFIX,
  USAGE_PREFIX,
} from '../../lib/dynamodb/table/keys.ts'
import type { IndexName } from '../../lib/dynamodb/table/schema.ts'
import { type KeySetting, STACK_KEYS } from '../../lib/models/providers/provider-settings.ts'
import type { ServiceSettings } from '../settings.ts'
import type { Queues } from '../storage.ts'
import { AGENT_FUNCTIONS, type FunctionName } from './function-settings.ts'

const READS = ['BatchGetItem', 'GetItem', 'Query'] as const
const WRITES = ['BatchWriteItem', 'DeleteItem', 'PutItem', 'UpdateItem'] as const

type Grant = {
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

/**
 * The prefixes of the partition keys of items that a function may update without `UpdateItem` in its grant: the
 * authorizer records the use of a token, every function that requires a token counts the requests of those with a rate,
 * and event streams tell the worker of a run that somebody watches.
 */
export function getUpdatedPrefixes(name: FunctionName): string[] {
  if (name === 'authorize-request') return [TOKEN_PREFIX]
  if (operationsOf(name).every((each) => getOperation(each).public)) return []
  return name === 'stream-events' ? [RATE_PREFIX, EXECUTION_PREFIX] : [RATE_PREFIX]
}

/**
 * The prefix of the partition keys of the entries of audit logs that a function writes; null if it makes no change that
 * is recorded.
 */
export function getAuditPrefix(name: FunctionName): string | null {
  if (name === 'serve-mcp') return MCP_AUDIT_PREFIX
  return isRecorded(name) ? AUDIT_PREFIX : null
}

const isRecorded = (name: FunctionName): boolean =>
  operationsOf(name).some((each) => getOperation(each).audit !== undefined)

/** What adds an entry, and its result. */
export const AUDIT_WRITES = ['PutItem', 'UpdateItem'] as const
/** The only functions that may read audit logs. */
export const AUDIT_READERS: FunctionName[] = ['deliver-events', 'manage-access']

/** Prefixes of the partition keys of items that say who may do what, what agents do, what was used and is available. */
export const PROTECTED_PREFIXES = [
  ORGANIZATION_PREFIX,
  TOKEN_PREFIX,
  TOKEN_ID_PREFIX,
  AGENT_PREFIX,
  DESTINATIONS_PREFIX,
  LIMITS_PREFIX,
  QUOTA_KEY.pk,
  ROLLOUT_PREFIX,
  SIGNING_PREFIX,
  USAGE_PREFIX,
]

const RUN_READS = [
  AGENT_PREFIX,
  CACHE_PREFIX,
  DECLARATIONS_PREFIX,
  DESTINATIONS_PREFIX,
  EXECUTION_PREFIX,
  IDEMPOTENCY_PREFIX,
  LIMITS_PREFIX,
  QUEUED_PREFIX,
  QUOTA_KEY.pk,
  SLOTS_PREFIX,
  SPENT_PREFIX,
]

/**
 * The prefixes of the partition keys of all items that a function may read whose role the code of agents can use: what
 * a run needs, of all organizations, because keys of agents and executions do not begin with one. Absent: all.
 */
export const READ_PREFIXES: Partial<Record<FunctionName, string[]>> = {
  'run-agent': RUN_READS,
  'process-execution': [...RUN_READS, BATCH_PREFIX, SCHEDULES_PREFIX],
  // Who has created a token decides whether it may approve.
  'serve-mcp': [...RUN_READS, TOKEN_PREFIX, TOKEN_ID_PREFIX],
}

/** Of items that count: functions only update them. */
export const COUNTED_PREFIXES = [SLOTS_PREFIX, SPENT_PREFIX]

function addStatement(role: Role, service: string, statement: PolicyStatementProps): void {
  const actions = statement.actions?.map((action) => `${service}:${action}`) ?? []
  if (actions.length > 0 && statement.resources?.length)
    role.addToPolicy(new PolicyStatement({ ...statement, actions }))
}

/** Allows only the actions of the grant on table, indexes and queues, and what `getUpdatedPrefixes` says. */
export function applyGrant(
  role: Role,
  name: FunctionName,
  { table: { tableArn }, queues }: { table: ITable; queues: Queues },
): void {
  const { table: tableActions, indexes = [], queue: queueActions = [], deliveryQueue = [] } = GRANTS[name]
  const allowItems = (actions: string[], prefixes: string[]) =>
    addStatement(role, 'dynamodb', {
      actions: prefixes.length === 0 ? [] : actions,
      resources: [tableArn],
      // https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/specifying-conditions.html
      conditions: {
        'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': prefixes.map((each) => `${each}*`) },
      },
    })
  const allow = (actions: readonly Grant['table'][number][], prefixes: string[]) =>
    allowItems(
      actions.filter((action) => !tableActions.includes(action)),
      prefixes,
    )
  allow(['UpdateItem'], getUpdatedPrefixes(name))
  const auditPrefix = getAuditPrefix(name)
  allow(AUDIT_WRITES, auditPrefix === null ? [] : [auditPrefix])
  const readPrefixes = READ_PREFIXES[name]
  const isRead = (action: string) => READS.some((read) => read === action)
  addStatement(role, 'dynamodb', {
    actions: tableActions.filter((action) => !readPrefixes || !isRead(action)),
    resources: [tableArn],
  })
  if (readPrefixes) allowItems(tableActions.filter(isRead), readPrefixes)
  addStatement(role, 'dynamodb', {
    actions: ['Query'],
    resources: indexes.map((index) => `${tableArn}/index/${index}`),
  })
  addStatement(role, 'sqs', {
    actions: queueActions,
    resources: [queues.queue.queueArn, queues.modelQueue.queueArn],
  })
  addStatement(role, 'sqs', { actions: deliveryQueue, resources: [queues.deliveryQueue.queueArn] })
  // A request has the keys of all its items, and one is enough.
  // https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-single-vs-multi-valued-context-keys.html
  const deny = (actions: readonly string[], prefixes: string[]) =>
    addStatement(role, 'dynamodb', {
      effect: Effect.DENY,
      actions: [...actions],
      resources: [tableArn],
      conditions: {
        'ForAnyValue:StringLike': { 'dynamodb:LeadingKeys': prefixes.map((each) => `${each}*`) },
      },
    })
  // The code of an agent can use the role of its function. It must not create tokens with it, replace other agents, nor
  // have events sent to it, nor lift limits or delete what was used of them. Only writes are denied: partition keys of
  // indexes begin with the same prefixes.
  if (AGENT_FUNCTIONS.includes(name)) {
    deny(WRITES, PROTECTED_PREFIXES)
    deny(['BatchWriteItem', 'DeleteItem', 'PutItem'], COUNTED_PREFIXES)
  }
  // Nobody removes an entry of an audit log, and only those who make changes add some.
  const readsAudit = AUDIT_READERS.includes(name)
  const denied = [...(readsAudit ? [] : READS), ...WRITES].filter((each) => tableActions.includes(each))
  if (auditPrefix !== null)
    deny(
      denied.filter((each) => !AUDIT_WRITES.some((write) => write === each)),
      [auditPrefix],
    )
  deny(
    denied,
    [AUDIT_PREFIX, MCP_AUDIT_PREFIX].filter((each) => each !== auditPrefix),
  )
  // Who knows the secret of a webhook can send it any event. Secrets are in no index. Functions that run agents read
  // the one that signs requests to remote agents.
  const signing = AGENT_FUNCTIONS.includes(name) ? [] : [SIGNING_PREFIX]
  if (tableActions.length > 0 && !SECRET_FUNCTIONS.includes(name))
    deny([...READS, ...WRITES], [SECRET_PREFIX, ...signing])
}

/** Path of the secrets of tools: `${secret:NAME}` is the SSM parameter or secret `<path>/NAME` of the stack. */
export const getSecretsPath = ({ name }: { name: string }): string => `/aes/${name}/secrets`

/** Agents can use the Lambda functions with this name prefix as tools. */
export const TOOL_FUNCTION_PREFIX = 'agent-tool-'

/** Allows what agents use: Bedrock models, API keys of providers, secrets of tools, and Lambda functions as tools. */
export function grantAgentPermissions(
  role: Role,
  settings: Pick<ServiceSettings, 'name' | KeySetting>,
): void {
  const { allow, own } = permissionsOf(role)
  allow('bedrock', 'InvokeModelWithResponseStream', [
    // A request to an inference profile needs permission for the profile and for the model in every region that the
    // profile routes to: https://docs.aws.amazon.com/bedrock/latest/userguide/inference-profiles-prereq.html
    '*::foundation-model/*',
    `${own}:inference-profile/*`,
    `${own}:application-inference-profile/*`,
  ])
  grantSecrets(role, settings)
  allow('lambda', 'InvokeFunction', [`${own}:function:${TOOL_FUNCTION_PREFIX}*`])
}

/** By which Lambda connects functions to VPCs. https://docs.aws.amazon.com/lambda/latest/dg/configuration-vpc.html */
const INTERFACE_ACTIONS = [
  'AssignPrivateIpAddresses',
  'CreateNetworkInterface',
  'DeleteNetworkInterface',
  'UnassignPrivateIpAddresses',
]
/** They support no resource-level permissions. */
const DESCRIBE_ACTIONS = ['DescribeNetworkInterfaces', 'DescribeSubnets']

/**
 * Allows Lambda to connect the function to a VPC with the function's role, and denies the same to the code of agents,
 * which uses this role too: only requests from within a function have its ARN.
 * https://docs.aws.amazon.com/lambda/latest/dg/permissions-source-function-arn.html
 */
export function grantNetworkInterfaces(role: Role): void {
  const { partition, region, account } = Stack.of(role)
  // Lambda does not know the interface before it creates it, and requires all resources to delete it.
  const resources = [`arn:${partition}:ec2:${region}:${account}:*/*`]
  addStatement(role, 'ec2', { actions: INTERFACE_ACTIONS, resources })
  addStatement(role, 'ec2', { actions: DESCRIBE_ACTIONS, resources: ['*'] })
  addStatement(role, 'ec2', {
    effect: Effect.DENY,
    actions: [...INTERFACE_ACTIONS, ...DESCRIBE_ACTIONS, 'DetachNetworkInterface'],
    resources: ['*'],
    conditions: { Null: { 'lambda:SourceFunctionArn': 'false' } },
  })
}

/** Allows what the embedding model needs, if there is one. */
export function grantEmbeddings(
  role: Role,
  settings: Pick<ServiceSettings, 'name' | 'embeddingModel' | KeySetting>,
): void {
  if (settings.embeddingModel === null) return
  const isBedrock = settings.embeddingModel.startsWith('bedrock/')
  if (isBedrock) permissionsOf(role).allow('bedrock', 'InvokeModel', ['*::foundation-model/*'])
  else grantSecrets(role, settings)
}

/** Allows to put events on the bus of the setting `eventBus`, of this account or another one. */
export function grantEventBus(role: Role, eventBus: string): void {
  const { partition, region, account } = Stack.of(role)
  const own = `arn:${partition}:events:${region}:${account}:event-bus/${eventBus}`
  addStatement(role, 'events', {
    actions: ['PutEvents'],
    resources: [eventBus.startsWith('arn:') || Token.isUnresolved(eventBus) ? eventBus : own],
  })
}

/** Allows to read the quota of the account. The action supports no resource-level permissions. */
export const grantAccountSettings = (role: Role): void =>
  addStatement(role, 'lambda', { actions: ['GetAccountSettings'], resources: ['*'] })

/** Allows to read the secret with the headers of the requests that send traces. */
export function grantTraceHeaders(role: Role, settings: Pick<ServiceSettings, 'name' | 'otlpHeaders'>): void {
  const { allow, own } = permissionsOf(role)
  const path = `${getSecretsPath(settings)}/${settings.otlpHeaders}`
  allow('ssm', 'GetParameter', [`${own}:parameter/${path.replace(/^\//, '')}`])
  // Secrets Manager adds six characters to the name.
  allow('secretsmanager', 'GetSecretValue', [`${own}:secret:${path}-??????`])
}

/** Allows to read API keys of providers and secrets. */
function grantSecrets(role: Role, settings: Pick<ServiceSettings, 'name' | KeySetting>): void {
  const { allow, own } = permissionsOf(role)
  const secretsPath = getSecretsPath(settings)
  const keys = STACK_KEYS.map(({ setting }) => settings[setting]).filter((name) => name !== null)
  const parameters = [`${secretsPath}/*`, ...keys].map((name) => name.replace(/^\//, ''))
  allow(
    'ssm',
    'GetParameter',
    parameters.map((name) => `${own}:parameter/${name}`),
  )
  allow('secretsmanager', 'GetSecretValue', [`${own}:secret:${secretsPath}/*`])
}

function permissionsOf(role: Role) {
  const { partition, region, account } = Stack.of(role)
  const allow = (service: string, action: string, resources: string[]) =>
    addStatement(role, service, {
      actions: [action],
      resources: resources.map((resource) => `arn:${partition}:${service}:${resource}`),
    })
  return { allow, own: `${region}:${account}` }
}
