import { Duration } from 'aws-cdk-lib'
import { Rule, Schedule } from 'aws-cdk-lib/aws-events'
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets'
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources'
import type { Queue } from 'aws-cdk-lib/aws-sqs'
import type { Construct } from 'constructs'
import type { Settings } from '../settings.ts'
import type { Functions } from './functions.ts'

const SWEEP_INTERVAL = Duration.minutes(1)

type Triggers = {
  functions: Functions
  queue: Queue
  deadLetterQueue: Queue
  settings: Pick<Settings, 'runnerConcurrency' | 'runnerBatch'>
}

/** Connects the queues and the schedule to their functions. */
export function createTriggers(
  scope: Construct,
  { functions, queue, deadLetterQueue, settings }: Triggers,
): void {
  functions['process-execution'].addEventSource(
    new SqsEventSource(queue, {
      batchSize: settings.runnerBatch,
      reportBatchItemFailures: true,
      maxConcurrency: settings.runnerConcurrency,
    }),
  )
  functions['process-dead-letter'].addEventSource(
    new SqsEventSource(deadLetterQueue, { batchSize: 10, reportBatchItemFailures: true }),
  )
  new Rule(scope, 'SweepSchedule', {
    schedule: Schedule.rate(SWEEP_INTERVAL),
    // The next scheduled sweep replaces a retry.
    targets: [new LambdaFunction(functions['sweep-executions'], { retryAttempts: 0 })],
  })
}
