import { describe, expect, it } from 'vitest'
import { parseAlarmSubscriptions } from '../../../infra/monitoring/subscriptions.ts'
import { OPTION_SETS, SUBSCRIPTIONS } from '../all-options.ts'
import { findResource, findResources, synthesize } from '../synthesize.ts'

const LAMBDA = 'arn:aws:lambda:eu-west-1:123456789012:function:page-on-call:live'
const QUEUE = 'arn:aws-us-gov:sqs:us-gov-west-1:123456789012:alarms'
const TOPIC = 'arn:aws:sns:eu-west-1:123456789012:operations'

describe('parseAlarmSubscriptions', () => {
  it.each([
    ['ops@example.com', 'email'],
    ['first.last+aws@sub.example.co.uk', 'email'],
    ['https://events.example.com/integration/key/enqueue?source=aws', 'https'],
    ['+4915112345678', 'sms'],
    [LAMBDA, 'lambda'],
    [QUEUE, 'sqs'],
    [TOPIC, 'topic'],
  ])('accepts %s as %s', (endpoint, protocol) => {
    expect(parseAlarmSubscriptions(endpoint)).toEqual([{ protocol, endpoint }])
  })

  it.each([
    ['ops', '"ops" is none of them.'],
    ['a@example.com,', '"" is none of them.'],
    ['http://example.com', '"http://example.com" has to be an https URL.'],
    ['015112345678', '"015112345678" is none of them.'],
    ['+015112345678', 'is none of them.'],
    [`${QUEUE}.fifo`, 'is a FIFO queue'],
    ['arn:aws:firehose:eu-west-1:123456789012:deliverystream/alarms', 'is none of them.'],
    ['a@example.com,b@example.com,a@example.com', '"a@example.com" is listed twice.'],
    [Array.from({ length: 5 }, (_, index) => `${TOPIC}-${index}`).join(), 'At most 4 SNS topics'],
  ])('rejects %j', (text, message) => {
    expect(() => parseAlarmSubscriptions(text)).toThrow(message)
  })
})

describe('alarmSubscriptions', () => {
  const [email, https, sms, lambda, sqs, other] = SUBSCRIPTIONS
  const template = synthesize(OPTION_SETS['every option'])
  const [topic = ''] = Object.keys(findResources(template, 'AWS::SNS::Topic'))
  const alarms = Object.values(findResources(template, 'AWS::CloudWatch::Alarm'))

  it('subscribe to the topic of the stack', () => {
    const subscriptions = Object.values(findResources(template, 'AWS::SNS::Subscription'))
    expect(subscriptions.map(({ Properties }) => [Properties.Protocol, Properties.Endpoint])).toEqual([
      ['email', email],
      ['https', https],
      ['sms', sms],
      ['lambda', lambda],
      ['sqs', sqs],
    ])
    for (const { Properties } of subscriptions) expect(Properties.TopicArn).toEqual({ Ref: topic })
  })

  it('receive every alarm and its recovery, topics from the alarms themselves', () => {
    const actions = [{ Ref: topic }, other]
    expect(alarms.length).toBeGreaterThan(10)
    for (const { Properties } of alarms)
      expect([Properties.AlarmActions, Properties.OKActions]).toEqual([actions, actions])
  })

  it('let the topic invoke a function, and nothing else', () => {
    const permissions = Object.values(findResources(template, 'AWS::Lambda::Permission'))
    const granted = permissions.filter(({ Properties }) => Properties.Principal === 'sns.amazonaws.com')
    expect(granted.map(({ Properties }) => Properties)).toEqual([
      {
        Action: 'lambda:InvokeFunction',
        FunctionName: lambda,
        Principal: 'sns.amazonaws.com',
        SourceArn: { Ref: topic },
      },
    ])
  })
})

describe('the topic of the alarms', () => {
  const template = synthesize({ monitoring: true })

  it('exists without subscriptions, and is an output for those that others create', () => {
    const [topic = ''] = Object.keys(findResources(template, 'AWS::SNS::Topic'))
    template.resourceCountIs('AWS::SNS::Subscription', 0)
    expect(template.findOutputs('AlarmTopicArn')).toMatchObject({ AlarmTopicArn: { Value: { Ref: topic } } })
  })

  it('accepts notifications of alarms of the account only, over TLS', () => {
    const { Statement } = findResource(template, 'AWS::SNS::TopicPolicy').Properties.PolicyDocument
    expect(Statement).toMatchObject([
      { Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } },
      {
        Effect: 'Allow',
        Action: 'sns:Publish',
        Principal: { Service: 'cloudwatch.amazonaws.com' },
        Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
      },
    ])
  })
})
