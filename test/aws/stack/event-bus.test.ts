import { readFileSync } from 'node:fs'
import { CreateQueueCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { AwsClient } from 'aws4fetch'
import { expect, it } from 'vitest'
import { sendToEventBus } from '../../../lib/engine/notifications/event-bus.ts'
import { system } from '../../../lib/system.ts'
import { ACCOUNT, REGION } from '../emulators/start-server.ts'

const endpoint = process.env.AWS_ENDPOINT_URL ?? ''
const sqs = new SQSClient({})
const aws = new AwsClient({ accessKeyId: 'moto', secretAccessKey: 'moto', service: 'events', region: REGION })

async function call(action: string, body: object): Promise<void> {
  const headers = { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': `AWSEvents.${action}` }
  const response = await aws.fetch(endpoint, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${action}: ${await response.text()}`)
}

/** The example of the documentation. */
const [, EventPattern = ''] =
  /^```json\n(\{\n {2}"source": .*?)^```/ms.exec(readFileSync('docs/webhooks.md', 'utf8')) ?? []

/** A new bus with a rule, which sends what it matches to a queue. */
async function createBus() {
  const name = `bus-${system.newId()}`
  const { QueueUrl = '' } = await sqs.send(new CreateQueueCommand({ QueueName: name }))
  await call('CreateEventBus', { Name: name })
  const rule = { Name: name, EventBusName: name, State: 'ENABLED', EventPattern }
  await call('PutRule', rule)
  const Arn = `arn:aws:sqs:${REGION}:${ACCOUNT}:${name}`
  await call('PutTargets', { Rule: name, EventBusName: name, Targets: [{ Id: '1', Arn }] })
  const receive = async () => {
    const { Messages = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }))
    return Messages.map(({ Body = '' }) => JSON.parse(Body))
  }
  return { name, arn: `arn:aws:events:${REGION}:${ACCOUNT}:event-bus/${name}`, receive }
}

const ENVIRONMENT = {
  EVENTBRIDGE_ENDPOINT: endpoint,
  AWS_REGION: REGION,
  AWS_ACCESS_KEY_ID: 'moto',
  AWS_SECRET_ACCESS_KEY: 'moto',
}

it('a rule with the pattern of the documentation receives events, by the name and the ARN of the bus', async () => {
  const bus = await createBus()
  const detail = { id: '01', status: 'ERROR', tenantId: 'acme', title: 'größe', error: { code: 'TimedOut' } }
  const put = (type: string, EVENT_BUS: string) => {
    const event = { type, occurredAt: '2026-11-25T08:00:00.000Z', detail: JSON.stringify(detail) }
    return sendToEventBus(event, { ...ENVIRONMENT, EVENT_BUS })
  }
  const delivered = { ok: true, responseStatus: 200, error: null, isGone: false }
  expect(await put('execution.failed', bus.name)).toEqual(delivered)
  expect(await put('execution.failed', bus.arn)).toEqual(delivered)
  expect(await put('execution.succeeded', bus.name)).toEqual(delivered)
  const event = {
    source: 'agent-execution-service',
    'detail-type': 'execution.failed',
    time: expect.stringContaining('2026-11-25T08:00:00'),
    detail,
  }
  expect(await bus.receive()).toEqual([expect.objectContaining(event), expect.objectContaining(event)])
})
