import type { ITable } from 'aws-cdk-lib/aws-dynamodb'
import { Effect, type Role } from 'aws-cdk-lib/aws-iam'
import { getOperation, operationsOf } from '../../lib/contract/routes.ts'
import * as keys from '../../lib/dynamodb/table/keys.ts'
import type { Queues } from '../storage.ts'
import { AGENT_FUNCTIONS, type FunctionName } from './function-settings.ts'
import { AUDIT_READERS, GRANTS, type Grant, READS, SECRET_FUNCTIONS, WRITES } from './grants.ts'
import { addStatement } from './permissions.ts'

/**
 * The prefixes of the partition keys of items that a function may update without `UpdateItem` in its grant: the
 * authorizer records the use of a token, every function that requires a token counts the requests of those with a rate,
 * and event streams tell the worker of a run that somebody watches.
 */
export function getUpdatedPrefixes(name: FunctionName): string[] {
  if (name === 'authorize-request') return [keys.TOKEN_PREFIX]
  if (operationsOf(name).every((each) => getOperation(each).public)) return []
  return name === 'stream-events' ? [keys.RATE_PREFIX, keys.EXECUTION_PREFIX] : [keys.RATE_PREFIX]
}

/**
 * The prefix of the partition keys of the entries of audit logs that a function writes; null if it makes no change that
 * is recorded.
 */
export function getAuditPrefix(name: FunctionName): string | null {
  if (name === 'serve-mcp') return keys.MCP_AUDIT_PREFIX
  const isRecorded = operationsOf(name).some((each) => getOperation(each).audit !== undefined)
  return isRecorded ? keys.AUDIT_PREFIX : null
}

/** What adds an entry, and its result. */
export const AUDIT_WRITES = ['PutItem', 'UpdateItem'] as const

/** Prefixes of the partition keys of items that say who may do what, what agents do, what was used and is available. */
export const PROTECTED_PREFIXES = [
  keys.ORGANIZATION_PREFIX,
  keys.TOKEN_PREFIX,
  keys.TOKEN_ID_PREFIX,
  keys.AGENT_PREFIX,
  keys.DESTINATIONS_PREFIX,
  keys.LIMITS_PREFIX,
  keys.QUOTA_KEY.pk,
  keys.ROLLOUT_PREFIX,
  keys.SIGNING_PREFIX,
  keys.USAGE_PREFIX,
]

const RUN_READS = [
  keys.AGENT_PREFIX,
  keys.CACHE_PREFIX,
  keys.DECLARATIONS_PREFIX,
  keys.DESTINATIONS_PREFIX,
  keys.EXECUTION_PREFIX,
  keys.IDEMPOTENCY_PREFIX,
  keys.LIMITS_PREFIX,
  keys.QUEUED_PREFIX,
  keys.QUOTA_KEY.pk,
  keys.SLOTS_PREFIX,
  keys.SPENT_PREFIX,
]

/**
 * The prefixes of the partition keys of all items that a function may read whose role the code of agents can use: what
 * a run needs, of all organizations, because keys of agents and executions do not begin with one. Absent: all.
 */
export const READ_PREFIXES: Partial<Record<FunctionName, string[]>> = {
  'run-agent': RUN_READS,
  'process-execution': [...RUN_READS, keys.BATCH_PREFIX, keys.SCHEDULES_PREFIX],
  // Who has created a token decides whether it may approve.
  'serve-mcp': [...RUN_READS, keys.TOKEN_PREFIX, keys.TOKEN_ID_PREFIX],
}

/** The prefixes of items that count. Functions only update these items. */
export const COUNTED_PREFIXES = [keys.SLOTS_PREFIX, keys.SPENT_PREFIX]

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
  // No function removes an entry of an audit log, and only functions that make changes add entries.
  const readsAudit = AUDIT_READERS.includes(name)
  const denied = [...(readsAudit ? [] : READS), ...WRITES].filter((each) => tableActions.includes(each))
  if (auditPrefix !== null)
    deny(
      denied.filter((each) => !AUDIT_WRITES.some((write) => write === each)),
      [auditPrefix],
    )
  deny(
    denied,
    [keys.AUDIT_PREFIX, keys.MCP_AUDIT_PREFIX].filter((each) => each !== auditPrefix),
  )
  // Who knows the secret of a webhook can send it any event. Secrets are in no index. Functions that run agents read
  // the one that signs requests to remote agents.
  const signing = AGENT_FUNCTIONS.includes(name) ? [] : [keys.SIGNING_PREFIX]
  if (tableActions.length > 0 && !SECRET_FUNCTIONS.includes(name))
    deny([...READS, ...WRITES], [keys.SECRET_PREFIX, ...signing])
}
