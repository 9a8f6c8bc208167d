import { Duration } from 'aws-cdk-lib'
import { Rule, Schedule } from 'aws-cdk-lib/aws-events'
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets'
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources'
import type { Queue } from 'aws-cdk-lib/aws-sqs'
import type { Construct } from 'constructs'
import type { Settings } from '../settings.ts'
import type { Functions } from './functions.ts'

const SWEEP_EVERY = Duration.minutes(1)

type Triggers = {
  functions: Functions
  queue: Queue
  deadLetters: Queue
  settings: Pick<Settings, 'runnerConcurrency' | 'runnerBatch'>
}

/** What starts the functions that no request starts. */
export function createTriggers(
  scope: Construct,
  { functions, queue, deadLetters, settings }: Triggers,
): void {
  functions['process-execution'].addEventSource(
    new SqsEventSource(queue, {
      batchSize: settings.runnerBatch,
      reportBatchItemFailures: true,
      maxConcurrency: settings.runnerConcurrency,
    }),
  )
  functions['process-dead-letter'].addEventSource(
    new SqsEventSource(deadLetters, { batchSize: 10, reportBatchItemFailures: true }),
  )
  new Rule(scope, 'SweepSchedule', {
    schedule: Schedule.rate(SWEEP_EVERY),
    // A sweep that failed is not tried again: the next one is due before that.
    targets: [new LambdaFunction(functions['sweep-executions'], { retryAttempts: 0 })],
  })
}
