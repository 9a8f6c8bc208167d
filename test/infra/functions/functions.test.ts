import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  AUDIT_WRITES,
  getAuditPrefix,
  getUpdatedPrefixes,
  READ_PREFIXES,
} from '../../../infra/functions/apply-grant.ts'
import {
  AGENT_FUNCTIONS,
  FUNCTION_NAMES,
  type FunctionName,
} from '../../../infra/functions/function-settings.ts'
import { LIVE } from '../../../infra/functions/functions.ts'
import { AUDIT_READERS, GRANTS, SECRET_FUNCTIONS } from '../../../infra/functions/grants.ts'
import { functionOf, getOperation, operationNames, operationsOf } from '../../../lib/contract/routes.ts'
import { OPTION_SETS } from '../all-options.ts'
import {
  findFunctionResource,
  findResources,
  type Statement,
  statementsOf,
  synthesize,
  toLogicalIdPrefix,
  variablesOf,
} from '../synthesize.ts'

const template = synthesize()
const [tableId = ''] = Object.keys(findResources(template, 'AWS::DynamoDB::Table'))

const toArray = <T>(value: T | T[]): T[] => (Array.isArray(value) ? value : [value])

/** Every permission of a function, as "action on resource", and "of KEY*" for items whose key begins with it. */
const findPermissions = (name: string): string[] =>
  statementsOf(template, name).flatMap(({ Effect, Action, Resource, Condition }) => {
    if (Effect === 'Deny') return []
    const keys = Condition?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys']
    const suffix = keys ? ` of ${keys}` : ''
    return toArray(Action).flatMap((action) =>
      toArray(Resource).map((resource) => `${action} on ${renderArn(resource)}${suffix}`),
    )
  })

/** The permissions for DynamoDB and SQS. */
const findDataPermissions = (name: string) =>
  findPermissions(name).filter((permission) => /^(dynamodb|sqs|\*)/i.test(permission))

const REGION_AND_ACCOUNT = 'AWS::Region:AWS::AccountId'

/** The permissions for what agents use. They have wildcards because agents name the resources. */
const AGENT_PERMISSIONS = [
  'bedrock:InvokeModelWithResponseStream on arn:AWS::Partition:bedrock:*::foundation-model/*',
  `bedrock:InvokeModelWithResponseStream on arn:AWS::Partition:bedrock:${REGION_AND_ACCOUNT}:application-inference-profile/*`,
  `bedrock:InvokeModelWithResponseStream on arn:AWS::Partition:bedrock:${REGION_AND_ACCOUNT}:inference-profile/*`,
  `lambda:InvokeFunction on arn:AWS::Partition:lambda:${REGION_AND_ACCOUNT}:function:agent-tool-*`,
  `secretsmanager:GetSecretValue on arn:AWS::Partition:secretsmanager:${REGION_AND_ACCOUNT}:secret:/aes/AgentExecutionService/secrets/*`,
  `ssm:GetParameter on arn:AWS::Partition:ssm:${REGION_AND_ACCOUNT}:parameter/aes/AgentExecutionService/secrets/*`,
]

/** Renders an ARN of the template as text, with logical ids for references. */
function renderArn(resource: unknown): string {
  if (typeof resource === 'string') return resource
  const { Ref, 'Fn::GetAtt': attribute, 'Fn::Join': join = [] } = resource as Record<string, unknown[]>
  if (Ref) return String(Ref)
  if (attribute) return String(attribute[0])
  const [separator, parts] = join as [string, unknown[]]
  return parts.map(renderArn).join(separator)
}

/** The permissions that an SQS event source mapping needs. */
const EVENT_SOURCE_ACTIONS = [
  'ChangeMessageVisibility',
  'DeleteMessage',
  'GetQueueAttributes',
  'GetQueueUrl',
  'ReceiveMessage',
]

/** Of all inline policies of a role, without white space. */
const MAX_POLICY_CHARACTERS = 10_240

/** The text of a policy with values of these lengths. @param arn of a table, a queue or a log group */
function sizeOf(policy: object, arn: number): number {
  const pseudo: Record<string, number> = { 'AWS::Region': 14, 'AWS::AccountId': 12, 'AWS::Partition': 10 }
  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve)
    if (value === null || typeof value !== 'object') return value
    const { Ref, 'Fn::Join': join, ...others } = value as Record<string, unknown[]>
    if (join) return (resolve(join[1]) as string[]).join('')
    if (Ref || others['Fn::GetAtt']) return 'x'.repeat(pseudo[String(Ref)] ?? arn)
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, resolve(each)]))
  }
  return JSON.stringify(resolve(policy)).length
}

/** Of the logical ids of queues. */
const RUN_QUEUES = /^(Model)?Queue/
const DELIVERY_QUEUE = /^DeliveryQueue/
const CONSUMED: Partial<Record<FunctionName, RegExp>> = {
  'process-execution': RUN_QUEUES,
  'process-dead-letter': /^DeadLetterQueue/,
  'deliver-events': DELIVERY_QUEUE,
}

const findGrants = (name: FunctionName): string[] => {
  const { table, indexes = [], queue = [], deliveryQueue = [] } = GRANTS[name]
  const findQueueIds = (pattern: RegExp) =>
    Object.keys(findResources(template, 'AWS::SQS::Queue')).filter((id) => pattern.test(id))
  const consumed = name in CONSUMED ? findQueueIds(CONSUMED[name] as RegExp) : []
  const updated = table.includes('UpdateItem') ? [] : [getUpdatedPrefixes(name).map((each) => `${each}*`)]
  const auditPrefix = getAuditPrefix(name)
  const readPrefixes = READ_PREFIXES[name]
  const readItems = readPrefixes ? ` of ${readPrefixes.map((each) => `${each}*`)}` : ''
  const isRead = (action: string) => ['BatchGetItem', 'GetItem', 'Query'].includes(action)
  const auditWrites = auditPrefix === null ? [] : AUDIT_WRITES.filter((action) => !table.includes(action))
  return [
    ...auditWrites.map((action) => `dynamodb:${action} on ${tableId} of ${auditPrefix}*`),
    ...updated.flatMap((each) => (each.length > 0 ? [`dynamodb:UpdateItem on ${tableId} of ${each}`] : [])),
    ...table.map((action) => `dynamodb:${action} on ${tableId}${isRead(action) ? readItems : ''}`),
    ...indexes.map((index) => `dynamodb:Query on ${tableId}/index/${index}`),
    ...new Set([
      ...findQueueIds(RUN_QUEUES).flatMap((id) => queue.map((action) => `sqs:${action} on ${id}`)),
      ...findQueueIds(DELIVERY_QUEUE).flatMap((id) =>
        deliveryQueue.map((action) => `sqs:${action} on ${id}`),
      ),
      ...consumed.flatMap((id) => EVENT_SOURCE_ACTIONS.map((action) => `sqs:${action} on ${id}`)),
    ]),
  ].sort()
}

describe('the functions', () => {
  it('are the files of functions/', () => {
    const files = readdirSync(new URL('../../../functions', import.meta.url))
    expect([...FUNCTION_NAMES].sort()).toEqual(files.map((file) => file.replace(/\.ts$/, '')).sort())
    template.resourceCountIs('AWS::Lambda::Function', FUNCTION_NAMES.length)
  })

  it.each(FUNCTION_NAMES)('%s runs on Node.js 24 and ARM, with traces, logs, metrics and stores', (name) => {
    const { Properties } = findFunctionResource(template, 'AWS::Lambda::Function', name)
    expect(Properties).toMatchObject({
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      Handler: 'index.handler',
      TracingConfig: { Mode: 'Active' },
      LoggingConfig: {
        LogFormat: 'JSON',
        SystemLogLevel: AGENT_FUNCTIONS.includes(name) ? 'INFO' : 'WARN',
        LogGroup: { Ref: expect.any(String) },
      },
    })
    expect(findFunctionResource(template, 'AWS::Logs::LogGroup', name).Properties.RetentionInDays).toBe(30)
    const Variables = variablesOf(template, name)
    expect(Variables).toMatchObject({
      TABLE_NAME: { Ref: tableId },
      METRICS_NAMESPACE: 'AgentExecutionService',
    })
    for (const variable of ['QUEUE_URL', 'MODEL_QUEUE_URL'])
      expect(Variables[variable] !== undefined).toBe(GRANTS[name].queue !== undefined)
    expect(Variables.MODEL_QUEUE_URL).not.toEqual(Variables.QUEUE_URL ?? null)
    expect(Variables.DELIVERY_QUEUE_URL !== undefined).toBe(GRANTS[name].deliveryQueue !== undefined)
  })
})

describe('recursive loop detection', () => {
  /** Of the functions that messages invoke. */
  const mappings = JSON.stringify(findResources(template, 'AWS::Lambda::EventSourceMapping'))

  it.each(FUNCTION_NAMES)('is off for %s only if its messages can invoke it again', (name) => {
    const isInvokedByQueue = mappings.includes(`"${toLogicalIdPrefix(name)}FunctionAlias${LIVE}`)
    const { queue = [], deliveryQueue = [] } = GRANTS[name]
    const isRecursive = isInvokedByQueue && [...queue, ...deliveryQueue].includes('SendMessage')
    const { RecursiveLoop } = findFunctionResource(template, 'AWS::Lambda::Function', name).Properties
    expect(RecursiveLoop).toBe(isRecursive ? 'Allow' : undefined)
  })
})

const findLogGroup = (name: string) =>
  findFunctionResource(template, 'AWS::Lambda::Function', name).Properties.LoggingConfig.LogGroup.Ref

const WRITES = ['BatchWriteItem', 'DeleteItem', 'PutItem', 'UpdateItem']
const QUOTA_PERMISSION = 'lambda:GetAccountSettings on *'

describe('the quota of the account', () => {
  const sharing = (settings: Parameters<typeof synthesize>[0]) =>
    FUNCTION_NAMES.flatMap((name) => {
      const { SHARED_CONCURRENCY: value } = variablesOf(synthesize(settings), name)
      return value ? [`${name} ${value}`] : []
    })

  it('is read by the sweeper, and from its record by functions that wait or have queues, if it is unknown', () => {
    const waiting = ['get-execution', 'run-agent', 'serve-mcp', 'stream-events']
    const names = [
      'deliver-events',
      'manage-batches',
      'process-execution',
      'sweep-executions',
      ...waiting,
    ].sort()
    expect(sharing({}).sort()).toEqual(names.map((name) => `${name} unknown`))
  })

  it('is not read if a setting says it', () => {
    const settings = { accountConcurrency: 100, runnerConcurrency: 20 }
    expect(sharing(settings)).toEqual([])
    expect(JSON.stringify(synthesize(settings))).not.toContain('GetAccountSettings')
  })

  it.each(AGENT_FUNCTIONS)('cannot be written by the code of agents in %s', (name) => {
    expectDenied(name, WRITES, [['QUOTA']])
    expect(isAllowed(name, 'GetItem', ['QUOTA'])).toBe(true)
  })
})

describe('the permissions of a function', () => {
  it.each(FUNCTION_NAMES)('are its grant, its logs and its traces: %s', (name) => {
    expect(findPermissions(name).sort()).toEqual(
      [
        ...findGrants(name),
        ...(AGENT_FUNCTIONS.includes(name) ? AGENT_PERMISSIONS : []),
        ...(name === 'sweep-executions' ? [QUOTA_PERMISSION] : []),
        ...['CreateLogStream', 'PutLogEvents'].map((action) => `logs:${action} on ${findLogGroup(name)}`),
        'xray:PutTelemetryRecords on *',
        'xray:PutTraceSegments on *',
      ].sort(),
    )
  })

  it.each(FUNCTION_NAMES)('have no wildcards except those for agents: %s', (name) => {
    const denials = statementsOf(template, name).filter(
      ({ Effect, Condition }) => Effect !== 'Allow' && !JSON.stringify(Condition).includes('AUDIT'),
    )
    const hidesSecrets = GRANTS[name].table.length > 0 && !SECRET_FUNCTIONS.includes(name)
    expect(denials).toHaveLength(2 * Number(AGENT_FUNCTIONS.includes(name)) + Number(hidesSecrets))
    // X-Ray actions, and reading the quota of the account, do not support resource-level permissions.
    const wildcards = findPermissions(name).filter(
      (permission) =>
        permission.replace(/ of [A-Z-]+#?\*(,[A-Z-]+#?\*)*$/, '').includes('*') &&
        !permission.startsWith('xray:') &&
        (name !== 'sweep-executions' || permission !== QUOTA_PERMISSION),
    )
    expect(wildcards.sort()).toEqual(AGENT_FUNCTIONS.includes(name) ? AGENT_PERMISSIONS : [])
    const { ManagedPolicyArns, Policies } = findFunctionResource(template, 'AWS::IAM::Role', name).Properties
    expect([ManagedPolicyArns, Policies]).toEqual([undefined, undefined])
  })

  // https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
  it('fit a role, with every option', () => {
    const policies = Object.entries(
      findResources(synthesize(OPTION_SETS['other values']), 'AWS::IAM::Policy'),
    )
    expect(policies.length).toBeGreaterThan(FUNCTION_NAMES.length)
    for (const [id, { Properties }] of policies)
      expect(sizeOf(Properties.PolicyDocument, 180), id).toBeLessThanOrEqual(MAX_POLICY_CHARACTERS)
  })

  const readers = [...new Set(operationNames.map(functionOf))].filter((name) =>
    operationsOf(name).every((each) => getOperation(each).method === 'GET'),
  )
  it.each([...readers, 'authorize-request' as const])('include no write of data for %s', (name) => {
    const isPublic = operationsOf(name).some((each) => getOperation(each).public)
    const recorded = name === 'authorize-request' ? 'TOKEN#*' : 'RATE#*'
    // The mark of a run that somebody watches.
    const marked = name === 'stream-events' ? ',EXEC#*' : ''
    const writes = findDataPermissions(name).filter((text) => /Put|Update|Delete|Write|Send/.test(text))
    expect(writes).toEqual(isPublic ? [] : [`dynamodb:UpdateItem on ${tableId} of ${recorded}${marked}`])
  })
})

/** Whether the policy of a function allows a request to the table with these partition keys, as IAM evaluates it. */
function isAllowed(name: FunctionName, action: string, keys: string[]): boolean {
  const isLike = (key: string, pattern: string) => key.startsWith(pattern.replace(/\*$/, ''))
  const applies = ({ Action, Resource, Condition = {} }: Statement) => {
    const known = ['ForAllValues:StringLike', 'ForAnyValue:StringLike']
    expect(known).toEqual(expect.arrayContaining(Object.keys(Condition)))
    const [all, any] = known.map((operator) => Condition[operator]?.['dynamodb:LeadingKeys'])
    return (
      toArray(Action).includes(`dynamodb:${action}`) &&
      toArray(Resource).some((resource) => renderArn(resource) === tableId) &&
      (!all || keys.every((key) => toArray(all).some((pattern) => isLike(key, pattern)))) &&
      (!any || keys.some((key) => toArray(any).some((pattern) => isLike(key, pattern))))
    )
  }
  const effects = statementsOf(template, name)
    .filter(applies)
    .map(({ Effect }) => Effect)
  return effects.includes('Allow') && !effects.includes('Deny')
}

/** None of the actions is allowed with any of the sets of keys. */
function expectDenied(name: FunctionName, actions: string[], keySets: string[][]): void {
  for (const action of actions)
    for (const keys of keySets) expect(isAllowed(name, action, keys), `${action} ${keys}`).toBe(false)
}

describe('the secrets of webhooks', () => {
  const ACTIONS = [
    ...['BatchGetItem', 'GetItem', 'Query', 'Scan', 'ConditionCheckItem', 'PartiQLSelect'],
    ...['BatchWriteItem', 'DeleteItem', 'PutItem', 'UpdateItem', 'PartiQLUpdate'],
  ]
  const others = FUNCTION_NAMES.filter((name) => !SECRET_FUNCTIONS.includes(name))

  it.each(others)('cannot be read or written by %s, also not in a batch with other items', (name) => {
    expectDenied(name, ACTIONS, [['SECRET#id'], ['EXEC#id', 'SECRET#id'], ['SECRET#id', 'RATE#id#1']])
  })

  it.each(SECRET_FUNCTIONS)('can be read by %s', (name) => {
    expect(isAllowed(name, 'GetItem', ['SECRET#id'])).toBe(true)
  })
})

describe('the audit logs', () => {
  const KEYS = ['AUDIT#id#0', 'AUDIT-MCP#id']

  it.each(FUNCTION_NAMES)('have entries that %s cannot remove', (name) => {
    for (const key of KEYS) expectDenied(name, ['BatchWriteItem', 'DeleteItem'], [[key], ['EXEC#id', key]])
  })

  it.each(FUNCTION_NAMES)('get entries from %s if it makes changes, where it may', (name) => {
    const own = getAuditPrefix(name)
    const prefixes = KEYS.filter((key) => WRITES.some((action) => isAllowed(name, action, [key])))
    expect(prefixes.map((key) => key.replace(/#.*/, '#'))).toEqual(own === null ? [] : [own])
  })

  it.each(FUNCTION_NAMES)('can be read only where they are listed, and sent to an event bus: %s', (name) => {
    const mayRead = ['GetItem', 'BatchGetItem', 'Query'].some((action) =>
      KEYS.some((key) => isAllowed(name, action, [key])),
    )
    expect(mayRead).toBe(AUDIT_READERS.includes(name))
  })
})

describe.each(AGENT_FUNCTIONS)('the policy of %s, whose process runs the code of agents,', (name) => {
  const batchesWith = (key: string) => [[key], ['EXEC#id', key], [key, 'EXEC#id']]
  const PROTECTED = ['TOKEN#hash', 'TOKEN-ID#id', 'ORG#id', 'AGENT#id', 'DESTINATIONS#id', 'SECRET#id']

  it.each(PROTECTED)('allows no write of %s, also not in a batch with other items', (key) => {
    expectDenied(name, WRITES, batchesWith(key))
  })

  it.each(['SLOTS#id', 'SPENT#id'])('allows only updates of %s', (key) => {
    expectDenied(name, ['PutItem', 'DeleteItem', 'BatchWriteItem'], [[key], ['EXEC#id', key]])
    expect(isAllowed(name, 'UpdateItem', [key])).toBe(true)
  })

  it.each([
    ...['ORG#id', 'USAGE#DAY#id', 'ROLLOUT#id', 'LIMIT#id'],
    ...['AUDIT#id#0', 'AUDITED#id', 'SECRET#id', 'OUTBOX'],
    ...(name === 'serve-mcp' ? [] : ['TOKEN#hash', 'TOKEN-ID#id']),
    ...(name === 'process-execution' ? [] : ['BATCH#id', 'SCHEDULES#id']),
  ])('allows no read of %s, also not in a batch with other items', (key) => {
    expectDenied(name, ['BatchGetItem', 'GetItem', 'Query', 'Scan', 'PartiQLSelect'], batchesWith(key))
  })

  it('allows the writes of runs, and reads', () => {
    const { table } = GRANTS[name]
    for (const action of table)
      for (const key of ['EXEC#id', 'CACHE#key', 'IDEMPOTENCY#id'])
        expect(isAllowed(name, action, [key, key]), action).toBe(true)
    // Counters are never read.
    expect(isAllowed(name, 'UpdateItem', ['RATE#id#1'])).toBe(true)
    expect(isAllowed(name, 'GetItem', ['RATE#id#1'])).toBe(false)
    for (const key of ['AGENT#id', 'DESTINATIONS#id', 'LIMITS#id', 'SLOTS#id', 'QUOTA'])
      expect(isAllowed(name, 'GetItem', [key]), key).toBe(true)
  })
})
