import { fileURLToPath } from 'node:url'
import { ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import type { OperationName } from '../../../lib/contract/routes.ts'
import { LOCAL_TABLE, provisionQueues, type Queues } from '../../../local/emulators/provision.ts'
import { toGatewayEvent } from '../../fixtures/captured-events.ts'
import { modernRequest, parseMessages } from '../../mcp/messages.ts'
import { newOrganization, type TestOrganization } from '../../support/engine/organization.ts'
import { startSqs } from '../../support/service/port-emulators.ts'
import { sdkConfig } from '../../support/tables/sdk.ts'

type Handler = (event: object, context: object) => Promise<ReturnType<typeof JSON.parse>>
type Call = Omit<Parameters<typeof toGatewayEvent>[1], 'organizationId'>

/** Processes of a function that an organization may occupy. */
const MAX = 2
/** More than the free time of a process. */
const SECONDS = 9

let sqs: Awaited<ReturnType<typeof startSqs>>
let queues: Queues
let a: TestOrganization
let b: TestOrganization

beforeAll(async () => {
  sqs = await startSqs()
  queues = await provisionQueues(sqs.endpoint, 'shares', 60)
  const environment = {
    TABLE_NAME: LOCAL_TABLE,
    DYNAMODB_ENDPOINT: inject('dynamodb'),
    QUEUE_URL: queues.runs,
    DELIVERY_QUEUE_URL: queues.deliveries,
    SQS_ENDPOINT: sqs.endpoint,
    ORGANIZATION_CONCURRENCY: String(MAX),
    POWERTOOLS_LOG_LEVEL: 'SILENT',
  }
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
  ;[a, b] = await Promise.all([newOrganization(), newOrganization()])
  await Promise.all([a.publish('wait'), b.publish('wait')])
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await sqs.stop()
})

/** Processes of the function, each with a memory of its own as on Lambda. */
async function startProcesses(name: OperationName, count: number) {
  const file = fileURLToPath(new URL(`../../../functions/${name}.ts`, import.meta.url))
  const modules = Array.from({ length: count }, (_, n) => import(/* @vite-ignore */ `${file}?process=${n}`))
  const handlers = (await Promise.all(modules)).map(({ handler }) => handler as Handler)
  return handlers.map((handler) => async (org: TestOrganization, call: Call) => {
    const event = toGatewayEvent(name, { organizationId: org.id, ...call })
    const { statusCode, headers, body } = await handler(event, { getRemainingTimeInMillis: () => 900_000 })
    return { status: statusCode, headers, body, json: body === '' ? null : tryParse(body) }
  })
}

function tryParse(text: string) {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Runs in progress, which end when they are cancelled. */
async function startRun(org: TestOrganization): Promise<string> {
  return (await org.run('wait', { seconds: 600 }, 'execMode=async')).json.id
}

const cancel = (org: TestOrganization, id: string) => org.call('POST', `/v1/agent_executions/${id}/cancel`)

describe.concurrent('an organization that occupies its share of a function', () => {
  it('is answered without waiting, and another organization waits', async () => {
    const processes = await startProcesses('get-execution', MAX + 2)
    const [executionId, other] = await Promise.all([startRun(a), startRun(b)])
    const wait = { executionId, headers: { Prefer: `wait=${SECONDS}` } }
    const refused: number[] = []
    const responses = processes.map(async (call, n) => {
      const response = await call(a, wait)
      if (response.headers['Retry-After'] === '10') refused.push(n)
      return response
    })
    await vi.waitFor(() => expect(refused).toHaveLength(2), { interval: 50 })
    // In the processes that are free now.
    const [first = 0, second = 0] = refused
    const again = await processes[first]?.(a, wait)
    expect([again?.status, again?.json.status, again?.headers['Retry-After']]).toEqual([
      200,
      'IN_PROGRESS',
      '10',
    ])
    expect(again?.headers['Preference-Applied']).toBeUndefined()
    expect(Number((await processes[first]?.(a, { executionId }))?.headers['Retry-After'])).toBeLessThan(10)
    const waits = await Promise.all(
      [first, second].map((n) => processes[n]?.(b, { executionId: other, headers: { Prefer: 'wait=5' } })),
    )
    expect(waits.map((response) => response?.headers['Preference-Applied'])).toEqual(['wait=5', 'wait=5'])
    const applied = (await Promise.all(responses)).map(({ headers }) => headers['Preference-Applied'])
    expect(applied.filter((value) => value === `wait=${SECONDS}`)).toHaveLength(MAX)
    await Promise.all([cancel(a, executionId), cancel(b, other)])
  })

  it('has its synchronous runs handed over, refused before they begin, and none lost or run twice', async () => {
    const processes = await startProcesses('run-agent', MAX + 1)
    const run = { agentId: 'wait', body: { seconds: SECONDS } }
    const responses = processes.map((call, n) => call(a, run).then((response) => ({ n, ...response })))
    const handedOver = await Promise.race(responses)
    expect([handedOver.status, handedOver.json.code, handedOver.headers['Retry-After']]).toEqual([
      504,
      'ExecutionStillRunning',
      '10',
    ])
    const free = processes[handedOver.n]
    const { json: before } = await a.call('GET', '/v1/agent_executions')
    const refused = await free?.(a, run)
    expect([refused?.status, refused?.json.code, refused?.headers['Retry-After']]).toEqual([
      429,
      'TooManyRequests',
      '10',
    ])
    expect((await a.call('GET', '/v1/agent_executions')).json).toHaveLength(before.length)
    const other = await free?.(b, { agentId: 'wait', body: { seconds: 1 } })
    expect([other?.status, other?.json.waitedSeconds >= 1]).toEqual([200, true])
    const statuses = (await Promise.all(responses)).map(({ status }) => status)
    expect(statuses.toSorted()).toEqual([200, 200, 504])

    const receive = new ReceiveMessageCommand({ QueueUrl: queues.runs, MaxNumberOfMessages: 10 })
    const { Messages = [] } = await new SQSClient(sdkConfig(sqs.endpoint)).send(receive)
    const { executionId } = handedOver.json
    const messages = Messages.filter(({ Body = '' }) => Body.includes(executionId))
    expect(messages).toHaveLength(1)
    const { handler } = await import('../../../functions/process-execution.ts')
    const [{ Body: body, ReceiptHandle: receiptHandle } = {}] = messages
    const attributes = { ApproximateReceiveCount: '1' }
    const eventSourceARN = 'arn:aws:sqs:local:000000000000:shares'
    const record = { messageId: 'm', body, receiptHandle, attributes, eventSourceARN }
    await (handler as unknown as Handler)({ Records: [record] }, { getRemainingTimeInMillis: () => 900_000 })
    expect(await a.getExecution(executionId)).toMatchObject({ status: 'SUCCESS', attempts: 2 })
  })

  it('has its MCP calls answered with the id of the run', async () => {
    const processes = await startProcesses('serve-mcp', MAX + 1)
    const { headers, body } = modernRequest('tools/call', { name: 'wait', arguments: { seconds: SECONDS } })
    const responses = processes.map((call, n) =>
      call(a, { headers, body }).then((response) => ({ n, ...response })),
    )
    const first = await Promise.race(responses)
    const [message] = parseMessages(String(first.body)).slice(-1)
    expect(message.result.structuredContent).toMatchObject({ status: 'IN_PROGRESS' })
    const again = await processes[first.n]?.(a, { headers, body })
    const [refused] = parseMessages(String(again?.body)).slice(-1)
    expect(refused.result).toMatchObject({ isError: true })
    expect(refused.result.content[0].text).toContain('as many open requests as it may')
    await Promise.all(responses)
  })
})
