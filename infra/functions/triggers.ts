import { Duration } from 'aws-cdk-lib'
import { Rule, Schedule } from 'aws-cdk-lib/aws-events'
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets'
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources'
import type { Construct } from 'constructs'
import { isPaused, type ServiceSettings } from '../settings.ts'
import type { Queues } from '../storage.ts'
import { divideConcurrency } from './concurrency.ts'
import type { createFunctions } from './functions.ts'
import { toInstanceConcurrency } from './runner-instances.ts'

/** Connects the queues and the schedule to their functions. */
export function createTriggers(
  scope: Construct,
  { functions, modelRunner }: ReturnType<typeof createFunctions>,
  { queues, settings }: { queues: Queues; settings: ServiceSettings },
): void {
  const paused = isPaused(settings) && { enabled: false }
  const { queue, modelQueue, deadLetterQueue, deliveryQueue } = queues
  const { runners, mappings } = divideConcurrency(settings)
  const source = { reportBatchItemFailures: true, ...paused }
  const runner = { ...source, maxConcurrency: runners }
  const batches = { ...source, batchSize: 10 }
  functions['process-execution'].live.addEventSource(new SqsEventSource(queue, { ...runner, batchSize: 1 }))
  // Without a batching window, which can delay runs by 20 s: batches fill while all runners are busy.
  modelRunner.live.addEventSource(
    new SqsEventSource(modelQueue, {
      ...runner,
      // On managed instances, invocations share a process: each run has its own, which ends with it.
      ...(modelRunner === functions['process-execution']
        ? { batchSize: settings.runnerBatch }
        : { batchSize: 1, maxConcurrency: toInstanceConcurrency({ runners, ...settings }) }),
    }),
  )
  const { deliveries, deadLetters } = mappings
  functions['process-dead-letter'].live.addEventSource(
    new SqsEventSource(deadLetterQueue, {
      ...batches,
      // A mapping does not know of a reservation, and would have its invocations throttled:
      // https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html
      ...(deadLetters !== undefined && { maxConcurrency: deadLetters }),
    }),
  )
  functions['deliver-events'].live.addEventSource(
    new SqsEventSource(deliveryQueue, { ...batches, maxConcurrency: deliveries }),
  )
  new Rule(scope, 'SweepSchedule', {
    ...paused,
    schedule: Schedule.rate(Duration.minutes(1)),
    // The next scheduled sweep replaces a retry.
    targets: [new LambdaFunction(functions['sweep-executions'].live, { retryAttempts: 0 })],
  })
}
