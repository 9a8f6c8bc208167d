import { describe, expect, it } from 'vitest'
import { INDEXES } from '../../../lib/dynamodb/table/schema.ts'
import { synthesize } from '../synthesize.ts'
import { evaluateAlarms, type Sample, STACK_NAME } from './evaluate-alarms.ts'

const template = synthesize()
const runner = { FunctionName: 'ProcessExecutionFunction' }
const sweeper = { FunctionName: 'SweepExecutionsFunction' }
const deadLetters = { QueueName: 'DeadLetterQueue' }

const aSample = (
  namespace: string,
  name: string,
  value: number,
  dimensions: Sample['dimensions'] = {},
): Sample => ({ namespace, name, value, dimensions })
const repeat = (count: number, sample: Sample): Sample[] => Array(count).fill(sample)
const swept = aSample('AWS/Lambda', 'Invocations', 5, sweeper)
const findAlarms = (samples: Sample[], periods = 3) => evaluateAlarms(template, Array(periods).fill(samples))

const SERVICE = STACK_NAME
const requests = aSample('AWS/ApiGateway', 'Count', 300, { ApiName: STACK_NAME })
const serverErrors = (count: number) => repeat(count, aSample(SERVICE, 'ServerErrors', 1))
const runs = (total: number, failed: number) => [
  ...repeat(total, aSample(SERVICE, 'Runs', 1)),
  ...repeat(failed, aSample(SERVICE, 'Runs', 1, { Outcome: 'ERROR' })),
]
const reads = (fast: number, slow: number) => [
  ...repeat(fast, aSample(SERVICE, 'ReadLatencyMs', 20)),
  ...repeat(slow, aSample(SERVICE, 'ReadLatencyMs', 1_500)),
]

const latency = (name: string, fast: number, slow: number, slowMs: number) => [
  ...repeat(fast, aSample(SERVICE, name, 20)),
  ...repeat(slow, aSample(SERVICE, name, slowMs)),
]
const queueAge = (groups: 'InQuietGroups' | '', seconds: number) => [
  aSample('AWS/SQS', `ApproximateAgeOfOldestMessage${groups}`, seconds, { QueueName: 'Queue' }),
]
/** Of an account with a quota of 1,000, a part of which is reserved. */
const concurrency = (unreserved: number, reserved = 0) => [
  aSample('AWS/Lambda', 'UnreservedConcurrentExecutions', unreserved),
  aSample('AWS/Lambda', 'ClaimedAccountConcurrency', unreserved + reserved),
  aSample('AWS/Lambda', 'ConcurrentExecutions', unreserved),
]
const throttled = (kind: string, index: string, events: number) =>
  aSample('AWS/DynamoDB', `${kind}ThrottleEvents`, events, {
    TableName: 'Table',
    GlobalSecondaryIndexName: index,
  })

const cost = (lastDay: number, usual: number) => [
  aSample(SERVICE, 'DailyCostUsd', lastDay),
  aSample(SERVICE, 'UsualDailyCostUsd', usual),
]

describe('the alarms', () => {
  it('are silent while only the sweeper runs', () => {
    expect(findAlarms([swept])).toEqual([])
  })

  it('go off without any data if the sweeper does not run', () => {
    expect(findAlarms([])).toEqual(['SweeperNotRunning'])
  })

  it.each<[string, Sample[], string[]]>([
    ['few server errors', [...serverErrors(3), requests], []],
    ['two server errors without other requests', [...serverErrors(2), { ...requests, value: 2 }], []],
    ['many server errors', [...serverErrors(4), requests], ['ServerErrorRate']],
    ['one slow read in 100', reads(99, 1), []],
    ['two slow reads in 100', reads(98, 2), ['ReadLatency']],
    ['two authorizer errors', [aSample(SERVICE, 'AuthorizerErrors', 2)], []],
    ['100 requests with 429', [aSample(SERVICE, 'ThrottledRequests', 100)], []],
    ['all of a few executions in ERROR', runs(19, 19), []],
    ['20 % of executions in ERROR', runs(20, 4), []],
    ['25 % of executions in ERROR', runs(20, 5), ['ExecutionErrorRate']],
    [
      'a long run in the queue',
      [aSample('AWS/SQS', 'ApproximateAgeOfOldestMessage', 900, { QueueName: 'Queue' })],
      [],
    ],
    [
      'an old message',
      [aSample('AWS/SQS', 'ApproximateAgeOfOldestMessage', 1_201, { QueueName: 'Queue' })],
      ['QueueAge'],
    ],
    [
      'an old message of a model agent',
      [aSample('AWS/SQS', 'ApproximateAgeOfOldestMessage', 1_201, { QueueName: 'ModelQueue' })],
      ['QueueAge'],
    ],
    ['a runner that crashes', [aSample('AWS/Lambda', 'Errors', 1, runner)], ['RunnerErrors']],
    ['a dead letter', [aSample('AWS/SQS', 'NumberOfMessagesReceived', 1, deadLetters)], ['DeadLetters']],
    [
      'a dead letter that is not received',
      [aSample('AWS/SQS', 'ApproximateNumberOfMessagesVisible', 1, deadLetters)],
      ['DeadLetters'],
    ],
    ['one run in 100 with a slow service', latency('RunOverheadMs', 99, 1, 2_500), []],
    ['two runs in 100 with a slow service', latency('RunOverheadMs', 98, 2, 2_500), ['RunLatency']],
    ['one asynchronous run in 100 that waits', latency('StartDelayMs', 99, 1, 60_001), []],
    ['two asynchronous runs in 100 that wait', latency('StartDelayMs', 98, 2, 60_001), ['StartDelay']],
    ['a long run of a quiet organization', queueAge('InQuietGroups', 960), []],
    ['an old message of a quiet organization', queueAge('InQuietGroups', 961), ['QuietQueueAge']],
    ['80 % of the concurrency in use', concurrency(800), []],
    ['81 % of the concurrency in use', concurrency(810), ['AccountConcurrency']],
    ['reservations that are not in use', concurrency(10, 900), []],
    ['half of what reservations leave in use', concurrency(250, 500), []],
    ['most of what reservations leave in use', concurrency(410, 500), ['AccountConcurrency']],
    [
      'some throttled writes of the table',
      [aSample('AWS/DynamoDB', 'WriteThrottleEvents', 500, { TableName: 'Table' })],
      [],
    ],
    ...Object.keys(INDEXES).flatMap((index): [string, Sample[], string[]][] =>
      ['Write', 'Read'].flatMap((kind): [string, Sample[], string[]][] => [
        [`100 throttled ${kind}s of ${index}`, [throttled(kind, index, 100)], []],
        [`101 throttled ${kind}s of ${index}`, [throttled(kind, index, 101)], [`Index${kind}Throttles`]],
      ]),
    ),
    ['events that wait for 15 minutes', [aSample(SERVICE, 'OutboxAgeSeconds', 900)], []],
    ['events that wait for longer', [aSample(SERVICE, 'OutboxAgeSeconds', 901)], ['OutboxAge']],
    ['a day that costs twice as much as usual', cost(200, 100), []],
    ['a day that costs more', cost(201, 100), ['CostGrowth']],
    ['the cost of a few runs after none', cost(20, 0), []],
    ['the cost of many runs after none', cost(21, 0), ['CostGrowth']],
    ['a cost while the usual one is not known', cost(10_000, 0).slice(0, 1), []],
    ['a day that costs less', cost(1, 100), []],
    ['throttling by Lambda', [aSample('AWS/Lambda', 'Throttles', 1)], ['FunctionThrottles']],
  ])('with %s', (_, samples, expected) => {
    expect(findAlarms([swept, ...samples])).toEqual(expected)
  })

  it.each(['ReadLatencyMs', 'RunOverheadMs', 'StartDelayMs'])('wait for three periods of %s', (name) => {
    const samples = [swept, ...latency(name, 0, 9, 99_999)]
    expect(findAlarms(samples, 2)).toEqual([])
    expect(findAlarms(samples, 3)).toHaveLength(1)
  })
})
