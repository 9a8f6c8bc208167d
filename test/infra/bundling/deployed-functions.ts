import { fileURLToPath } from 'node:url'
import { ChangeMessageVisibilityCommand } from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FUNCTION_NAMES } from '../../../infra/functions/function-settings.ts'
import { newToken } from '../../../lib/access/tokens.ts'
import { publishAgent } from '../../../lib/agents/lifecycle/publish-agent.ts'
import { loadFolder } from '../../../lib/agents/load-folder.ts'
import { getOperation, type OperationName } from '../../../lib/contract/routes.ts'
import type { Version } from '../../../lib/core/agent.ts'
import { LEASE_MS } from '../../../lib/core/lease-times.ts'
import { DEADLINE_MS, MAX_ATTEMPTS } from '../../../lib/core/limits.ts'
import { scoreExecutionId } from '../../../lib/core/run-score.ts'
import { tokenStore } from '../../../lib/dynamodb/access-stores.ts'
import { agentStore } from '../../../lib/dynamodb/agent-store.ts'
import { executionStore } from '../../../lib/dynamodb/executions/execution-store.ts'
import type { Table } from '../../../lib/dynamodb/table/table.ts'
import { system } from '../../../lib/system.ts'
import { modernRequest, parseMessages } from '../../mcp/messages.ts'
import { anExecution } from '../../support/engine/executions.ts'
import { type ScriptedModel, startScriptedModel } from '../../support/scripted-model/start-scripted-model.ts'
import { serve } from '../../tools/serve.ts'
import { type Call, createInvoker, type Deployment, toResponse } from './invoke-deployed.ts'

const NO_FAILURES = { batchItemFailures: [] }
const organizationId = system.newId()

/** The tests of every function of the stack, on a deployment of it. */
export function describeDeployedFunctions(deploy: () => Promise<Deployment>): void {
  let deployment: Deployment
  let functions: ReturnType<typeof createInvoker>
  let scripted: ScriptedModel
  let wait: Version

  beforeAll(async () => {
    ;[deployment, scripted] = await Promise.all([deploy(), startScriptedModel()])
    functions = createInvoker(deployment, {
      organizationId,
      environment: { ...scripted.environmentFor('openai-compatible'), WEBHOOK_HOSTS: '127.0.0.1, localhost' },
    })
    wait = await publish('wait', deployment.table)
    await publish('redact-pii', deployment.table)
    // Calls may choose another model of the provider of this one.
    await publish('summarize-text', deployment.table, scripted.modelFor('openai-compatible', 'own'))
  })

  afterAll(async () => {
    functions?.stop()
    await scripted?.stop()
    await deployment?.stop()
  })

  const runWait = (query: Record<string, string> = {}) =>
    functions.call('run-agent', { agentId: 'wait', query, body: { seconds: 0 } })

  /** Delivers the next message of the queue of runs, or of another one. */
  const deliverNext = async (
    name: 'process-execution' | 'process-dead-letter',
    queue = deployment.queues.runs,
  ) => functions.deliver(name, await functions.receive(queue))

  async function runAsync(): Promise<string> {
    const { statusCode, body } = toResponse(await runWait({ execMode: 'async' }))
    expect(statusCode).toBe(202)
    return JSON.parse(body).id
  }

  describe('authorize-request', () => {
    const authorize = (authorizationToken: string) =>
      functions.invoke('authorize-request', {
        type: 'TOKEN',
        authorizationToken,
        methodArn: 'arn:api/live/GET/v1/agents',
      })

    it('returns a policy and the organization for a valid token', async () => {
      const identity = { name: 'test', createdBy: organizationId, lifetimeMs: null }
      const { token, text } = newToken({ system, organizationId, ...identity })
      await tokenStore(deployment.table).create({ token })
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
      const result = await functions.call('run-agent', {
        agentId: 'redact-pii',
        body: { content: 'a.b@example.org' },
      })
      expect(result).toEqual({
        mode: 'streamed',
        prelude: {
          statusCode: 200,
          headers: {
            'Cache-Control': 'no-store',
            'Content-Type': 'application/json',
            'X-Execution-Id': expect.any(String),
            Location: expect.stringMatching(/^\/prod\/v1\/agent_executions\//),
          },
        },
        body: expect.stringContaining('redactedContent'),
      })
    })

    it('streams an error as problem details', async () => {
      const result = await functions.call('run-agent', { agentId: 'none', body: {} })
      const headers = { 'Content-Type': 'application/problem+json' }
      expect(result).toMatchObject({ mode: 'streamed', prelude: { statusCode: 404, headers } })
      expect(JSON.parse(toResponse(result).body)).toMatchObject({ status: 404, code: 'AgentNotFound' })
    })
  })

  describe('serve-mcp', () => {
    it('streams progress and the result of a call', async () => {
      const params = { name: 'wait', arguments: { seconds: 0 }, _meta: { progressToken: 1 } }
      const result = await functions.call('serve-mcp', modernRequest('tools/call', params))
      const headers = { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' }
      expect(result).toMatchObject({ mode: 'streamed', prelude: { statusCode: 200, headers } })
      const [message] = parseMessages(toResponse(result).body)
      expect(message.result).toMatchObject({ structuredContent: { waitedSeconds: expect.any(Number) } })
    })
  })

  it('functions check, store, promote, retire and roll out versions', async () => {
    const agentId = 'changing'
    const publish = (said: string) => {
      const document = `---\ntitle: A\nslug: changing\ncode: true\ninput: {}\noutput: { said: { type: string } }\n---\n`
      const code = `export default () => ({ said: '${said}' })`
      return functions.read('publish-agent', { body: { document, code, draft: true } })
    }
    const { id: versionId } = await publish('A')
    expect(await functions.read('get-version', { agentId, versionId })).toMatchObject({ code: true })
    await functions.read('promote-version', { agentId, versionId })
    expect(await functions.read('run-agent', { agentId, body: {} })).toEqual({ said: 'A' })
    const draft = await publish('B')
    const ids = { agentId, versionId: draft.id }
    expect((await functions.read('retire-version', ids)).retiredAt).toEqual(expect.any(String))
    expect(toResponse(await functions.call('delete-version', ids)).statusCode).toBe(204)
    const body = { versionId: (await publish('C')).id, percent: 10 }
    expect((await functions.read('put-rollout', { agentId, body })).percent).toBe(10)
    expect((await functions.read('archive-agent', { agentId })).archivedAt).toEqual(expect.any(String))
    expect((await functions.read('restore-agent', { agentId })).archivedAt).toBeNull()
  })

  describe('the other endpoints', () => {
    let executionId: string
    beforeAll(async () => {
      const { headers } = toResponse(await runWait())
      executionId = headers['X-Execution-Id'] ?? ''
    })

    it.each<OperationName>([
      ...(['check-health', 'get-openapi-document', 'serve-console', 'get-me', 'list-agents'] as const),
      ...(['get-agent', 'list-versions', 'list-executions', 'list-agent-executions'] as const),
      ...(['get-execution', 'list-steps', 'stream-events', 'list-webhooks', 'list-batches'] as const),
      ...(['list-trials', 'list-schedules', 'list-limits', 'list-tokens', 'get-usage'] as const),
      ...(['compare-executions', 'give-feedback'] as const),
    ])('%s answers 200, streamed if its operation streams', async (name) => {
      const ids = { agentId: 'wait', executionId, otherId: executionId }
      const body = name === 'give-feedback' ? { body: { rating: 1 } } : {}
      const result = await functions.call(name, { ...ids, ...body })
      expect(result.mode).toBe(getOperation(name).streams ? 'streamed' : 'buffered')
      expect(toResponse(result).statusCode).toBe(200)
    })

    it.each<[OperationName, Call, number]>([
      ['send-signal', { name: 'go', body: {} }, 409],
      ['decide-approval', { approvalId: 'unknown', body: { decision: 'approve' } }, 404],
    ])('%s refuses what an execution that has ended does not wait for', async (name, options, status) => {
      const result = await functions.call(name, { executionId, ...options })
      expect(toResponse(result).statusCode).toBe(status)
    })

    it('delete-execution answers 204, buffered', async () => {
      const result = await functions.call('delete-execution', { executionId })
      expect(result).toMatchObject({ mode: 'buffered', payload: { statusCode: 204 } })
      expect(toResponse(await functions.call('get-execution', { executionId })).statusCode).toBe(404)
    })

    it('cancel-execution ends a queued run, whose message is then discarded', async () => {
      const id = await runAsync()
      const { status, error } = await functions.read('cancel-execution', { executionId: id })
      expect([status, error.code]).toEqual(['ERROR', 'Cancelled'])
      expect(await deliverNext('process-execution')).toEqual({ mode: 'buffered', payload: NO_FAILURES })
    })
  })

  describe('an asynchronous run', () => {
    it('succeeds in process-execution', async () => {
      const id = await runAsync()
      expect(await deliverNext('process-execution')).toEqual({ mode: 'buffered', payload: NO_FAILURES })
      expect((await functions.read('get-execution', { executionId: id })).status).toBe('SUCCESS')
    })

    it('is a line of a batch, whose responses are streamed', async () => {
      const body = [{ customId: 'a', input: { seconds: 0 } }]
      const started = await functions.call('start-batch', { agentId: 'wait', body })
      expect(started).toMatchObject({ mode: 'streamed', prelude: { statusCode: 202 } })
      const { id: batchId } = JSON.parse(toResponse(started).body)
      // One starts the line, the other one executes it.
      for (let messages = 0; messages < 2; messages++) await deliverNext('process-execution')
      const results = await functions.call('list-batch-results', { batchId })
      expect(results).toMatchObject({ mode: 'streamed', prelude: { statusCode: 200 } })
      expect(JSON.parse(toResponse(results).body)).toMatchObject({ customId: 'a', status: 'SUCCESS' })
      expect((await functions.read('get-batch', { batchId })).status).toBe('ENDED')
    })

    it('is requeued by process-dead-letter if its message exceeded maxReceiveCount before a worker claimed it', async () => {
      const id = await runAsync()
      for (let receives = 1; receives <= MAX_ATTEMPTS; receives++) {
        const { receiptHandle: ReceiptHandle } = await functions.receive(deployment.queues.runs)
        const visible = { QueueUrl: deployment.queues.runs, ReceiptHandle, VisibilityTimeout: 0 }
        await deployment.sqs.send(new ChangeMessageVisibilityCommand(visible))
      }
      await expect(functions.receive(deployment.queues.runs)).rejects.toThrow('is empty')
      const result = await deliverNext('process-dead-letter', deployment.queues.deadLetters)
      expect(result).toEqual({ mode: 'buffered', payload: NO_FAILURES })
      await deliverNext('process-execution')
      expect((await functions.read('get-execution', { executionId: id })).status).toBe('SUCCESS')
    })

    it('is requeued by sweep-executions after its worker died', async () => {
      const { agentId, id: versionId } = wait
      const stale = { now: Date.now() - 2 * LEASE_MS, deadlineMs: DEADLINE_MS, input: { seconds: 0 } }
      const execution = anExecution({ organizationId, agentId, versionId, ...stale })
      await executionStore(deployment.table).create({ execution })
      const result = await functions.invoke('sweep-executions', { source: 'aws.events' })
      expect(result).toEqual({ mode: 'buffered', payload: null })
      const record = await functions.receive(deployment.queues.runs)
      expect(JSON.parse(record.body)).toEqual({ executionId: execution.id, organizationId })
      await functions.deliver('process-execution', record)
      expect((await functions.read('get-execution', { executionId: execution.id })).status).toBe('SUCCESS')
    })
  })

  it('deliver-events sends the event of a run to a webhook', async () => {
    const server = await serve((response) => response.writeHead(204).end())
    const body = { url: server.url, allowedHosts: [server.host] }
    expect(toResponse(await functions.call('create-webhook', { body })).statusCode).toBe(201)
    const executionId = toResponse(await runWait()).headers['X-Execution-Id'] ?? ''
    const record = { messageId: 'm', body: JSON.stringify({ executionId, organizationId }) }
    const result = await functions.deliver('deliver-events', record)
    expect(result).toEqual({ mode: 'buffered', payload: NO_FAILURES })
    expect(server.received.map((event) => JSON.parse(event.body))).toMatchObject([
      { type: 'execution.succeeded', data: { id: executionId } },
    ])
  })

  it('deliver-events starts the scorers of a run', async () => {
    const { agentId, id: versionId, slug: agent } = wait
    const run = anExecution({ organizationId, agentId, versionId, scores: [{ agent }] })
    const ended = { status: 'SUCCESS' as const, output: {}, finishedAt: run.createdAt, openUntil: null }
    await executionStore(deployment.table).create({ execution: { ...run, ...ended } })
    const body = JSON.stringify({ executionId: run.id, organizationId })
    const result = await functions.deliver('deliver-events', { messageId: 'm', body })
    expect(result).toEqual({ mode: 'buffered', payload: NO_FAILURES })
    const { body: message } = await functions.receive(deployment.queues.runs)
    expect(JSON.parse(message)).toMatchObject({
      executionId: scoreExecutionId(run.id, agent),
      organizationId,
    })
  })

  it('every function was loaded from its bundle', () => {
    expect(functions.invoked().sort()).toEqual([...FUNCTION_NAMES].sort())
  })
}

async function publish(slug: string, table: Table, model: string | null = null): Promise<Version> {
  const { agent } = await loadFolder(fileURLToPath(new URL(`../../../agents/${slug}`, import.meta.url)))
  if (!agent) throw new Error(`agents/${slug} is invalid.`)
  const store = agentStore(table)
  const owner = { organizationId, createdBy: organizationId }
  const own = { ...agent, document: { ...agent.document, model } }
  return (await publishAgent({ store, system, ...owner, agent: own, draft: false })).version
}
