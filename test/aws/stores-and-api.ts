import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb'
import { GetQueueUrlCommand, SQSClient } from '@aws-sdk/client-sqs'
import { DYNAMODB_ENDPOINT, SQS_ENDPOINT } from '../../lib/environment.ts'
import { LOCAL_QUEUE, LOCAL_TABLE } from '../../local/emulators/provision.ts'
import type { Emulator } from '../../local/emulators/start-emulators.ts'
import { reportersWith } from '../ci/results.ts'
import { runCommand } from '../support/processes/processes.ts'
import { sdkConfig } from '../support/tables/sdk.ts'
import { resolveClassPath, startDynamoDBLocal, startElasticMq } from './emulators/start-server.ts'

const REPORTERS = reportersWith('dot').map((reporter) => `--reporter=${reporter}`)
const SUITES = ['test/dynamodb', 'test/sqs', 'test/http']

/** Runs the suites of the stores, the queue, and the API on DynamoDB Local and ElasticMQ. */
export async function testStoresAndApi(): Promise<void> {
  const classPath = await resolveClassPath()
  const starting = [startDynamoDBLocal(classPath), startElasticMq(classPath)] as const
  try {
    const [dynamodb, sqs] = await Promise.all(starting)
    const endpoints = { [DYNAMODB_ENDPOINT]: dynamodb.endpoint, [SQS_ENDPOINT]: sqs.endpoint }
    await runCommand(
      'npx',
      ['vitest', 'run', '--mode', 'ci', ...REPORTERS, '--silent=passed-only', ...SUITES],
      endpoints,
    )
    await checkUse(dynamodb, sqs)
  } finally {
    for (const started of await Promise.allSettled(starting))
      if (started.status === 'fulfilled') await started.value.stop()
  }
}

/** @throws an Error when the tests used other emulators than these */
async function checkUse(dynamodb: Emulator, sqs: Emulator): Promise<void> {
  const client = new DynamoDBClient(sdkConfig(dynamodb.endpoint))
  const { Count = 0 } = await client.send(new ScanCommand({ TableName: LOCAL_TABLE, Limit: 1 }))
  if (Count === 0) throw new Error('The tests stored nothing in DynamoDB Local.')
  await new SQSClient(sdkConfig(sqs.endpoint)).send(new GetQueueUrlCommand({ QueueName: LOCAL_QUEUE }))
}
