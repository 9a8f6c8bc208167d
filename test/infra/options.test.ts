import { describe, expect, it } from 'vitest'
import { FUNCTION_NAMES, RUNS_AGENTS } from '../../infra/functions/function-settings.ts'
import { onlyResource, ownedResource, resourcesOf, synthesize } from './synthesize.ts'

const plain = synthesize()

describe('the settings of the API', () => {
  it('reach its stage, its domain and its logs', () => {
    const certificateArn = 'arn:aws:acm:eu-central-1:123456789012:certificate/0e1f-2a'
    const template = synthesize({
      stageName: 'blue',
      throttlingRate: 7,
      throttlingBurst: 9,
      logRetentionDays: 365,
      domainName: 'agents.example.com',
      certificateArn,
    })
    const { StageName, MethodSettings } = onlyResource(template, 'AWS::ApiGateway::Stage').Properties
    expect(StageName).toBe('blue')
    expect(MethodSettings).toMatchObject([{ ThrottlingRateLimit: 7, ThrottlingBurstLimit: 9 }])
    const groups = Object.values(resourcesOf(template, 'AWS::Logs::LogGroup'))
    expect(groups.map(({ Properties }) => Properties.RetentionInDays)).toEqual(
      Array.from({ length: FUNCTION_NAMES.length + 1 }, () => 365),
    )
    expect(onlyResource(template, 'AWS::ApiGateway::DomainName').Properties).toMatchObject({
      DomainName: 'agents.example.com',
      EndpointConfiguration: { Types: ['REGIONAL'] },
      RegionalCertificateArn: certificateArn,
      SecurityPolicy: 'TLS_1_2',
    })
    const { Stage, BasePath } = onlyResource(template, 'AWS::ApiGateway::BasePathMapping').Properties
    expect([Stage, BasePath]).toEqual([{ Ref: expect.stringContaining('Stage') }, undefined])
    expect(Object.keys(template.findOutputs('DomainTarget'))).toHaveLength(1)
  })

  it('are without a domain unless one is given', () => {
    plain.resourceCountIs('AWS::ApiGateway::DomainName', 0)
    expect(plain.findOutputs('DomainTarget')).toEqual({})
  })
})

describe('runnerConcurrency', () => {
  it('bounds the runners', () => {
    const mappings = Object.values(
      resourcesOf(synthesize({ runnerConcurrency: 3 }), 'AWS::Lambda::EventSourceMapping'),
    )
    expect(mappings.map(({ Properties }) => Properties.ScalingConfig).filter(Boolean)).toEqual([
      { MaximumConcurrency: 3 },
    ])
  })
})

describe('runnerBatch', () => {
  it.each([
    [{}, 1],
    [{ runnerBatch: 4 }, 4],
  ])('of %j is what a runner takes at once', (context, size) => {
    const mappings = Object.values(resourcesOf(synthesize(context), 'AWS::Lambda::EventSourceMapping'))
    const [runner] = mappings.filter(({ Properties }) => Properties.ScalingConfig)
    expect(runner?.Properties.BatchSize).toBe(size)
  })
})

describe('agentMemoryMb', () => {
  it('is what the functions that run agents have, and no other', () => {
    const template = synthesize({ agentMemoryMb: 640 })
    const withIt = FUNCTION_NAMES.filter(
      (name) => ownedResource(template, 'AWS::Lambda::Function', name).Properties.MemorySize === 640,
    )
    expect(withIt.toSorted()).toEqual(RUNS_AGENTS.toSorted())
  })
})

describe('executionRetentionDays', () => {
  const daysIn = (template: typeof plain) =>
    Object.values(resourcesOf(template, 'AWS::Lambda::Function')).map(
      ({ Properties }) => Properties.Environment.Variables.EXECUTION_RETENTION_DAYS,
    )

  it('is known to every function that writes executions', () => {
    expect(new Set(daysIn(synthesize({ executionRetentionDays: 90 })))).toEqual(new Set(['90']))
    expect(new Set(daysIn(plain))).toEqual(new Set([undefined]))
  })
})

describe('webAcl', () => {
  it('stands in front of the stage, and leaves bodies alone', () => {
    const template = synthesize({ webAcl: true })
    const { Rules, Scope, DefaultAction } = onlyResource(template, 'AWS::WAFv2::WebACL').Properties
    expect([Scope, DefaultAction]).toEqual(['REGIONAL', { Allow: {} }])
    const [rate, common] = Rules
    expect([rate.Action, rate.Statement.RateBasedStatement.AggregateKeyType]).toEqual([{ Block: {} }, 'IP'])
    const { Name, RuleActionOverrides } = common.Statement.ManagedRuleGroupStatement
    expect([Name, common.OverrideAction]).toEqual(['AWSManagedRulesCommonRuleSet', { None: {} }])
    for (const { Name: rule, ActionToUse } of RuleActionOverrides) {
      expect(rule).toMatch(/_BODY$/)
      expect(ActionToUse).toEqual({ Count: {} })
    }
    const { ResourceArn } = onlyResource(template, 'AWS::WAFv2::WebACLAssociation').Properties
    expect(JSON.stringify(ResourceArn)).toMatch(/\/stages\/.*Stage/)
  })

  it('is absent unless it is asked for', () => {
    plain.resourceCountIs('AWS::WAFv2::WebACL', 0)
  })
})

describe('kms', () => {
  const template = synthesize({ kms: true })
  const [[keyId = '', key] = []] = Object.entries(resourcesOf(template, 'AWS::KMS::Key'))
  const arn = { 'Fn::GetAtt': [keyId, 'Arn'] }

  it('encrypts the table and both queues with a key that rotates and stays', () => {
    expect(onlyResource(template, 'AWS::DynamoDB::Table').Properties.SSESpecification).toEqual({
      KMSMasterKeyId: arn,
      SSEEnabled: true,
      SSEType: 'KMS',
    })
    const queues = Object.values(resourcesOf(template, 'AWS::SQS::Queue'))
    expect(queues.map(({ Properties }) => Properties.KmsMasterKeyId)).toEqual([arn, arn])
    expect([key?.Properties.EnableKeyRotation, key?.DeletionPolicy]).toEqual([true, 'Retain'])
  })

  it('may be used by the account through DynamoDB and SQS, and by anybody else in no way', () => {
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

  it('is off unless it is asked for', () => {
    plain.resourceCountIs('AWS::KMS::Key', 0)
  })
})

describe('the parameters of API keys', () => {
  const template = synthesize({ openaiKeyParameter: '/team/openai', anthropicKeyParameter: 'anthropic.key' })
  const rightsOf = (of: typeof template, name: string) =>
    JSON.stringify(ownedResource(of, 'AWS::IAM::Policy', name).Properties.PolicyDocument)

  it.each(FUNCTION_NAMES)('are named to %s, and may be read, only if it runs agents', (name) => {
    const { Variables } = ownedResource(template, 'AWS::Lambda::Function', name).Properties.Environment
    const runsAgents = RUNS_AGENTS.includes(name)
    expect([Variables.OPENAI_API_KEY_PARAMETER, Variables.ANTHROPIC_API_KEY_PARAMETER]).toEqual(
      runsAgents ? ['/team/openai', 'anthropic.key'] : [undefined, undefined],
    )
    for (const parameter of [':parameter/team/openai"', ':parameter/anthropic.key"'])
      expect(rightsOf(template, name).includes(parameter)).toBe(runsAgents)
  })

  it('leave no trace where none is given', () => {
    for (const name of RUNS_AGENTS) {
      const { Variables } = ownedResource(plain, 'AWS::Lambda::Function', name).Properties.Environment
      expect(Object.keys(Variables).filter((variable) => variable.endsWith('_PARAMETER'))).toEqual([])
    }
  })
})
