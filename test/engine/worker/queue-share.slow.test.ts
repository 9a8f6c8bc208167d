import { GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { rateStore } from '../../../lib/dynamodb/access-stores.ts'
import { QUOTA_KEY } from '../../../lib/dynamodb/table/keys.ts'
import { WINDOW_MS } from '../../../lib/limits/occupied-processes.ts'
import { system } from '../../../lib/system.ts'
import { LOCAL_TABLE, provisionQueues } from '../../../local/emulators/provision.ts'
import { sharedTable } from '../../support/engine/organization.ts'
import { startSqs } from '../../support/service/port-emulators.ts'
import { sdkConfig } from '../../support/tables/sdk.ts'

/** Without modules of other tests, which have read another environment. */
describe('in an account with a small quota, whose share is taken,', () => {
  let sqs: Awaited<ReturnType<typeof startSqs>>
  let queues: Awaited<ReturnType<typeof provisionQueues>>
  let client: SQSClient

  beforeAll(async () => {
    sqs = await startSqs()
    queues = await provisionQueues(sqs.endpoint, 'share', 60)
    client = new SQSClient(sdkConfig(sqs.endpoint))
    const environment = {
      TABLE_NAME: LOCAL_TABLE,
      DYNAMODB_ENDPOINT: inject('dynamodb'),
      SQS_ENDPOINT: sqs.endpoint,
      QUEUE_URL: queues.runs,
      DELIVERY_QUEUE_URL: queues.deliveries,
      SHARED_CONCURRENCY: 'unknown',
    }
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
    vi.resetModules()
    const rates = rateStore(sharedTable())
    await rates.putQuota({ quota: 10, until: Date.now() + 600_000 })
    const now = Math.floor(Date.now() / WINDOW_MS)
    for (let window = now; window < now + 20; window++)
      for (const name of ['runners', 'deliveries'])
        for (let process = 0; process < 2; process++)
          await rates.countProcess({ organizationId: 'QUEUES', name, window, endsAt: Date.now() + 600_000 })
  })
  afterAll(async () => {
    await sharedTable().delete(QUOTA_KEY)
    vi.unstubAllEnvs()
    vi.resetModules()
    await sqs.stop()
  })

  it.each([
    ['process-execution', () => import('../../../functions/process-execution.ts'), 'runs'],
    ['deliver-events', () => import('../../../functions/deliver-events.ts'), 'deliveries'],
  ] as const)('%s returns what it gets to its queue, for later', async (_, load, queue) => {
    const QueueUrl = queues[queue]
    const { handler } = await load()
    const body = JSON.stringify({ executionId: system.newId(), organizationId: system.newId() })
    const attributes = { ApproximateReceiveCount: '4' }
    const eventSourceARN = `arn:aws:sqs:local:0:${QueueUrl.split('/').at(-1)}`
    const record = { messageId: 'm', receiptHandle: 'r', attributes, eventSourceARN, body }
    expect(await handler({ Records: [record] } as never)).toEqual({ batchItemFailures: [] })
    const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] })
    const { Attributes } = await client.send(command)
    const counts = { ApproximateNumberOfMessages: '0', ApproximateNumberOfMessagesDelayed: '1' }
    expect(Attributes).toMatchObject(counts)
  })
})
