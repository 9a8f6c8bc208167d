import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { bundleFunctions } from '../../../infra/bundling/bundle.ts'
import { FUNCTION_NAMES, type FunctionName } from '../../../infra/functions/function-settings.ts'
import { GRANTS } from '../../../infra/functions/grants.ts'
import { type OperationName, operationOf } from '../../../lib/api/routes.ts'
import type { Version } from '../../../lib/core/agent.ts'
import { agentIdOf } from '../../../lib/core/ids.ts'
import { leaseTimes } from '../../../lib/core/lease-times.ts'
import { DEADLINE_MS, LEASE_MS } from '../../../lib/core/limits.ts'
import { agentStore } from '../../../lib/dynamodb/agent-store.ts'
import { executionStore } from '../../../lib/dynamodb/execution-store.ts'
import { openTable } from '../../../lib/dynamodb/table.ts'
import { system } from '../../../lib/system.ts'
import { startDynamoDB } from '../../../local/dynamodb.ts'
import { provisionQueues, provisionTable } from '../../../local/provision.ts'
import { startSqs } from '../../../local/sqs.ts'
import { until } from '../../../local/until.ts'
import { anExecution } from '../../support/executions.ts'
import { finalAnswer } from '../../support/model-agent.ts'
import { type ScriptedModel, startScriptedModel } from '../../support/scripted-model/start-scripted-model.ts'
import { sqsSdkConfig } from '../../support/sdk.ts'
import { startCallRecorder } from './call-recorder.ts'

const TABLE = 'grants'
const organizationId = system.newId()
const folder = mkdtempSync(join(tmpdir(), 'aes-grants-'))
/** Of this name, so that vitest imports what is in it as it is. */
const bundles = join(folder, 'node_modules')

/** Past what a record holds itself, so that it goes into items of its own. */
const large = 'x'.repeat(20_000)

const text = { text: { type: 'string', description: 'Any text.' } }
const version: Version = {
  id: system.newId(),
  agentId: agentIdOf(organizationId, 'slow-echo'),
  organizationId,
  slug: 'slow-echo',
  status: 'PUBLISHED',
  title: 'Slow echo',
  description: null,
  createdAt: new Date().toISOString(),
  createdBy: organizationId,
  inputSchema: { ...text, ms: { type: 'number', description: 'How long to wait.', required: false } },
  outputSchema: text,
  model: null,
  tools: [],
  code: true,
  instructions: '',
  execution: { useCache: false, cacheTtlSeconds: null, maxAgentSteps: 100, timeoutSeconds: null },
  digest: '',
}
/** Of a model that learns: it has nothing else that calls the table in another way. */
const learning: Version = {
  ...version,
  id: system.newId(),
  agentId: agentIdOf(organizationId, 'learning'),
  slug: 'learning',
  inputSchema: text,
  code: false,
}
const code = `export default async ({ text, ms = 0 }, { step }) => {
  await new Promise((resolve) => setTimeout(resolve, ms))
  return { text: await step('echo', () => text) }
}`

type Handler = (event: unknown, context: object) => Promise<ReturnType<typeof JSON.parse>>

let handlers: Record<FunctionName, Handler>
let recorder: Awaited<ReturnType<typeof startCallRecorder>>
let table: ReturnType<typeof openTable>
let sqs: SQSClient
let scripted: ScriptedModel
let queueUrl: string
const stops: (() => Promise<void>)[] = []

beforeAll(async () => {
  const [dynamodb, queue] = await Promise.all([startDynamoDB(null), startSqs(), bundleFunctions(bundles)])
  stops.push(dynamodb.stop, queue.stop)
  await provisionTable(dynamodb.endpoint, TABLE)
  queueUrl = (await provisionQueues(queue.endpoint, TABLE, 60)).runs
  sqs = new SQSClient(sqsSdkConfig(queue.endpoint))
  recorder = await startCallRecorder({ dynamodb: dynamodb.endpoint, sqs: queue.endpoint })
  stops.unshift(recorder.stop)
  table = openTable({ TABLE_NAME: TABLE, DYNAMODB_ENDPOINT: dynamodb.endpoint })
  await agentStore(table).publish({ version, code })
  await agentStore(table).publish({ version: learning, code: null })
  scripted = await startScriptedModel()
  stops.push(scripted.stop)
  handlers = await loadBundles()
})

afterAll(async () => {
  vi.unstubAllEnvs()
  for (const stop of stops) await stop()
  rmSync(folder, { recursive: true })
})

/** The functions as they are deployed. Each reads its endpoints when it is loaded, and so gets its own. */
async function loadBundles(): Promise<Record<FunctionName, Handler>> {
  vi.stubEnv('TABLE_NAME', TABLE)
  vi.stubEnv('QUEUE_URL', queueUrl)
  vi.stubEnv('POWERTOOLS_LOG_LEVEL', 'SILENT')
  const loaded: [FunctionName, Handler][] = []
  for (const name of FUNCTION_NAMES) {
    vi.stubEnv('DYNAMODB_ENDPOINT', recorder.endpointOf(name))
    vi.stubEnv('SQS_ENDPOINT', recorder.endpointOf(name))
    const url = pathToFileURL(join(bundles, name, 'index.mjs')).href
    loaded.push([name, (await import(/* @vite-ignore */ url)).handler])
  }
  return Object.fromEntries(loaded) as Record<FunctionName, Handler>
}

type Options = { id?: string; agent?: string; query?: Record<string, string>; body?: unknown }

/** Calls an endpoint as API Gateway does. @returns the body of its answer */
async function call(
  name: OperationName,
  status: number,
  { id = '', agent = version.slug, query = {}, body }: Options = {},
) {
  const { path, method } = operationOf(name)
  const result = await handlers[name](
    {
      httpMethod: method,
      path,
      headers: { 'Content-Type': 'application/json' },
      pathParameters: { agentId: agent, executionId: id },
      multiValueQueryStringParameters: Object.fromEntries(Object.entries(query).map(([k, v]) => [k, [v]])),
      requestContext: { requestId: name, path, authorizer: { organizationId } },
      body: body === undefined ? null : JSON.stringify(body),
      isBase64Encoded: false,
    },
    {},
  )
  expect(result).toMatchObject({ statusCode: status })
  return result.body === '' ? null : JSON.parse(result.body)
}

const newestExecution = async (): Promise<string> => (await call('list-executions', 200))[0].id

/** Every path of every function that calls the table or the queue in another way. */
async function callEverything() {
  await call('check-health', 200)
  await call('list-agents', 200)
  await call('get-agent', 200)
  await call('list-versions', 200)
  const authorization = { type: 'TOKEN', authorizationToken: 'Bearer none', methodArn: 'arn:stage/live/GET/' }
  await expect(handlers['authorize-request'](authorization, {})).rejects.toThrow('Unauthorized')

  expect(await call('run-agent', 200, { body: { text: large } })).toEqual({ text: large })
  const finished = await newestExecution()
  await call('run-agent', 200, { query: { version: version.id }, body: { text: 'small' } })
  await call('list-agent-executions', 200)
  await call('get-execution', 200, { id: finished })
  expect(await call('list-steps', 200, { id: finished })).toMatchObject([{ name: 'echo', result: large }])
  const correction = { rating: -1, correctedOutput: { text: large } }
  await call('give-feedback', 200, { id: finished, body: correction })
  await call('give-feedback', 200, { id: finished, body: correction })
  await call('delete-execution', 204, { id: finished })
  await call('get-execution', 404, { id: finished })

  const options = { query: { execMode: 'async' }, body: { text: large } }
  const { id: cancelled } = await call('run-agent', 202, options)
  await call('cancel-execution', 200, { id: cancelled })
  await call('cancel-execution', 200, { id: cancelled })

  await learn()
  await processWithHeartbeat()
  await resume()
  await leaveAndBury()
  await sweepStale()
}

/** A model is shown what came of the run before, by the run function and by the runner. */
async function learn() {
  for (const [name, value] of Object.entries(scripted.environmentFor('openai-compatible')))
    vi.stubEnv(name, value)
  scripted.script('learner', () => ({ calls: [finalAnswer({ text: 'learnt' })] }))
  const query = { useDynamicLearning: 'true', model: scripted.modelFor('openai-compatible', 'learner') }
  const options = { agent: learning.slug, body: { text: 'hello' }, query }
  await call('run-agent', 200, options)
  const first = await newestExecution()
  await call('run-agent', 200, options)
  const { id } = await call('run-agent', 202, { ...options, query: { ...query, execMode: 'async' } })
  const body = JSON.stringify({ executionId: id, organizationId })
  await handlers['process-execution'](messagesOf({ body, receiptHandle: 'r' }), withTime(900_000))
  const { status, learnedFrom } = await call('get-execution', 200, { id })
  expect([status, learnedFrom.length]).toEqual(['SUCCESS', 1])
  expect(learnedFrom[0] > first).toBe(true)
}

/** The runner takes up a large execution that lasts until its heartbeat, which here comes at once. */
async function processWithHeartbeat() {
  const { id } = await call('run-agent', 202, {
    query: { execMode: 'async' },
    body: { text: large, ms: 1000 },
  })
  const { Messages } = await sqs.send(
    new ReceiveMessageCommand({ QueueUrl: queueUrl, MaxNumberOfMessages: 10 }),
  )
  const message = Messages?.find(({ Body }) => Body?.includes(id))
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  try {
    const record = { messageId: 'm', body: message?.Body, receiptHandle: message?.ReceiptHandle }
    const running = handlers['process-execution'](messagesOf(record), withTime(900_000))
    await until(() => vi.getTimerCount() > 0, { what: 'the run to begin', limitMs: 10_000 })
    vi.advanceTimersByTime(leaseTimes().heartbeatMs)
    expect(await running).toEqual({ batchItemFailures: [] })
  } finally {
    vi.useRealTimers()
  }
  expect((await call('get-execution', 200, { id })).output).toEqual({ text: large })
}

/** The runner goes on with an execution whose worker has died. */
async function resume() {
  const { agentId, id: versionId } = version
  const execution = anExecution({
    organizationId,
    agentId,
    versionId,
    input: { text: 'again' },
    now: Date.now() - LEASE_MS,
    deadlineMs: DEADLINE_MS,
    lease: { owner: system.newId(), expiresAt: Date.now() - 1 },
  })
  await executionStore(table).create({ execution })
  const body = JSON.stringify({ executionId: execution.id, organizationId })
  await handlers['process-execution'](messagesOf({ body, receiptHandle: 'r' }), withTime(900_000))
  expect((await call('get-execution', 200, { id: execution.id })).output).toEqual({ text: 'again' })
}

/** A runner without time sends the execution on; nobody takes it up, and so it is buried. */
async function leaveAndBury() {
  const { id } = await call('run-agent', 202, { query: { execMode: 'async' }, body: { text: large } })
  const body = JSON.stringify({ executionId: id, organizationId })
  await handlers['process-execution'](messagesOf({ body, receiptHandle: 'r' }), withTime(0))
  expect((await call('get-execution', 200, { id })).status).toBe('IN_PROGRESS')
  // It was taken up once, so it deserves another message; one that nobody took up is ended.
  await handlers['process-dead-letter'](messagesOf({ body }), {})
  expect((await call('get-execution', 200, { id })).status).toBe('IN_PROGRESS')
  const untried = await call('run-agent', 202, { query: { execMode: 'async' }, body: { text: large } })
  const dead = JSON.stringify({ executionId: untried.id, organizationId })
  await handlers['process-dead-letter'](messagesOf({ body: dead }), {})
  expect((await call('get-execution', 200, { id: untried.id })).status).toBe('ERROR')
}

const messagesOf = (message: object) => ({
  Records: [{ messageId: 'm', attributes: { ApproximateReceiveCount: '1' }, ...message }],
})

const withTime = (ms: number) => ({ getRemainingTimeInMillis: () => ms })

/** The sweeper finds one execution to enqueue again and one to end, whose large input it reads. */
async function sweepStale() {
  const { agentId, id: versionId } = version
  for (const now of [Date.now() - 2 * LEASE_MS, Date.now() - DEADLINE_MS]) {
    const execution = anExecution({
      organizationId,
      agentId,
      versionId,
      input: { text: large },
      now,
      deadlineMs: DEADLINE_MS,
    })
    await executionStore(table).create({ execution })
  }
  await handlers['sweep-executions']({}, {})
}

describe('GRANTS', () => {
  beforeAll(callEverything)

  it.each(FUNCTION_NAMES)('allows %s exactly the calls that it makes', (name) => {
    const { table: actions, indexes = [], queue = [] } = GRANTS[name]
    const granted = { table: [...actions].sort(), indexes: [...indexes].sort(), queue: [...queue].sort() }
    expect(recorder.callsOf(name)).toEqual(granted)
  })
})
