import { afterEach, describe, expect, it, vi } from 'vitest'
import type { FunctionName } from '../../../infra/functions/function-settings.ts'
import { parseAlarmSubscriptions } from '../../../infra/monitoring/subscriptions.ts'
import { functionOf, type OperationName } from '../../../lib/contract/routes.ts'
import type { ServiceEvent } from '../../../lib/http/event.ts'
import { requestLog } from '../../../lib/http/request-log.ts'
import { logger } from '../../../lib/logger.ts'
import { START_DELAY_MS } from '../../../lib/metrics.ts'
import { OPTION_SETS, SUBSCRIPTIONS } from '../all-options.ts'
import { findResource, findResources, synthesize, toLogicalIdPrefix } from '../synthesize.ts'
import { applyMetricFilters } from './apply-metric-filters.ts'

const template = synthesize()

describe('a metric filter', () => {
  afterEach(() => vi.restoreAllMocks())

  it.each<[string, OperationName, Handled, object]>([
    ['how long a read takes', 'list-agents', {}, { ReadLatencyMs: 40 }],
    ['a read of a function that also writes', 'get-rollout', {}, { ReadLatencyMs: 40 }],
    ['no write of such a function', 'put-rollout', {}, {}],
    ['no read that waits', 'get-execution', { headers: { 'Preference-Applied': 'wait=10' } }, {}],
    ['what a run takes beside its agent', 'run-agent', { executionMs: 30 }, { RunOverheadMs: 10 }],
    ['no run in the background', 'run-agent', {}, {}],
  ])('measures %s', async (_, operation, handled, metrics) => {
    expect(await metricsOfRequest(operation, handled)).toEqual(metrics)
  })

  it('measures how late a run starts, from the metrics of the runner', () => {
    expect(metricsOf(logOf('process-execution'), { [START_DELAY_MS]: 7 })).toEqual({ StartDelayMs: 7 })
  })

  it.each(['run-agent', 'process-execution', 'serve-mcp'] as const)('measures the memory of %s', (name) => {
    const metrics = { durationMs: 12.3, memorySizeMB: 512, maxMemoryUsedMB: 180 }
    const record = { status: 'success', metrics }
    expect(metricsOf(logOf(name), { type: 'platform.report', record })).toEqual({ MemoryUsedMb: 180 })
    expect(metricsOf(logOf(name), { type: 'platform.start', record: {} })).toEqual({})
  })

  it.each([
    ['a function that fails', '503', '-', {}],
    ['an integration that fails', '500', 'INTEGRATION_FAILURE', { ServerErrors: 1 }],
    ['an authorizer that fails', '503', 'AUTHORIZER_FAILURE', { ServerErrors: 1, AuthorizerErrors: 1 }],
    ['a missing token', '401', 'UNAUTHORIZED', {}],
    ['a limit of an organization', '429', '-', { ThrottledRequests: 1 }],
  ])('counts in the access log %s', (_, status, gatewayResponse, metrics) => {
    expect(metricsOf('AccessLog', { status, gatewayResponse })).toEqual(metrics)
  })
})

/** The metrics that a line in the log of a function becomes, by name. */
const metricsOf = (logGroup: string, entry: object) =>
  Object.fromEntries(
    applyMetricFilters(template, [{ logGroup, entry: { ...entry } }]).map(({ name, value }) => [name, value]),
  )

const logOf = (name: FunctionName) => `${toLogicalIdPrefix(name)}Logs`

type Handled = { headers?: Record<string, string>; executionMs?: number }

/** The metrics of the line that the middleware logs for a request, which took 40 ms. */
async function metricsOfRequest(operation: OperationName, { headers = {}, executionMs }: Handled = {}) {
  const info = vi.spyOn(logger, 'info').mockReturnValue(undefined)
  const now = vi.spyOn(performance, 'now').mockReturnValue(1_000)
  const event = { requestContext: { requestId: 'r' }, ...(executionMs !== undefined && { executionMs }) }
  const request = { event: event as ServiceEvent, response: { statusCode: 200, headers, body: '' } }
  const { before, after } = requestLog(operation)
  await before?.(request as never)
  now.mockReturnValue(1_040)
  await after?.(request as never)
  const [message, entry] = info.mock.lastCall as unknown as [string, object]
  return metricsOf(logOf(functionOf(operation)), JSON.parse(JSON.stringify({ message, ...entry })))
}

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
    const invocation = { Action: 'lambda:InvokeFunction', FunctionName: lambda, SourceArn: { Ref: topic } }
    const expected = [{ ...invocation, Principal: 'sns.amazonaws.com' }]
    expect(granted.map(({ Properties }) => Properties)).toEqual(expected)
  })
})

describe('the topic of the alarms', () => {
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
