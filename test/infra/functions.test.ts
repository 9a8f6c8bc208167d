import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { FUNCTION_NAMES, type FunctionName } from '../../infra/function-settings.ts'
import { GRANTS } from '../../infra/grants.ts'
import { type OperationName, operationOf, operations } from '../../lib/api/routes.ts'
import { ownedResource, resourcesOf, synthesize } from './synthesize.ts'

const template = synthesize()
const [tableId = ''] = Object.keys(resourcesOf(template, 'AWS::DynamoDB::Table'))

type Statement = { Effect: string; Action: string | string[]; Resource: unknown }

const statementsOf = (name: string): Statement[] =>
  ownedResource(template, 'AWS::IAM::Policy', name).Properties.PolicyDocument.Statement

const listed = <T>(value: T | T[]): T[] => (Array.isArray(value) ? value : [value])

/** "action on resource" of every statement about DynamoDB and SQS. */
const dataAccessOf = (name: string): string[] =>
  statementsOf(name)
    .flatMap(({ Action, Resource }) =>
      listed(Action).flatMap((action) => listed(Resource).map((resource) => [action, textOf(resource)])),
    )
    .filter(([action]) => /^(dynamodb|sqs|\*)/i.test(action ?? ''))
    .map(([action, resource]) => `${action} on ${resource}`)

/** An ARN in the template, readable: the resource's logical id, and what follows it. */
function textOf(resource: unknown): string {
  if (typeof resource === 'string') return resource
  const { 'Fn::GetAtt': attribute, 'Fn::Join': join = [] } = resource as Record<string, unknown[]>
  if (attribute) return String(attribute[0])
  const [separator, parts] = join as [string, unknown[]]
  return parts.map(textOf).join(separator)
}

const grantedTo = (name: FunctionName): string[] => {
  const { table, indexes = [], queue = [] } = GRANTS[name]
  const [queueId] = Object.entries(resourcesOf(template, 'AWS::SQS::Queue')).find(
    ([, { Properties }]) => Properties.RedrivePolicy,
  ) ?? ['']
  const consuming = ['ChangeMessageVisibility', 'DeleteMessage', 'GetQueueAttributes', 'GetQueueUrl']
  const queueActions = name === 'process-execution' ? [...queue, ...consuming, 'ReceiveMessage'] : queue
  return [
    ...table.map((action) => `dynamodb:${action} on ${tableId}`),
    ...indexes.map((index) => `dynamodb:Query on ${tableId}/index/${index}`),
    ...new Set(queueActions.map((action) => `sqs:${action} on ${queueId}`)),
  ].sort()
}

describe('the functions', () => {
  it('are the files of the folder', () => {
    const files = readdirSync(new URL('../../functions', import.meta.url))
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

describe('what a function may do', () => {
  it.each(FUNCTION_NAMES)('is what its grant says and nothing else: %s', (name) => {
    expect(dataAccessOf(name).sort()).toEqual(grantedTo(name))
  })

  it.each(FUNCTION_NAMES)('has no wildcard: %s', (name) => {
    for (const { Action, Resource, Effect } of statementsOf(name)) {
      expect(Effect).toBe('Allow')
      expect(JSON.stringify(Action)).not.toContain('*')
      // X-Ray knows no resources.
      if (!listed(Action).every((action) => action.startsWith('xray:')))
        expect(JSON.stringify(Resource)).not.toContain('*')
    }
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
