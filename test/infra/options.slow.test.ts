import { App } from 'aws-cdk-lib'
import { Annotations, Match } from 'aws-cdk-lib/assertions'
import { describe, expect, it } from 'vitest'
import { divideConcurrency } from '../../infra/functions/concurrency.ts'
import {
  AGENT_FUNCTIONS,
  FUNCTION_NAMES,
  type FunctionName,
  MODEL_FUNCTIONS,
} from '../../infra/functions/function-settings.ts'
import { readSettings, type Settings, STACK_SETTINGS } from '../../infra/settings.ts'
import { functionOf } from '../../lib/contract/routes.ts'
import { ALL_OPTIONS, OPTION_SETS } from './all-options.ts'
import {
  findFunctionResource,
  findResource,
  findResources,
  statementsOf,
  synthesize,
  variablesOf,
  withStack,
} from './synthesize.ts'

const defaults = synthesize()
const every = synthesize(OPTION_SETS['every option'])
const other = synthesize(OPTION_SETS['other values'])

type Template = typeof defaults

const outputOf = (of: Template, name: string) => of.findOutputs(name)[name]?.Value
const resourceOf = (of: Template, name: FunctionName) =>
  findFunctionResource(of, 'AWS::Lambda::Function', name).Properties

it('OPTION_SETS have every setting with another value than its default', () => {
  const valuesOf = (set: Record<string, unknown>) => readSettings(new App({ context: set }).node)
  const sets = Object.values(OPTION_SETS).map(valuesOf)
  const names = Object.keys(STACK_SETTINGS) as (keyof Settings)[]
  expect(names.filter((name) => sets.every((set) => set[name] === valuesOf({})[name]))).toEqual([])
})

const BACKGROUND = FUNCTION_NAMES.filter((name) => /^(process|sweep|deliver)-/.test(name))
const STARTING = [...AGENT_FUNCTIONS, 'manage-schedules', 'rerun-execution'] as FunctionName[]
const MARKING = FUNCTION_NAMES.filter((name) => {
  const variables = variablesOf(defaults, name)
  // Audit entries are marked, too.
  return 'DELIVERY_QUEUE_URL' in variables || 'AUDIT_RETENTION_DAYS' in variables
})

describe('the variables of functions', () => {
  const having = (of: Template, variable: string, value: unknown) =>
    FUNCTION_NAMES.filter((name) => variablesOf(of, name)[variable] === value).toSorted()
  const LEARNING = [...AGENT_FUNCTIONS, 'give-feedback'] as const

  it.each<[string, unknown, readonly FunctionName[], unknown, readonly FunctionName[]]>([
    // By default, and with every option: the value, and the functions that have it.
    ['EXECUTION_RETENTION_DAYS', undefined, FUNCTION_NAMES, '30', FUNCTION_NAMES],
    ['MAX_OPEN_EXECUTIONS', '1000', STARTING, '10', STARTING],
    ['MAX_WAIT_DAYS', '30', STARTING, '365', FUNCTION_NAMES],
    ['MAX_SUSPENDED_EXECUTIONS', '100000', STARTING, '20', STARTING],
    ['HTTP_PUBLISHING', 'off', ['get-me', 'publish-agent'], undefined, FUNCTION_NAMES],
  ])('%s are where they are used', (variable, byDefault, defaultNames, value, names) => {
    expect(having(defaults, variable, byDefault)).toEqual(defaultNames.toSorted())
    expect(having(every, variable, value)).toEqual(names.toSorted())
  })

  it.each<[string, string, readonly FunctionName[]]>([
    ['ENVIRONMENT_NAME', 'staging', ['get-me']],
    ['MODEL_ENDPOINTS', ALL_OPTIONS.modelEndpoints, [...MODEL_FUNCTIONS, 'give-feedback']],
    ['OPENAI_API_KEY_PARAMETER', '/team/openai', LEARNING],
    ['ANTHROPIC_API_KEY_PARAMETER', '/team/anthropic', LEARNING],
    ['EVENT_BUS', 'events', MARKING],
    ['WEBHOOK_URLS', 'on', ['manage-batches', 'run-agent']],
    ['WEBHOOK_HOSTS', 'receiver.internal:8080', ['deliver-events', 'manage-webhooks', 'publish-agent']],
    ['OIDC_ISSUER', ALL_OPTIONS.oidcIssuer, FUNCTION_NAMES.filter((name) => !BACKGROUND.includes(name))],
    ['OIDC_AUDIENCE', ALL_OPTIONS.oidcAudience, ['authorize-request', 'serve-console']],
    ['OIDC_MAPPING', ALL_OPTIONS.oidcMapping, ['authorize-request', functionOf('get-resource-metadata')]],
    ['OIDC_CLIENT_ID', 'console', ['serve-console']],
    ['OIDC_SCOPE', 'openid profile', ['serve-console']],
  ])('%s are where they are used, and nowhere by default', (variable, value, names) => {
    expect(having(defaults, variable, undefined)).toEqual(FUNCTION_NAMES.toSorted())
    expect(having(every, variable, value)).toEqual(names.toSorted())
  })

  it('have a scope that the mapping of the identity provider names', () => {
    const { oidcScope: _, ...settings } = OPTION_SETS['other values']
    expect(variablesOf(synthesize(settings), 'serve-console').OIDC_SCOPE).toBe(
      'openid profile email agents:run agents:read',
    )
  })
})

describe('the permissions of functions', () => {
  it('include the API key parameters if they run agents, or use an embedding model', () => {
    const readersIn = (of: Template, parameter: string) =>
      FUNCTION_NAMES.filter((name) => JSON.stringify(statementsOf(of, name)).includes(parameter)).toSorted()
    for (const parameter of [':parameter/team/openai"', ':parameter/team/anthropic"']) {
      expect(readersIn(other, parameter)).toEqual(AGENT_FUNCTIONS.toSorted())
      expect(readersIn(every, parameter)).toEqual([...AGENT_FUNCTIONS, 'give-feedback'].toSorted())
    }
    const names = Object.keys(variablesOf(other, 'give-feedback'))
    expect(names.filter((name) => /_PARAMETER$/.test(name))).toEqual([])
  })

  it.each<[string, Template, RegExp | null]>([
    ['by default', defaults, null],
    ['with the name of a bus', every, /:event-bus\/events"/],
    ['with its ARN', other, /"arn:aws:events:us-east-1:210987654321:event-bus\/all"/],
  ])('let deliver-events alone put events, on this bus: %s', (_, of, resource) => {
    const putEventsOf = (name: FunctionName) =>
      statementsOf(of, name).filter(({ Action }) => String(Action).startsWith('events:'))
    const allowed = FUNCTION_NAMES.filter((name) => putEventsOf(name).length > 0)
    expect(allowed).toEqual(resource ? ['deliver-events'] : [])
    if (resource) expect(JSON.stringify(putEventsOf('deliver-events'))).toMatch(resource)
  })
})

/** A property of the event source mappings of a function. */
const mappingsOf = (of: Template, prefix: string, property: 'BatchSize' | 'ScalingConfig') =>
  Object.entries(findResources(of, 'AWS::Lambda::EventSourceMapping'))
    .filter(([id]) => id.startsWith(prefix))
    .map(([, { Properties }]) => Properties[property])

describe('accountConcurrency', () => {
  // `toEqual` ignores those that are undefined.
  const reservedIn = (of: Template) =>
    Object.fromEntries(
      FUNCTION_NAMES.map((name) => [name, resourceOf(of, name).ReservedConcurrentExecutions]),
    )

  it('reserves concurrency, and limits each organization to a share of it', () => {
    const { reserved, ofOrganization } = divideConcurrency(
      readSettings(new App({ context: OPTION_SETS['every option'] }).node),
    )
    expect(Object.keys(reserved).length).toBeGreaterThan(5)
    expect(reservedIn(every)).toEqual(reserved)
    for (const name of FUNCTION_NAMES) {
      const share = (ofOrganization as Partial<Record<FunctionName, number>>)[name]
      expect(variablesOf(every, name).ORGANIZATION_CONCURRENCY).toBe(share && String(share))
    }
    expect(outputOf(every, 'ReservedConcurrency')).toMatch(/^\d+ of 1000 are reserved\.$/)
    // No more dead letters are taken than the reservation has room for.
    expect(mappingsOf(every, 'ProcessDeadLetter', 'ScalingConfig')).toEqual([{ MaximumConcurrency: 5 }])
  })

  it('reserves nothing by default, and says so', () => {
    expect(reservedIn(defaults)).toEqual({})
    expect(outputOf(defaults, 'ReservedConcurrency')).toMatch(/^Nothing is reserved\. Set accountConcurrency/)
    expect(mappingsOf(defaults, 'ProcessDeadLetter', 'ScalingConfig')).toEqual([undefined])
  })
})

describe('the runners', () => {
  it('have the batch size and the concurrency of the settings', () => {
    const runners = synthesize({ runnerBatch: 4, runnerConcurrency: 3 })
    expect(mappingsOf(defaults, 'ProcessExecution', 'BatchSize')).toEqual([1, 10])
    expect(mappingsOf(runners, 'ProcessExecution', 'BatchSize')).toEqual([1, 4])
    expect(mappingsOf(runners, 'ProcessExecution', 'ScalingConfig')).toEqual(
      Array(2).fill({ MaximumConcurrency: 3 }),
    )
  })

  it('have agentMemoryMb, and no other function has it', () => {
    const having = FUNCTION_NAMES.filter((name) => resourceOf(every, name).MemorySize === 2_048)
    expect(having.toSorted()).toEqual(AGENT_FUNCTIONS.toSorted())
  })
})

describe('webAcl', () => {
  it('protects the stage and only counts the rules on bodies', () => {
    const { Rules, Scope, DefaultAction } = findResource(every, 'AWS::WAFv2::WebACL').Properties
    expect([Scope, DefaultAction]).toEqual(['REGIONAL', { Allow: {} }])
    const [rate, common] = Rules
    expect([rate.Action, rate.Statement.RateBasedStatement.AggregateKeyType]).toEqual([{ Block: {} }, 'IP'])
    const { Name, RuleActionOverrides } = common.Statement.ManagedRuleGroupStatement
    expect([Name, common.OverrideAction]).toEqual(['AWSManagedRulesCommonRuleSet', { None: {} }])
    for (const override of RuleActionOverrides)
      expect(override).toEqual({ Name: expect.stringMatching(/_BODY$/), ActionToUse: { Count: {} } })
    const { ResourceArn } = findResource(every, 'AWS::WAFv2::WebACLAssociation').Properties
    expect(JSON.stringify(ResourceArn)).toMatch(/\/stages\/.*Stage/)
  })
})

describe('kms', () => {
  const [[keyId = '', key] = []] = Object.entries(findResources(every, 'AWS::KMS::Key'))
  const arn = { 'Fn::GetAtt': [keyId, 'Arn'] }

  it('encrypts the table and the queues with a key that is rotated and retained', () => {
    expect(findResource(every, 'AWS::DynamoDB::Table').Properties.SSESpecification).toEqual({
      KMSMasterKeyId: arn,
      SSEEnabled: true,
      SSEType: 'KMS',
    })
    const queues = Object.values(findResources(every, 'AWS::SQS::Queue'))
    expect(queues.map(({ Properties }) => Properties.KmsMasterKeyId)).toEqual([arn, arn, arn, arn])
    expect([key?.Properties.EnableKeyRotation, key?.DeletionPolicy]).toEqual([true, 'RetainExceptOnCreate'])
  })

  it('lets only the account use the key, through DynamoDB and SQS', () => {
    const statements = key?.Properties.KeyPolicy.Statement as Record<string, unknown>[]
    const open = statements.filter(({ Principal }) => JSON.stringify(Principal) === '{"AWS":"*"}')
    expect(open.map(({ Condition }) => Condition)).toEqual([
      {
        StringEquals: {
          'kms:CallerAccount': { Ref: 'AWS::AccountId' },
          'kms:ViaService': ['dynamodb', 'sqs'].map((service) => ({
            'Fn::Join': ['', [`${service}.`, { Ref: 'AWS::Region' }, '.', { Ref: 'AWS::URLSuffix' }]],
          })),
        },
      },
    ])
  })
})

describe('by default', () => {
  it.each(['ApiGateway::DomainName', 'WAFv2::WebACL', 'KMS::Key', 'Lambda::CapacityProvider'])(
    'there is no %s',
    (type) => {
      defaults.resourceCountIs(`AWS::${type}`, 0)
      expect(Object.keys(findResources(every, `AWS::${type}`)).length).toBeGreaterThan(0)
    },
  )

  it.each(['CloudWatch::Alarm', 'CloudWatch::Dashboard'])('there is a %s', (type) => {
    expect(Object.keys(findResources(defaults, `AWS::${type}`)).length).toBeGreaterThan(0)
    other.resourceCountIs(`AWS::${type}`, 0)
  })

  it('the stack sets the role of the account for logs', () => {
    defaults.resourceCountIs('AWS::ApiGateway::Account', 1)
    other.resourceCountIs('AWS::ApiGateway::Account', 0)
  })

  it('logs are kept for 30 days, and outlive the stack unless their retention is a day', () => {
    const groupsOf = (of: Template) =>
      Object.values(findResources(of, 'AWS::Logs::LogGroup')).map(({ Properties, DeletionPolicy }) =>
        [Properties.RetentionInDays, DeletionPolicy].join(),
      )
    expect([defaults, every, other].map((of) => [...new Set(groupsOf(of))])).toEqual([
      ['30,RetainExceptOnCreate'],
      ['365,RetainExceptOnCreate'],
      ['1,Delete'],
    ])
  })

  it('executions are kept, of which synthesis warns', () => {
    const warning = Match.stringLikeRegexp('executionRetentionDays is not set')
    const warningsOf = (context: Record<string, unknown>) =>
      withStack(context, (stack) => Annotations.fromStack(stack).findWarning('*', warning))
    expect(warningsOf({})).toHaveLength(1)
    expect(warningsOf({ executionRetentionDays: 30 })).toHaveLength(0)
  })
})

describe('stackName', () => {
  it('replaces the default name everywhere, and is the cost allocation tag', () => {
    expect(JSON.stringify(every.toJSON())).not.toContain('AgentExecutionService')
    for (const type of [
      'DynamoDB::Table',
      'Lambda::Function',
      'SQS::Queue',
      'Logs::LogGroup',
      'ApiGateway::RestApi',
    ])
      for (const { Properties } of Object.values(findResources(every, `AWS::${type}`)))
        expect(Properties.Tags, type).toContainEqual({ Key: 'agent-execution-service', Value: 'staging' })
  })
})

it('rejects more runners than the quota of the account has room for', () => {
  const context = { accountConcurrency: 1_000, runnerConcurrency: 500 }
  expect(() => synthesize(context)).toThrow('has room for runnerConcurrency=451')
})
