import { describe, expect, it } from 'vitest'
import { INDEXES } from '../../../lib/dynamodb/table/schema.ts'
import { synthesize } from '../synthesize.ts'
import { evaluateAlarms, type Sample, STACK_NAME } from './evaluate-alarms.ts'

const template = synthesize()
const runner = { FunctionName: 'ProcessExecutionFunction' }
const sweeper = { FunctionName: 'SweepExecutionsFunction' }

const aSample = (
  namespace: string,
  name: string,
  value: number,
  dimensions: Sample['dimensions'] = {},
): Sample => ({ namespace, name, value, dimensions })
const repeat = (count: number, sample: Sample): Sample[] => Array(count).fill(sample)
const swept = aSample('AWS/Lambda', 'Invocations', 5, sweeper)
const findAlarms = (samples: Sample[], periods = 3) => evaluateAlarms(template, Array(periods).fill(samples))

const requests = aSample('AWS/ApiGateway', 'Count', 300, { ApiName: STACK_NAME })
const serverErrors = (count: number) => repeat(count, aSample(STACK_NAME, 'ServerErrors', 1))
const runs = (total: number, failed: number) => [
  ...repeat(total, aSample(STACK_NAME, 'Runs', 1)),
  ...repeat(failed, aSample(STACK_NAME, 'Runs', 1, { Outcome: 'ERROR' })),
]
const latency = (name: string, fast: number, slow: number, slowMs: number) => [
  ...repeat(fast, aSample(STACK_NAME, name, 20)),
  ...repeat(slow, aSample(STACK_NAME, name, slowMs)),
]
const queueAge = (groups: 'InQuietGroups' | '', seconds: number, QueueName = 'Queue') => [
  aSample('AWS/SQS', `ApproximateAgeOfOldestMessage${groups}`, seconds, { QueueName }),
]
const deadLetter = (name: string) => [aSample('AWS/SQS', name, 1, { QueueName: 'DeadLetterQueue' })]
/** Of an account with a quota of 1,000, a part of which is reserved. */
const concurrency = (unreserved: number, reserved = 0) => [
  aSample('AWS/Lambda', 'UnreservedConcurrentExecutions', unreserved),
  aSample('AWS/Lambda', 'ClaimedAccountConcurrency', unreserved + reserved),
  aSample('AWS/Lambda', 'ConcurrentExecutions', unreserved),
]
const throttled = (kind: string, events: number, index = {}) => [
  aSample('AWS/DynamoDB', `${kind}ThrottleEvents`, events, { TableName: 'Table', ...index }),
]

const cost = (lastDay: number, usual: number) => [
  aSample(STACK_NAME, 'DailyCostUsd', lastDay),
  aSample(STACK_NAME, 'UsualDailyCostUsd', usual),
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
    ['one slow read in 100', latency('ReadLatencyMs', 99, 1, 1_500), []],
    ['two slow reads in 100', latency('ReadLatencyMs', 98, 2, 1_500), ['ReadLatency']],
    ['two authorizer errors', [aSample(STACK_NAME, 'AuthorizerErrors', 2)], []],
    ['100 requests with 429', [aSample(STACK_NAME, 'ThrottledRequests', 100)], []],
    ['all of a few executions in ERROR', runs(19, 19), []],
    ['20 % of executions in ERROR', runs(20, 4), []],
    ['25 % of executions in ERROR', runs(20, 5), ['ExecutionErrorRate']],
    ['a long run in the queue', queueAge('', 900), []],
    ['an old message', queueAge('', 1_201), ['QueueAge']],
    ['an old message of a model agent', queueAge('', 1_201, 'ModelQueue'), ['QueueAge']],
    ['a runner that crashes', [aSample('AWS/Lambda', 'Errors', 1, runner)], ['RunnerErrors']],
    ['a dead letter', deadLetter('NumberOfMessagesReceived'), ['DeadLetters']],
    ['a dead letter that is not received', deadLetter('ApproximateNumberOfMessagesVisible'), ['DeadLetters']],
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
    ['some throttled writes of the table', throttled('Write', 500), []],
    ...Object.keys(INDEXES).flatMap((GlobalSecondaryIndexName) => {
      const index = { GlobalSecondaryIndexName }
      return ['Write', 'Read'].flatMap((kind): [string, Sample[], string[]][] => [
        [`100 throttled ${kind}s of ${GlobalSecondaryIndexName}`, throttled(kind, 100, index), []],
        [`101 of ${GlobalSecondaryIndexName}`, throttled(kind, 101, index), [`Index${kind}Throttles`]],
      ])
    }),
    ['events that wait for 15 minutes', [aSample(STACK_NAME, 'OutboxAgeSeconds', 900)], []],
    ['events that wait for longer', [aSample(STACK_NAME, 'OutboxAgeSeconds', 901)], ['OutboxAge']],
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
