import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { FUNCTION_NAMES, type FunctionName, RUNS_AGENTS } from '../../../infra/functions/function-settings.ts'
import { GRANTS } from '../../../infra/functions/grants.ts'
import { type OperationName, operationOf, operations } from '../../../lib/api/routes.ts'
import { ownedResource, prefixOf, resourcesOf, synthesize } from '../synthesize.ts'

const template = synthesize()
const [tableId = ''] = Object.keys(resourcesOf(template, 'AWS::DynamoDB::Table'))

type Statement = { Effect: string; Action: string | string[]; Resource: unknown }

const statementsOf = (name: string): Statement[] =>
  ownedResource(template, 'AWS::IAM::Policy', name).Properties.PolicyDocument.Statement

const listed = <T>(value: T | T[]): T[] => (Array.isArray(value) ? value : [value])

/** "action on resource" of every statement. */
const accessOf = (name: string): string[] =>
  statementsOf(name).flatMap(({ Action, Resource }) =>
    listed(Action).flatMap((action) =>
      listed(Resource).map((resource) => `${action} on ${textOf(resource)}`),
    ),
  )

/** Of those, the ones about DynamoDB and SQS. */
const dataAccessOf = (name: string) => accessOf(name).filter((access) => /^(dynamodb|sqs|\*)/i.test(access))

const OWN = 'AWS::Region:AWS::AccountId'

/** What agents may call is named by kind, not one by one: those who publish decide on it. */
const AGENTS_ACCESS = [
  'bedrock:InvokeModel on arn:AWS::Partition:bedrock:*::foundation-model/*',
  `bedrock:InvokeModel on arn:AWS::Partition:bedrock:${OWN}:application-inference-profile/*`,
  `bedrock:InvokeModel on arn:AWS::Partition:bedrock:${OWN}:inference-profile/*`,
  `lambda:InvokeFunction on arn:AWS::Partition:lambda:${OWN}:function:agent-tool-*`,
  `secretsmanager:GetSecretValue on arn:AWS::Partition:secretsmanager:${OWN}:secret:/aes/secrets/*`,
  `ssm:GetParameter on arn:AWS::Partition:ssm:${OWN}:parameter/aes/secrets/*`,
]

/** An ARN in the template, readable: the resource's logical id, and what follows it. */
function textOf(resource: unknown): string {
  if (typeof resource === 'string') return resource
  const { Ref, 'Fn::GetAtt': attribute, 'Fn::Join': join = [] } = resource as Record<string, unknown[]>
  if (Ref) return String(Ref)
  if (attribute) return String(attribute[0])
  const [separator, parts] = join as [string, unknown[]]
  return parts.map(textOf).join(separator)
}

/** What Lambda does with the function's rights to bring it messages. */
const CONSUMING = [
  'ChangeMessageVisibility',
  'DeleteMessage',
  'GetQueueAttributes',
  'GetQueueUrl',
  'ReceiveMessage',
]

const grantedTo = (name: FunctionName): string[] => {
  const { table, indexes = [], queue = [] } = GRANTS[name]
  const queues = Object.entries(resourcesOf(template, 'AWS::SQS::Queue'))
  const idOf = (isDead: boolean) =>
    queues.find(([, { Properties }]) => (Properties.RedrivePolicy === undefined) === isDead)?.[0]
  const consumed = { 'process-execution': idOf(false), 'process-dead-letter': idOf(true) }[name as string]
  return [
    ...table.map((action) => `dynamodb:${action} on ${tableId}`),
    ...indexes.map((index) => `dynamodb:Query on ${tableId}/index/${index}`),
    ...new Set([
      ...queue.map((action) => `sqs:${action} on ${idOf(false)}`),
      ...(consumed ? CONSUMING.map((action) => `sqs:${action} on ${consumed}`) : []),
    ]),
  ].sort()
}

describe('the functions', () => {
  it('are the files of the folder', () => {
    const files = readdirSync(new URL('../../../functions', import.meta.url))
    expect([...FUNCTION_NAMES].sort()).toEqual(files.map((file) => file.replace(/\.ts$/, '')).sort())
    template.resourceCountIs('AWS::Lambda::Function', FUNCTION_NAMES.length)
  })

  it.each(FUNCTION_NAMES)('%s runs on Node 24 and ARM, traced, with logs of its own', (name) => {
    const { Properties } = ownedResource(template, 'AWS::Lambda::Function', name)
    expect(Properties).toMatchObject({
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      Handler: 'index.handler',
      TracingConfig: { Mode: 'Active' },
      LoggingConfig: { LogFormat: 'JSON', LogGroup: { Ref: expect.any(String) } },
    })
    expect(ownedResource(template, 'AWS::Logs::LogGroup', name).Properties.RetentionInDays).toBe(30)
  })

  it.each(FUNCTION_NAMES)('%s is told its table, and its queue if it uses one', (name) => {
    const { Variables } = ownedResource(template, 'AWS::Lambda::Function', name).Properties.Environment
    expect(Variables.TABLE_NAME).toEqual({ Ref: tableId })
    expect(Variables.QUEUE_URL !== undefined).toBe(GRANTS[name].queue !== undefined)
  })
})

describe('recursive loop detection', () => {
  /** Logical ids of the functions that messages of the run queue or its dead-letter queue invoke. */
  const invokedByQueue = Object.values(resourcesOf(template, 'AWS::Lambda::EventSourceMapping')).map(
    ({ Properties }) => Properties.FunctionName.Ref,
  )

  it.each(FUNCTION_NAMES)('is off for %s only if its messages can invoke it again', (name) => {
    const [id] = Object.keys(resourcesOf(template, 'AWS::Lambda::Function')).filter((key) =>
      key.startsWith(`${prefixOf(name)}Function`),
    )
    const isRecursive = invokedByQueue.includes(id) && GRANTS[name].queue?.includes('SendMessage') === true
    const { RecursiveLoop } = ownedResource(template, 'AWS::Lambda::Function', name).Properties
    expect(RecursiveLoop).toBe(isRecursive ? 'Allow' : undefined)
  })

  it('is off for the runner, which sends the continuation of a run to its own queue', () => {
    const { RecursiveLoop } = ownedResource(template, 'AWS::Lambda::Function', 'process-execution').Properties
    expect(RecursiveLoop).toBe('Allow')
  })
})

const logGroupOf = (name: string) =>
  ownedResource(template, 'AWS::Lambda::Function', name).Properties.LoggingConfig.LogGroup.Ref

describe('METRICS', () => {
  it.each(FUNCTION_NAMES)('is on for %s exactly if it measures the executions that it ends', (name) => {
    const { Variables } = ownedResource(template, 'AWS::Lambda::Function', name).Properties.Environment
    const source = readFileSync(new URL(`../../../functions/${name}.ts`, import.meta.url), 'utf8')
    expect(Variables.METRICS).toBe(source.includes('measured(executionStore') ? 'on' : undefined)
  })
})

describe('what a function may do', () => {
  it.each(FUNCTION_NAMES)('is what its grant says, its logs, traces, and nothing else: %s', (name) => {
    expect(accessOf(name).sort()).toEqual(
      [
        ...grantedTo(name),
        ...(RUNS_AGENTS.includes(name) ? AGENTS_ACCESS : []),
        ...['CreateLogStream', 'PutLogEvents'].map((action) => `logs:${action} on ${logGroupOf(name)}`),
        'xray:PutTelemetryRecords on *',
        'xray:PutTraceSegments on *',
      ].sort(),
    )
  })

  it.each(FUNCTION_NAMES)('has no wildcard, or only those of agents: %s', (name) => {
    expect(statementsOf(name).every(({ Effect }) => Effect === 'Allow')).toBe(true)
    // X-Ray knows no resources.
    const wildcards = accessOf(name).filter((access) => access.includes('*') && !access.startsWith('xray:'))
    expect(wildcards.sort()).toEqual(RUNS_AGENTS.includes(name) ? AGENTS_ACCESS : [])
    const { ManagedPolicyArns, Policies } = ownedResource(template, 'AWS::IAM::Role', name).Properties
    expect([ManagedPolicyArns, Policies]).toEqual([undefined, undefined])
  })

  const readers = (Object.keys(operations) as OperationName[]).filter(
    (name) => operationOf(name).method === 'GET',
  )
  it.each([...readers, 'authorize-request'])('includes no write for %s', (name) => {
    expect(dataAccessOf(name).join('\n')).not.toMatch(/Put|Update|Delete|Write|Send/)
  })
})
