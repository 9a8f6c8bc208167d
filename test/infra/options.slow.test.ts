import { Annotations, Match } from 'aws-cdk-lib/assertions'
import { describe, expect, it } from 'vitest'
import {
  AGENT_FUNCTIONS,
  FUNCTION_NAMES,
  type FunctionName,
  MODEL_FUNCTIONS,
} from '../../infra/functions/function-settings.ts'
import { functionOf } from '../../lib/api/routes.ts'
import { findFunctionResource, findResource, findResources, synthesize, withStack } from './synthesize.ts'

const CERTIFICATE = 'arn:aws:acm:eu-central-1:123456789012:certificate/0e1f-2a'
const defaults = synthesize()

/** One template for all settings, none of which affects another: to create one takes long. */
const template = synthesize({
  stageName: 'blue',
  throttlingRate: 7,
  throttlingBurst: 9,
  logRetentionDays: 365,
  domainName: 'agents.example.com',
  certificateArn: CERTIFICATE,
  runnerConcurrency: 3,
  accountConcurrency: 1_042,
  cloudWatchRole: false,
  runnerBatch: 4,
  agentMemoryMb: 640,
  httpPublishing: 'true',
  executionRetentionDays: 90,
  webAcl: true,
  kms: true,
  openaiKeyParameter: '/team/openai',
  anthropicKeyParameter: 'anthropic.key',
})

const outputOf = (of: typeof template, name: string) => of.findOutputs(name)[name]?.Value

describe('the API settings', () => {
  it('configure the stage, the domain and the logs', () => {
    const { StageName, MethodSettings } = findResource(template, 'AWS::ApiGateway::Stage').Properties
    expect(StageName).toBe('blue')
    for (const limits of MethodSettings)
      expect(limits).toMatchObject({ ThrottlingRateLimit: 7, ThrottlingBurstLimit: 9 })
    const groups = Object.values(findResources(template, 'AWS::Logs::LogGroup'))
    expect(groups.map(({ Properties }) => Properties.RetentionInDays)).toEqual(
      Array.from({ length: FUNCTION_NAMES.length + 1 }, () => 365),
    )
    expect(findResource(template, 'AWS::ApiGateway::DomainName').Properties).toMatchObject({
      DomainName: 'agents.example.com',
      EndpointConfiguration: { Types: ['REGIONAL'] },
      RegionalCertificateArn: CERTIFICATE,
      SecurityPolicy: 'TLS_1_2',
    })
    const { Stage, BasePath } = findResource(template, 'AWS::ApiGateway::BasePathMapping').Properties
    expect([Stage, BasePath]).toEqual([{ Ref: expect.stringContaining('Stage') }, undefined])
    expect(Object.keys(template.findOutputs('DomainTarget'))).toHaveLength(1)
  })

  it('create no domain by default', () => {
    defaults.resourceCountIs('AWS::ApiGateway::DomainName', 0)
    expect(defaults.findOutputs('DomainTarget')).toEqual({})
  })
})

/** A property of the event source mappings of a function. */
const mappingsOf = (of: typeof template, prefix: string, property: 'BatchSize' | 'ScalingConfig') =>
  Object.entries(findResources(of, 'AWS::Lambda::EventSourceMapping'))
    .filter(([id]) => id.startsWith(prefix))
    .map(([, { Properties }]) => Properties[property])

describe('runnerConcurrency', () => {
  it('limits concurrent runners of each queue', () => {
    expect(mappingsOf(template, 'ProcessExecution', 'ScalingConfig')).toEqual([
      { MaximumConcurrency: 3 },
      { MaximumConcurrency: 3 },
    ])
  })
})

describe('accountConcurrency', () => {
  const concurrencyOf = (of: typeof template) =>
    Object.fromEntries(
      FUNCTION_NAMES.flatMap((name) => {
        const { ReservedConcurrentExecutions: reserved, Environment } = findFunctionResource(
          of,
          'AWS::Lambda::Function',
          name,
        ).Properties
        return reserved === undefined
          ? []
          : [[name, [reserved, Environment.Variables.ORGANIZATION_CONCURRENCY]]]
      }),
    )

  it('reserves concurrency, and limits each organization to half of what waiting may occupy', () => {
    expect(concurrencyOf(template)).toEqual({
      'authorize-request': [93, undefined],
      'run-agent': [327, '163'],
      'serve-mcp': [93, '46'],
      'get-execution': [140, '70'],
      'stream-events': [93, '46'],
      'manage-batches': [46, '23'],
      'process-dead-letter': [5, undefined],
      'sweep-executions': [2, undefined],
    })
    expect(outputOf(template, 'ReservedConcurrency')).toBe('799 of 1042 are reserved.')
  })

  it('reserves nothing in a small account, nor by default, and says so', () => {
    const small = synthesize({ accountConcurrency: 10, runnerConcurrency: 2 })
    for (const of of [small, defaults]) {
      expect(concurrencyOf(of)).toEqual({})
      expect(outputOf(of, 'ReservedConcurrency')).toMatch(/^Nothing is reserved\. Set accountConcurrency/)
    }
  })

  it('does not take more dead letters from their queue than the reservation has room for', () => {
    expect(mappingsOf(template, 'ProcessDeadLetter', 'ScalingConfig')).toEqual([{ MaximumConcurrency: 5 }])
    expect(mappingsOf(defaults, 'ProcessDeadLetter', 'ScalingConfig')).toEqual([undefined])
  })

  it('divides the smallest quota with the default runners', () => {
    expect(() => synthesize({ accountConcurrency: 200 })).not.toThrow()
  })

  it('rejects more runners than the account has room for', () => {
    expect(() => synthesize({ accountConcurrency: 10 })).toThrow('has room for runnerConcurrency=2')
    expect(() => synthesize({ accountConcurrency: 1_000, runnerConcurrency: 500 })).toThrow(
      'has room for runnerConcurrency=451',
    )
  })
})

describe('runnerBatch', () => {
  it.each([
    [{}, 10, defaults],
    [{ runnerBatch: 4 }, 4, template],
  ])('with %j sets the batch size of model agents alone to %j', (_, size, of) => {
    expect(mappingsOf(of, 'ProcessExecution', 'BatchSize')).toEqual([1, size])
  })
})

describe('agentMemoryMb', () => {
  it('is the memory of the functions that run agents, and of no others', () => {
    const changed = FUNCTION_NAMES.filter(
      (name) => findFunctionResource(template, 'AWS::Lambda::Function', name).Properties.MemorySize === 640,
    )
    expect(changed.toSorted()).toEqual(AGENT_FUNCTIONS.toSorted())
  })
})

describe('modelEndpoints', () => {
  it('is a variable of the functions that know models, and of no others', () => {
    const modelEndpoints = `{"groq":{"baseUrl":"https://a/v1","apiKey":"\${secret:GROQ}"}}`
    const template = synthesize({ modelEndpoints })
    const variablesOf = (name: FunctionName) =>
      findFunctionResource(template, 'AWS::Lambda::Function', name).Properties.Environment.Variables
    const set = FUNCTION_NAMES.filter((name) => variablesOf(name).MODEL_ENDPOINTS === modelEndpoints)
    expect(set.toSorted()).toEqual(MODEL_FUNCTIONS.toSorted())
    // `functions.test.ts` checks that their roles may read everything below this path.
    for (const name of AGENT_FUNCTIONS)
      expect(variablesOf(name).SECRETS_PREFIX).toBe('/aes/AgentExecutionService/secrets')
  })
})

describe('httpPublishing', () => {
  it.each([
    [{}, ['publish-agent'], defaults],
    [{ httpPublishing: 'true' }, [], template],
  ])('turns off the function that publishes, and no other, unless it is true: %j', (_, expected, of) => {
    const off = FUNCTION_NAMES.filter(
      (name) =>
        findFunctionResource(of, 'AWS::Lambda::Function', name).Properties.Environment.Variables
          .HTTP_PUBLISHING === 'off',
    )
    expect(off).toEqual(expected)
  })
})

describe('executionRetentionDays', () => {
  const readVariables = (template: typeof defaults) =>
    Object.values(findResources(template, 'AWS::Lambda::Function')).map(
      ({ Properties }) => Properties.Environment.Variables.EXECUTION_RETENTION_DAYS,
    )

  it('is set on every function', () => {
    expect(new Set(readVariables(template))).toEqual(new Set(['90']))
    expect(new Set(readVariables(defaults))).toEqual(new Set([undefined]))
  })
})

const functionsWith = (of: typeof defaults, variable: string) =>
  FUNCTION_NAMES.filter(
    (name) =>
      variable in findFunctionResource(of, 'AWS::Lambda::Function', name).Properties.Environment.Variables,
  )

describe('maxOpenExecutions', () => {
  it('is a variable of the functions that start runs, also those of batches and schedules', () => {
    expect(functionsWith(defaults, 'MAX_OPEN_EXECUTIONS').sort()).toEqual([
      'manage-schedules',
      'process-execution',
      'rerun-execution',
      'run-agent',
      'serve-mcp',
    ])
  })
})

describe('maxWaitDays and maxSuspendedExecutions', () => {
  it('are variables of the functions that start runs, and the first one of all if executions expire', () => {
    const startRuns = FUNCTION_NAMES.filter(
      (name) => AGENT_FUNCTIONS.includes(name) || ['manage-schedules', 'rerun-execution'].includes(name),
    )
    for (const variable of ['MAX_WAIT_DAYS', 'MAX_SUSPENDED_EXECUTIONS'])
      expect(functionsWith(defaults, variable)).toEqual(startRuns)
    expect(functionsWith(template, 'MAX_WAIT_DAYS')).toEqual(FUNCTION_NAMES)
  })
})

describe('webAcl', () => {
  it('protects the stage and only counts the rules on bodies', () => {
    const { Rules, Scope, DefaultAction } = findResource(template, 'AWS::WAFv2::WebACL').Properties
    expect([Scope, DefaultAction]).toEqual(['REGIONAL', { Allow: {} }])
    const [rate, common] = Rules
    expect([rate.Action, rate.Statement.RateBasedStatement.AggregateKeyType]).toEqual([{ Block: {} }, 'IP'])
    const { Name, RuleActionOverrides } = common.Statement.ManagedRuleGroupStatement
    expect([Name, common.OverrideAction]).toEqual(['AWSManagedRulesCommonRuleSet', { None: {} }])
    for (const { Name: rule, ActionToUse } of RuleActionOverrides) {
      expect(rule).toMatch(/_BODY$/)
      expect(ActionToUse).toEqual({ Count: {} })
    }
    const { ResourceArn } = findResource(template, 'AWS::WAFv2::WebACLAssociation').Properties
    expect(JSON.stringify(ResourceArn)).toMatch(/\/stages\/.*Stage/)
  })

  it('creates no web ACL by default', () => {
    defaults.resourceCountIs('AWS::WAFv2::WebACL', 0)
  })
})

describe('kms', () => {
  const [[keyId = '', key] = []] = Object.entries(findResources(template, 'AWS::KMS::Key'))
  const arn = { 'Fn::GetAtt': [keyId, 'Arn'] }

  it('encrypts the table and the queues with a key that is rotated and retained', () => {
    expect(findResource(template, 'AWS::DynamoDB::Table').Properties.SSESpecification).toEqual({
      KMSMasterKeyId: arn,
      SSEEnabled: true,
      SSEType: 'KMS',
    })
    const queues = Object.values(findResources(template, 'AWS::SQS::Queue'))
    expect(queues.map(({ Properties }) => Properties.KmsMasterKeyId)).toEqual([arn, arn, arn, arn])
    expect([key?.Properties.EnableKeyRotation, key?.DeletionPolicy]).toEqual([true, 'RetainExceptOnCreate'])
  })

  it('lets only the account use the key, through DynamoDB and SQS', () => {
    const statements = key?.Properties.KeyPolicy.Statement as Record<string, unknown>[]
    const open = statements.filter(({ Principal }) => JSON.stringify(Principal) === '{"AWS":"*"}')
    expect(open).toHaveLength(1)
    expect(open[0]?.Condition).toEqual({
      StringEquals: {
        'kms:CallerAccount': { Ref: 'AWS::AccountId' },
        'kms:ViaService': ['dynamodb', 'sqs'].map((service) => ({
          'Fn::Join': ['', [`${service}.`, { Ref: 'AWS::Region' }, '.', { Ref: 'AWS::URLSuffix' }]],
        })),
      },
    })
  })

  it('creates no key by default', () => {
    defaults.resourceCountIs('AWS::KMS::Key', 0)
  })
})

describe('eventBus and webhookUrls', () => {
  const OTHER = 'arn:aws:events:eu-central-1:210987654321:event-bus/all'
  const own = synthesize({ eventBus: 'events', webhookUrls: true, executionRetentionDays: 5 })
  const variablesOf = (of: typeof own, name: FunctionName) =>
    findFunctionResource(of, 'AWS::Lambda::Function', name).Properties.Environment.Variables
  const putEventsOf = (of: typeof own, name: FunctionName): { Resource: unknown }[] =>
    findFunctionResource(of, 'AWS::IAM::Policy', name).Properties.PolicyDocument.Statement.filter(
      ({ Action }: { Action: string }) => String(Action).startsWith('events:'),
    )

  it('let only deliver-events put events, on this bus', () => {
    const others = FUNCTION_NAMES.filter((name) => name !== 'deliver-events')
    expect(others.flatMap((name) => putEventsOf(own, name))).toEqual([])
    expect(JSON.stringify(putEventsOf(own, 'deliver-events'))).toMatch(/:event-bus\/events"\]\]/)
    const other = synthesize({ eventBus: OTHER })
    expect(putEventsOf(other, 'deliver-events')).toMatchObject([{ Resource: OTHER }])
    expect(putEventsOf(defaults, 'deliver-events')).toEqual([])
  })

  it('tell the functions that mark and deliver events of the bus, and those that accept URLs of them', () => {
    for (const name of FUNCTION_NAMES) {
      const { EVENT_BUS, WEBHOOK_URLS, DELIVERY_QUEUE_URL, AUDIT_RETENTION_DAYS } = variablesOf(own, name)
      // Audit entries are marked, too.
      const marks = DELIVERY_QUEUE_URL !== undefined || AUDIT_RETENTION_DAYS !== undefined
      expect([name, EVENT_BUS]).toEqual([name, marks ? 'events' : undefined])
      expect([name, WEBHOOK_URLS]).toEqual([
        name,
        ['run-agent', 'manage-batches'].includes(name) ? 'on' : undefined,
      ])
      expect(variablesOf(defaults, name)).not.toHaveProperty('EVENT_BUS')
      expect(variablesOf(defaults, name)).not.toHaveProperty('WEBHOOK_URLS')
    }
  })

  it('need executions that are kept while their events are delivered', () => {
    expect(() => synthesize({ eventBus: 'events', executionRetentionDays: 4 })).toThrow(
      'eventBus requires executionRetentionDays to be at least 5, or unset',
    )
    expect(() => synthesize({ executionRetentionDays: 4 })).not.toThrow()
  })
})

describe('the settings of the identity provider', () => {
  const settings = {
    oidcIssuer: 'https://login.example.com/',
    oidcAudience: 'https://agents.example.com, api://agents',
    oidcMapping:
      '{"organization":"0d3c6b3e-8a53-4c1e-9c2b-5a1f0e6d7c48","scopes":{"claim":"scp","values":{"use":["run","read"]}}}',
    oidcClientId: 'console',
  }
  const template = synthesize(settings)
  const identityOf = (of: typeof template, name: FunctionName) =>
    Object.fromEntries(
      Object.entries<string>(
        findFunctionResource(of, 'AWS::Lambda::Function', name).Properties.Environment.Variables,
      ).filter(([variable]) => variable.startsWith('OIDC_')),
    )

  it('are variables of the authorizer and the console, and the issuer of all endpoints', () => {
    const issuer = { OIDC_ISSUER: settings.oidcIssuer }
    const audience = { OIDC_AUDIENCE: settings.oidcAudience }
    for (const name of FUNCTION_NAMES) {
      const isBackground = ['process', 'sweep', 'deliver'].some((verb) => name.startsWith(verb))
      const mapping = { OIDC_MAPPING: settings.oidcMapping }
      const expected = isBackground ? {} : { ...issuer }
      if (name === 'authorize-request') Object.assign(expected, audience, mapping)
      if (name === functionOf('get-resource-metadata')) Object.assign(expected, mapping)
      // Not the mapping: what it means is known here.
      if (name === 'serve-console')
        Object.assign(expected, audience, {
          OIDC_CLIENT_ID: 'console',
          OIDC_SCOPE: 'openid profile email use',
        })
      expect([name, identityOf(template, name)]).toEqual([name, expected])
      expect(identityOf(defaults, name)).toEqual({})
    }
  })
})

describe('the API key parameters', () => {
  const readPermissions = (of: typeof template, name: string) =>
    JSON.stringify(findFunctionResource(of, 'AWS::IAM::Policy', name).Properties.PolicyDocument)

  it.each(FUNCTION_NAMES)('are passed to %s, with read permission, only if it runs agents', (name) => {
    const { Variables } = findFunctionResource(template, 'AWS::Lambda::Function', name).Properties.Environment
    const runsAgents = AGENT_FUNCTIONS.includes(name)
    expect([Variables.OPENAI_API_KEY_PARAMETER, Variables.ANTHROPIC_API_KEY_PARAMETER]).toEqual(
      runsAgents ? ['/team/openai', 'anthropic.key'] : [undefined, undefined],
    )
    for (const parameter of [':parameter/team/openai"', ':parameter/anthropic.key"'])
      expect(readPermissions(template, name).includes(parameter)).toBe(runsAgents)
  })

  it('set no variables by default', () => {
    for (const name of AGENT_FUNCTIONS) {
      const { Variables } = findFunctionResource(defaults, 'AWS::Lambda::Function', name).Properties
        .Environment
      expect(Object.keys(Variables).filter((variable) => variable.endsWith('_PARAMETER'))).toEqual([])
    }
  })
})

describe('cloudWatchRole', () => {
  it('sets the role of the account unless it is false', () => {
    defaults.resourceCountIs('AWS::ApiGateway::Account', 1)
    template.resourceCountIs('AWS::ApiGateway::Account', 0)
  })
})

describe('the cost allocation tag', () => {
  it('is on every resource that has a price, with the name of the service', () => {
    const types = [
      'DynamoDB::Table',
      'Lambda::Function',
      'SQS::Queue',
      'Logs::LogGroup',
      'ApiGateway::RestApi',
    ]
    const priced = types.flatMap((type) => Object.values(findResources(template, `AWS::${type}`)))
    for (const { Properties } of priced)
      expect(Properties.Tags).toContainEqual({
        Key: 'agent-execution-service',
        Value: 'AgentExecutionService',
      })
  })
})

describe('a stack without executionRetentionDays', () => {
  const warningsOf = (context: Record<string, unknown>) =>
    withStack(context, (stack) =>
      Annotations.fromStack(stack).findWarning(
        '*',
        Match.stringLikeRegexp('executionRetentionDays is not set'),
      ),
    )

  it('is a warning of the CDK', () => {
    expect(warningsOf({})).toHaveLength(1)
    expect(warningsOf({ executionRetentionDays: 30 })).toHaveLength(0)
  })
})
