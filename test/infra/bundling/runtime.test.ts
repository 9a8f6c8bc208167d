import { ChangeMessageVisibilityCommand } from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { FUNCTION_NAMES } from '../../../infra/functions/function-settings.ts'
import { operationOf, operations } from '../../../lib/api/routes.ts'
import { schemaOf } from '../../../lib/api/schemas/records.ts'
import { DEADLINE_MS, LEASE_MS, MAX_ATTEMPTS } from '../../../lib/core/limits.ts'
import { type Answer, type Call, type CallOptions, clientOf } from '../../support/client.ts'
import { anExecution } from '../../support/executions.ts'
import { finalAnswer } from '../../support/model-agent.ts'
import { HTTP_INTEGRATION } from '../../support/runtime-api.ts'
import { type DeployedService, startDeployedService } from './deployed-service.ts'

const METHOD_ARN = 'arn:aws:execute-api:eu-central-1:000000000000:api/live/GET/v1/agents'
const NO_FAILURES = { batchItemFailures: [] }

let service: DeployedService
let call: Call

beforeAll(async () => {
  service = await startDeployedService()
  call = clientOf(service.url, service.token)
})

afterAll(() => service?.stop())

const run = (slug: string, query: string, options: CallOptions): Promise<Answer> =>
  call('POST', `/v1/agents/${slug}/executions${query}`, options)

/** Starts an async run of an agent that waits for no time at all. @returns the execution's id */
async function submitAsync(): Promise<string> {
  const accepted = await run('wait', '?execMode=async', { body: { seconds: 0 } })
  expect(accepted.status).toBe(202)
  return accepted.json.id
}

const recordOf = async (id: string) => (await call('GET', `/v1/agent_executions/${id}`)).json

describe('authorize-request under the runtime', () => {
  const authorize = (text: string) =>
    service.invoke('authorize-request', {
      type: 'TOKEN',
      authorizationToken: `Bearer ${text}`,
      methodArn: METHOD_ARN,
    })

  it('allows the stage to a good token and names its organization', async () => {
    expect(await authorize(service.token)).toMatchObject({
      mode: 'buffered',
      payload: {
        context: { organizationId: service.organizationId },
        policyDocument: { Statement: [{ Effect: 'Allow', Resource: expect.stringMatching(/\/live\/\*$/) }] },
      },
    })
  })

  it('fails for a bad token with the one text that API Gateway answers 401 for', async () => {
    expect(await authorize('none')).toMatchObject({
      mode: 'failed',
      fault: { errorType: 'Error', errorMessage: 'Unauthorized', trace: expect.any(Array) },
    })
    expect((await clientOf(service.url, 'none')('GET', '/v1/agents')).status).toBe(401)
  })
})

describe('the functions behind API Gateway under the runtime', () => {
  it('check-health answers without a token', async () => {
    const { path, method } = operationOf('check-health')
    expect(await clientOf(service.url, null)(method, path)).toMatchObject({
      status: 200,
      json: { success: true },
    })
  })

  it('run-agent streams the output of a sync run behind its prelude', async () => {
    const answer = await run('redact-pii', '', { body: { content: 'Write to a.b@example.org.' } })
    expect(answer.json).toMatchObject({ redactedContent: expect.not.stringContaining('example.org') })
    expect(service.lastOf('run-agent')).toEqual({
      mode: 'streamed',
      contentType: HTTP_INTEGRATION,
      prelude: {
        statusCode: 200,
        headers: {
          'Cache-Control': 'no-store',
          'Content-Type': 'application/json',
          'X-Execution-Id': expect.any(String),
          Location: expect.stringMatching(/^\/v1\/agent_executions\//),
        },
      },
      body: answer.text,
      fault: null,
    })
  })

  it('run-agent streams an output of megabytes whole', async () => {
    const content = 'Grüße. '.repeat(400_000)
    const { status, json } = await run('redact-pii', '', { body: { content } })
    expect([status, json.redactedContent === content]).toEqual([200, true])
  })

  it('run-agent loads the model SDK when an agent needs it', async () => {
    const output = { summary: 'Short.', topics: ['text'] }
    service.scripted.script('summarizer', () => ({ calls: [finalAnswer(output)] }))
    const model = service.scripted.modelFor('openai-compatible', 'summarizer')
    const answer = await run('summarize-text', `?model=${model}`, { body: { text: 'A long text.' } })
    expect([answer.status, answer.json]).toEqual([200, output])
  })

  it.each([
    ['an input that does not fit', 'wait?enforceInputSchema=true', 422, 'InputSchemaMismatch'],
    ['an agent that fails', 'wait', 500, 'ExecutionFailed'],
    ['an unknown agent', 'none', 404, 'AgentNotFound'],
  ])('run-agent streams the problem of %s', async (_, agent, status, code) => {
    const [slug = '', query = ''] = agent.split('?')
    await run(slug, `?${query}`, { body: { seconds: 'long' } })
    const outcome = service.lastOf('run-agent')
    const headers = { 'Content-Type': 'application/problem+json' }
    expect(outcome).toMatchObject({ mode: 'streamed', fault: null, prelude: { statusCode: status, headers } })
    expect(outcome?.mode === 'streamed' && JSON.parse(outcome.body)).toMatchObject({ status, code })
  })

  it('delete-execution answers 204 in one piece, and the execution is gone', async () => {
    const ran = await run('wait', '', { body: { seconds: 0 } })
    const path = ran.headers.get('location') ?? ''
    expect((await call('DELETE', path)).status).toBe(204)
    expect(service.lastOf('delete-execution')).toMatchObject({
      mode: 'buffered',
      payload: { statusCode: 204 },
    })
    expect((await call('GET', path)).status).toBe(404)
  })

  it.each([
    ['list-agents', '/v1/agents'],
    ['get-agent', '/v1/agents/wait'],
    ['list-versions', '/v1/agents/wait/versions'],
  ] as const)('%s answers as its operation says', async (name, path) => {
    const { status, json } = await call('GET', path)
    expect(status).toBe(200)
    const { body } = operations[name].responses[200]
    expect(z.safeParse(schemaOf(body), json).success).toBe(true)
  })

  it('give-feedback streams the execution with what it was given', async () => {
    const ran = await run('wait', '', { body: { seconds: 0 } })
    const path = `${ran.headers.get('location')}/feedback`
    expect((await call('PUT', path, { body: { rating: 1 } })).json.feedback).toMatchObject({ rating: 1 })
    expect(service.lastOf('give-feedback')).toMatchObject({ mode: 'streamed', prelude: { statusCode: 200 } })
  })

  it('cancel-execution ends a queued run, which its message then leaves alone', async () => {
    const id = await submitAsync()
    const record = await service.receive(service.queues.runs)
    expect((await call('POST', `/v1/agent_executions/${id}/cancel`)).json.status).toBe('ERROR')
    expect(await service.deliver('process-execution', record)).toEqual(NO_FAILURES)
    expect((await recordOf(id)).error.code).toBe('Cancelled')
  })
})

describe('an async run under the runtime', () => {
  it('goes from the queue through process-execution to SUCCESS, and into every list', async () => {
    const id = await submitAsync()
    expect((await recordOf(id)).status).toBe('IN_PROGRESS')
    expect(await service.deliver('process-execution', await service.receive(service.queues.runs))).toEqual(
      NO_FAILURES,
    )
    expect(await recordOf(id)).toMatchObject({
      status: 'SUCCESS',
      output: { waitedSeconds: expect.any(Number) },
    })
    expect((await call('GET', '/v1/agent_executions')).json[0].id).toBe(id)
    expect((await call('GET', '/v1/agents/wait/executions')).json[0].id).toBe(id)
    expect((await call('GET', `/v1/agent_executions/${id}/steps`)).json).toEqual([])
    for (const name of ['get-execution', 'list-executions', 'list-agent-executions', 'list-steps'] as const)
      expect(service.lastOf(name)).toMatchObject({ mode: 'streamed', prelude: { statusCode: 200 } })
  })

  it('ends in ERROR by process-dead-letter when its message was delivered in vain too often', async () => {
    const id = await submitAsync()
    for (let delivery = 1; delivery <= MAX_ATTEMPTS; delivery++) {
      const { receiptHandle: ReceiptHandle } = await service.receive(service.queues.runs)
      const shown = { QueueUrl: service.queues.runs, ReceiptHandle, VisibilityTimeout: 0 }
      await service.sqs.send(new ChangeMessageVisibilityCommand(shown))
    }
    await expect(service.receive(service.queues.runs)).rejects.toThrow('no message')
    expect(
      await service.deliver('process-dead-letter', await service.receive(service.queues.deadLetters)),
    ).toEqual(NO_FAILURES)
    expect((await recordOf(id)).status).toBe('ERROR')
  })

  it('that is stale is enqueued again by sweep-executions, and ends', async () => {
    const { organizationId } = service
    const { agentId, id: versionId } = service.wait
    const stale = { now: Date.now() - 2 * LEASE_MS, deadlineMs: DEADLINE_MS, input: { seconds: 0 } }
    const execution = anExecution({ organizationId, agentId, versionId, ...stale })
    await service.executions.create({ execution })
    const scheduled = { source: 'aws.events', 'detail-type': 'Scheduled Event' }
    expect(await service.invoke('sweep-executions', scheduled)).toEqual({ mode: 'buffered', payload: null })
    const record = await service.receive(service.queues.runs)
    expect(JSON.parse(record.body)).toEqual({ executionId: execution.id, organizationId })
    expect(await service.deliver('process-execution', record)).toEqual(NO_FAILURES)
    expect((await recordOf(execution.id)).status).toBe('SUCCESS')
  })
})

describe('the functions', () => {
  it('have a process each, which SIGTERM ends', async () => {
    const processes = await Promise.all(FUNCTION_NAMES.map(service.processOf))
    expect(new Set(processes.map(({ pid }) => pid)).size).toBe(FUNCTION_NAMES.length)
    const ends = Object.fromEntries(FUNCTION_NAMES.map((name) => [name, 'SIGTERM']))
    expect(await service.stopFunctions()).toEqual(ends)
  })
})
