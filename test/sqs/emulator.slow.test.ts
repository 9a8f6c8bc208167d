import { DeleteMessageCommand, type Message, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { MAX_ATTEMPTS } from '../../lib/core/limits.ts'
import { SQS_ENDPOINT } from '../../lib/environment.ts'
import { openRunQueue, parseRunMessage } from '../../lib/sqs/run-queue.ts'
import { system } from '../../lib/system.ts'
import { provisionQueues, type Queues } from '../../local/emulators/provision.ts'
import { toRecord } from '../../local/runner/poller.ts'
import { startSqs } from '../support/service/port-emulators.ts'
import { sdkConfig } from '../support/tables/sdk.ts'

const external = process.env[SQS_ENDPOINT]
const embedded = external ? null : await startSqs()
const endpoint = external ?? embedded?.endpoint ?? ''
const client = new SQSClient(sdkConfig(endpoint))
afterAll(() => embedded?.stop())

let queues: Queues
let queue: ReturnType<typeof openRunQueue>
beforeEach(async () => {
  queues = await provisionQueues(endpoint, `runs-${system.newId()}`, 60)
  queue = openRunQueue({ QUEUE_URL: queues.runs, SQS_ENDPOINT: endpoint })
})

async function receive(QueueUrl: string, WaitTimeSeconds = 2): Promise<Message | undefined> {
  const options = { QueueUrl, WaitTimeSeconds, MessageSystemAttributeNames: ['All' as const] }
  return (await client.send(new ReceiveMessageCommand(options))).Messages?.[0]
}

const newRun = () => ({ executionId: system.newId(), organizationId: system.newId(), tenantId: 'acme' })

describe('the run queue on an SQS emulator', () => {
  it('delivers a message of a group once, until its visibility changes', async () => {
    const { tenantId, ...ids } = newRun()
    await queue.send({ ...ids, tenantId })
    const first = await receive(queues.runs)
    expect(parseRunMessage(first?.Body ?? '')).toEqual(ids)
    expect(await receive(queues.runs, 0)).toBeUndefined()
    if (first) await queue.received(toRecord(first)).changeVisibility(0)
    const second = await receive(queues.runs)
    expect(second?.Attributes?.ApproximateReceiveCount).toBe('2')
    await client.send(
      new DeleteMessageCommand({ QueueUrl: queues.runs, ReceiptHandle: second?.ReceiptHandle }),
    )
  })

  it('delivers each message of a batch after its own delay', async () => {
    const [late, early] = [newRun(), newRun()]
    await queue.sendBatch([
      { ...late, delayMs: 1_000 },
      { ...early, wakes: true },
    ])
    const received = [await receive(queues.runs), await receive(queues.runs, 10)]
    expect(received.map((message) => parseRunMessage(message?.Body ?? ''))).toMatchObject([
      { executionId: early.executionId, wakes: true },
      { executionId: late.executionId },
    ])
  })

  it('moves a message that exceeded maxReceiveCount to the dead-letter queue', async () => {
    const { tenantId, ...ids } = newRun()
    await queue.send({ ...ids, tenantId })
    for (let receives = 1; receives <= MAX_ATTEMPTS; receives++) {
      const message = await receive(queues.runs)
      if (message) await queue.received(toRecord(message)).changeVisibility(0)
    }
    expect(await receive(queues.runs)).toBeUndefined()
    expect(parseRunMessage((await receive(queues.deadLetters))?.Body ?? '')).toEqual(ids)
  })
})
