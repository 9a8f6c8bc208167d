import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ChangeMessageVisibilityCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundleFunctions } from '../../../infra/bundling/bundle.ts'
import { FUNCTION_NAMES, type FunctionName } from '../../../infra/functions/function-settings.ts'
import { loadFolder } from '../../../lib/agents/load-folder.ts'
import { publishAgent } from '../../../lib/agents/publish-agent.ts'
import { getOperation, type OperationName } from '../../../lib/api/routes.ts'
import type { Version } from '../../../lib/core/agent.ts'
import { DEADLINE_MS, LEASE_MS, MAX_ATTEMPTS } from '../../../lib/core/limits.ts'
import { agentStore } from '../../../lib/dynamodb/agent-store.ts'
import { executionStore } from '../../../lib/dynamodb/execution-store.ts'
import { openTable } from '../../../lib/dynamodb/table/table.ts'
import { tokenStore } from '../../../lib/dynamodb/token-store.ts'
import { system } from '../../../lib/system.ts'
import { newToken } from '../../../lib/tokens/token.ts'
import { provisionQueues, provisionTable } from '../../../local/emulators/provision.ts'
import { startDynamoDB, startSqs } from '../../../local/emulators/start-emulators.ts'
import { toRecord } from '../../../local/runner/poller.ts'
import { anExecution } from '../../support/executions.ts'
import { type LambdaProcess, type Result, startLambda } from '../../support/lambda-process.ts'
import { finalAnswer } from '../../support/model-agent.ts'
import { type ScriptedModel, startScriptedModel } from '../../support/scripted-model/start-scripted-model.ts'
import { sdkConfig } from '../../support/sdk.ts'
import { toGatewayEvent } from '../gateway-event.ts'
import { findFunctionResource, findResources, synthesize } from '../synthesize.ts'

const TABLE = 'deployed'
const NO_FAILURES = { batchItemFailures: [] }
const organizationId = system.newId()
const folder = mkdtempSync(join(tmpdir(), 'aes-deployed-'))
const template = synthesize()
const processes = new Map<FunctionName, LambdaProcess>()
const stops: (() => unknown)[] = []

let table: ReturnType<typeof openTable>
let queues: Awaited<ReturnType<typeof provisionQueues>>
let sqs: SQSClient
let scripted: ScriptedModel
let endpoints: Record<string, string>
let wait: Version

beforeAll(async () => {
  const [dynamodb, queue] = await Promise.all([startDynamoDB(null), startSqs()])
  stops.push(dynamodb.stop, queue.stop)
  scripted = await startScriptedModel()
  stops.push(scripted.stop)
  await Promise.all([bundleFunctions(join(folder, 'bundles')), provisionTable(dynamodb.endpoint, TABLE)])
  queues = await provisionQueues(queue.endpoint, TABLE, 60)
  sqs = new SQSClient(sdkConfig(queue.endpoint))
  endpoints = { DYNAMODB_ENDPOINT: dynamodb.endpoint, SQS_ENDPOINT: queue.endpoint }
  table = openTable({ TABLE_NAME: TABLE, DYNAMODB_ENDPOINT: dynamodb.endpoint })
  wait = await publish('wait')
  await publish('redact-pii')
  await publish('summarize-text')
})

afterAll(async () => {
  for (const lambda of processes.values()) lambda.stop()
  for (const stop of stops) await stop()
  rmSync(folder, { recursive: true })
})

async function publish(slug: string): Promise<Version> {
  const { agent } = await loadFolder(fileURLToPath(new URL(`../../../agents/${slug}`, import.meta.url)))
  if (!agent) throw new Error(`agents/${slug} is invalid.`)
  const store = agentStore(table)
  return publishAgent({ store, system, organizationId, createdBy: organizationId, agent, draft: false })
}

/** Starts the function from its asset alone, with the environment of the template and the endpoints of the emulators. */
function start(name: FunctionName): LambdaProcess {
  const asset = join(folder, 'assets', name)
  cpSync(join(folder, 'bundles', name), asset, { recursive: true })
  const { Variables } = findFunctionResource(template, 'AWS::Lambda::Function', name).Properties.Environment
  const resolved = Object.entries<string | { Ref: string }>(Variables).map(([key, value]) => [
    key,
    resolve(value),
  ])
  return startLambda(join(asset, 'index.mjs'), {
    ...Object.fromEntries(resolved),
    ...endpoints,
    ...scripted.environmentFor('openai-compatible'),
  })
}

function resolve(value: string | { Ref: string }): string {
  if (typeof value === 'string') return value
  if (value.Ref in findResources(template, 'AWS::DynamoDB::Table')) return TABLE
  if (value.Ref in findResources(template, 'AWS::SQS::Queue')) return queues.runs
  throw new Error(`No emulator for ${value.Ref}.`)
}

function invoke(name: FunctionName, event: unknown): Promise<Result> {
  const lambda = processes.get(name) ?? start(name)
  processes.set(name, lambda)
  return lambda.invoke(event)
}

type Response = { statusCode: number; headers: Record<string, string>; body: string }

/** The HTTP response that API Gateway makes of a result. */
function toResponse(result: Result): Response {
  if (result.mode === 'failed') throw new Error(result.message)
  return result.mode === 'buffered' ? result.payload : { ...result.prelude, body: result.body }
}

type Call = Omit<Parameters<typeof toGatewayEvent>[1], 'organizationId'>

const call = (name: OperationName, options: Call = {}): Promise<Result> =>
  invoke(name, toGatewayEvent(name, { organizationId, ...options }))

const read = async (name: OperationName, options: Call = {}) =>
  JSON.parse(toResponse(await call(name, options)).body)

const runWait = (query: Record<string, string> = {}) =>
  call('run-agent', { agentId: 'wait', query, body: { seconds: 0 } })

async function runAsync(): Promise<string> {
  const { statusCode, body } = toResponse(await runWait({ execMode: 'async' }))
  expect(statusCode).toBe(202)
  return JSON.parse(body).id
}

/** The next message of a queue, as the event source mapping delivers it. */
async function receive(QueueUrl: string) {
  const { Messages = [] } = await sqs.send(
    new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 1, MessageSystemAttributeNames: ['All'] }),
  )
  if (!Messages[0]) throw new Error(`${QueueUrl} is empty.`)
  return toRecord(Messages[0])
}

const deliver = async (name: FunctionName, record: object) => invoke(name, { Records: [record] })

describe('authorize-request', () => {
  const authorize = (authorizationToken: string) =>
    invoke('authorize-request', {
      type: 'TOKEN',
      authorizationToken,
      methodArn: 'arn:api/live/GET/v1/agents',
    })

  it('returns a policy and the organization for a valid token', async () => {
    const identity = { name: 'test', createdBy: organizationId, lifetimeMs: null }
    const { token, text } = newToken({ system, organizationId, ...identity })
    await tokenStore(table).create({ token })
    const payload = {
      context: { organizationId },
      policyDocument: { Statement: [{ Effect: 'Allow', Resource: 'arn:api/live/*' }] },
    }
    expect(await authorize(`Bearer ${text}`)).toMatchObject({ mode: 'buffered', payload })
  })

  it('fails with "Unauthorized" for an invalid token, which API Gateway answers with 401', async () => {
    expect(await authorize('Bearer none')).toEqual({ mode: 'failed', message: 'Unauthorized' })
  })
})

describe('run-agent', () => {
  it('streams the output of a synchronous run', async () => {
    const result = await call('run-agent', { agentId: 'redact-pii', body: { content: 'a.b@example.org' } })
    expect(result).toEqual({
      mode: 'streamed',
      prelude: {
        statusCode: 200,
        headers: {
          'Cache-Control': 'no-store',
          'Content-Type': 'application/json',
          'X-Execution-Id': expect.any(String),
          Location: expect.stringMatching(/^\/v1\/agent_executions\//),
        },
      },
      body: expect.stringContaining('redactedContent'),
    })
  })

  it('streams a large output completely', async () => {
    const content = 'Grüße. '.repeat(400_000)
    expect(await read('run-agent', { agentId: 'redact-pii', body: { content } })).toMatchObject({
      redactedContent: content,
    })
  })

  it('loads the model SDK on demand', async () => {
    const output = { summary: 'Short.', topics: ['text'] }
    scripted.script('summarizer', () => ({ calls: [finalAnswer(output)] }))
    const query = { model: scripted.modelFor('openai-compatible', 'summarizer') }
    const body = { text: 'A long text.' }
    expect(await read('run-agent', { agentId: 'summarize-text', query, body })).toEqual(output)
  })

  it('streams an error as problem details', async () => {
    const result = await call('run-agent', { agentId: 'none', body: {} })
    const headers = { 'Content-Type': 'application/problem+json' }
    expect(result).toMatchObject({ mode: 'streamed', prelude: { statusCode: 404, headers } })
    expect(JSON.parse(toResponse(result).body)).toMatchObject({ status: 404, code: 'AgentNotFound' })
  })
})

describe('the other endpoints', () => {
  let executionId: string
  beforeAll(async () => {
    const { headers } = toResponse(await runWait())
    executionId = headers['X-Execution-Id'] ?? ''
  })

  it.each<[OperationName, Call]>([
    ['check-health', {}],
    ['get-openapi-document', {}],
    ['list-agents', {}],
    ['get-agent', {}],
    ['list-versions', {}],
    ['list-executions', {}],
    ['list-agent-executions', {}],
    ['get-execution', {}],
    ['list-steps', {}],
    ['give-feedback', { body: { rating: 1 } }],
  ])('%s answers 200, streamed if its operation streams', async (name, options) => {
    const result = await call(name, { agentId: 'wait', executionId, ...options })
    expect(result.mode).toBe(getOperation(name).streams ? 'streamed' : 'buffered')
    expect(toResponse(result).statusCode).toBe(200)
  })

  it('delete-execution answers 204, buffered', async () => {
    const result = await call('delete-execution', { executionId })
    expect(result).toMatchObject({ mode: 'buffered', payload: { statusCode: 204 } })
    expect(toResponse(await call('get-execution', { executionId })).statusCode).toBe(404)
  })

  it('cancel-execution ends a queued run, whose message is then discarded', async () => {
    const id = await runAsync()
    const { status, error } = await read('cancel-execution', { executionId: id })
    expect([status, error.code]).toEqual(['ERROR', 'Cancelled'])
    const result = await deliver('process-execution', await receive(queues.runs))
    expect(result).toEqual({ mode: 'buffered', payload: NO_FAILURES })
  })
})

describe('an asynchronous run', () => {
  it('succeeds in process-execution', async () => {
    const id = await runAsync()
    const result = await deliver('process-execution', await receive(queues.runs))
    expect(result).toEqual({ mode: 'buffered', payload: NO_FAILURES })
    expect((await read('get-execution', { executionId: id })).status).toBe('SUCCESS')
  })

  it('is requeued by process-dead-letter if its message exceeded maxReceiveCount before a worker claimed it', async () => {
    const id = await runAsync()
    for (let receives = 1; receives <= MAX_ATTEMPTS; receives++) {
      const { receiptHandle: ReceiptHandle } = await receive(queues.runs)
      const visible = { QueueUrl: queues.runs, ReceiptHandle, VisibilityTimeout: 0 }
      await sqs.send(new ChangeMessageVisibilityCommand(visible))
    }
    await expect(receive(queues.runs)).rejects.toThrow('is empty')
    const result = await deliver('process-dead-letter', await receive(queues.deadLetters))
    expect(result).toEqual({ mode: 'buffered', payload: NO_FAILURES })
    await deliver('process-execution', await receive(queues.runs))
    expect((await read('get-execution', { executionId: id })).status).toBe('SUCCESS')
  })

  it('is requeued by sweep-executions after its worker died', async () => {
    const { agentId, id: versionId } = wait
    const stale = { now: Date.now() - 2 * LEASE_MS, deadlineMs: DEADLINE_MS, input: { seconds: 0 } }
    const execution = anExecution({ organizationId, agentId, versionId, ...stale })
    await executionStore(table).create({ execution })
    const result = await invoke('sweep-executions', { source: 'aws.events' })
    expect(result).toEqual({ mode: 'buffered', payload: null })
    const record = await receive(queues.runs)
    expect(JSON.parse(record.body)).toEqual({ executionId: execution.id, organizationId })
    await deliver('process-execution', record)
    expect((await read('get-execution', { executionId: execution.id })).status).toBe('SUCCESS')
  })
})

it('every function was loaded from its bundle', () => {
  expect([...processes.keys()].sort()).toEqual([...FUNCTION_NAMES].sort())
})
