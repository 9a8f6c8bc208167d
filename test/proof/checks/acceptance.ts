import { isDeepStrictEqual } from 'node:util'
import {
  type ApiClient,
  type ApiResponse,
  createClient,
  getExecutionId,
  waitForExecution,
} from '../../support/service/client.ts'
import type { Findings } from '../run-proof.ts'
import type { Service } from './load.ts'
import { ECHO, FAILING } from './prepare.ts'

type Context = { call: ApiClient; anonymous: ApiClient; id: string }
type Check = (context: Context) => Promise<void>

const EXECUTIONS = `/v1/agents/${ECHO}/executions`
const RUN_MS = 60_000

function expectEqual(actual: unknown, expected: unknown, what: string): void {
  if (!isDeepStrictEqual(actual, expected))
    throw new Error(`${what} is ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`)
}

function expectProblem({ status, json, headers }: ApiResponse, expectedStatus: number, code: string): void {
  expectEqual([status, json?.code], [expectedStatus, code], 'the error')
  expectEqual(headers.get('content-type'), 'application/problem+json', 'the content type')
}

const run = ({ call }: Context, text: string, query = '', headers = {}) =>
  call('POST', `${EXECUTIONS}${query}`, { body: { text }, headers })

/** What the interface promises, in calls that any service with the agents of the proof has to answer so. */
const CHECKS: Record<string, Check> = {
  async 'a synchronous run returns its bare output'(context) {
    const response = await run(context, 'sync')
    expectEqual([response.status, response.json], [200, { text: 'sync' }], 'the response')
    const location = response.headers.get('location') ?? ''
    if (!location.endsWith(`/v1/agent_executions/${getExecutionId(response)}`))
      throw new Error(`Location: ${location}`)
  },
  async 'an asynchronous run returns its record, and ends'(context) {
    const response = await run(context, 'async', '?execMode=async')
    expectEqual(response.status, 202, 'the status')
    const record = await waitForExecution(context.call, getExecutionId(response), RUN_MS)
    expectEqual([record.status, record.output], ['SUCCESS', { text: 'async' }], 'the record')
  },
  async 'a cached result is another execution of the same output'(context) {
    const text = `cached ${context.id}`
    const first = await run(context, text, '?useCache=true')
    const second = await run(context, text, '?useCache=true')
    expectEqual(second.json, first.json, 'the output')
    expectEqual(second.headers.get('x-cached-document-execution-id'), getExecutionId(first), 'the source')
  },
  async 'an idempotency key is one execution, and one body'(context) {
    const headers = { 'Idempotency-Key': `key-${context.id}` }
    const first = await run(context, 'once', '', headers)
    const second = await run(context, 'once', '', headers)
    expectEqual(getExecutionId(second), getExecutionId(first), 'the execution')
    expectProblem(await run(context, 'other', '', headers), 422, 'IdempotencyKeyReused')
  },
  async 'input is adapted unless the request is strict'({ call }) {
    const wrapped = { body: { data: { Text: 'adapted' } } }
    expectEqual((await call('POST', EXECUTIONS, wrapped)).json, { text: 'adapted' }, 'the output')
    expectProblem(
      await call('POST', `${EXECUTIONS}?enforceInputSchema=true`, wrapped),
      422,
      'InputSchemaMismatch',
    )
  },
  async 'requests that are wrong are rejected as problem details'({ call, anonymous }) {
    expectProblem(await anonymous('GET', '/v1/agents'), 401, 'Unauthorized')
    expectProblem(await call('GET', '/v1/no-such-route'), 404, 'RouteNotFound')
    expectProblem(
      await call('POST', '/v1/agents/no-such-agent/executions', { body: {} }),
      404,
      'AgentNotFound',
    )
    expectProblem(await call('POST', EXECUTIONS, { raw: '{' }), 400, 'InvalidJson')
    expectProblem(
      await call('POST', `${EXECUTIONS}?execMode=never`, { body: { text: '' } }),
      400,
      'InvalidQueryParameter',
    )
  },
  async 'a failing agent is an execution in ERROR'({ call }) {
    const response = await call('POST', `/v1/agents/${FAILING}/executions`, { body: { failure: 'throw' } })
    expectProblem(response, 500, 'ExecutionFailed')
    const { json } = await call('GET', `/v1/agent_executions/${response.json.executionId}`)
    expectEqual([json.status, json.error.code], ['ERROR', 'AgentFailed'], 'the record')
  },
  async 'lists have pages, newest first'(context) {
    const ids = [getExecutionId(await run(context, '1')), getExecutionId(await run(context, '2'))]
    const { json, headers } = await context.call('GET', '/v1/agent_executions?limit=2')
    expectEqual(
      json.map(({ id }: { id: string }) => id),
      ids.reverse(),
      'the page',
    )
    if (!headers.get('link')?.includes('rel="next"')) throw new Error('There is no next page.')
  },
  async 'the routes of documents mirror those of agents'({ call }) {
    const response = await call('POST', `/v1/documents/${ECHO}/executions`, { body: { text: 'legacy' } })
    expectEqual([response.status, response.json], [200, { text: 'legacy' }], 'the response')
    const id = getExecutionId(response)
    const [legacy, current] = await Promise.all(
      ['document', 'agent'].map((kind) => call('GET', `/v1/${kind}_executions/${id}`)),
    )
    expectEqual(legacy?.json, current?.json, 'the record')
  },
  async 'an execution can be rated and deleted'(context) {
    const path = `/v1/agent_executions/${getExecutionId(await run(context, 'rated'))}`
    const rated = await context.call('PUT', `${path}/feedback`, { body: { rating: 1 } })
    expectEqual([rated.status, rated.json?.feedback?.rating], [200, 1], 'the feedback')
    expectEqual((await context.call('DELETE', path)).status, 204, 'the status')
    expectProblem(await context.call('GET', path), 404, 'ExecutionNotFound')
  },
  async 'a path parameter is decoded once'({ call }) {
    const path = '/v1/tenants/north%20east%2520/limits'
    const put = await call('PUT', path, { body: { maxOpenExecutions: 7 } })
    expectEqual([put.status, put.json?.tenantId], [200, 'north east%20'], 'the tenant')
    expectEqual((await call('GET', path)).json?.maxOpenExecutions, 7, 'the limit')
    expectEqual((await call('DELETE', path)).status, 204, 'the status')
  },
  async 'a synchronous run can be streamed'(context) {
    const { status, headers, text } = await run(context, 'streamed', '', { Accept: 'text/event-stream' })
    expectEqual([status, headers.get('content-type')], [200, 'text/event-stream'], 'the response')
    if (!/^event: done$/m.test(text) || !text.includes('streamed')) throw new Error(`The stream is ${text}`)
  },
  async 'events of a run end with its end'(context) {
    const id = getExecutionId(await run(context, 'events', '?execMode=async'))
    const { status, text } = await context.call('GET', `/v1/agent_executions/${id}/events`)
    expectEqual([status, /^event: done$/m.test(text)], [200, true], 'the stream')
  },
}

/** Calls the service like its clients and compares what it answers with what the interface promises. */
export async function checkAcceptance({ baseUrl, token, organizationId }: Service): Promise<Findings> {
  const context = {
    call: createClient(baseUrl, token),
    anonymous: createClient(baseUrl, null),
    id: `${organizationId}-${Date.now()}`,
  }
  const problems: string[] = []
  for (const [name, check] of Object.entries(CHECKS))
    await check(context).catch((error: Error) => problems.push(`${name}: ${error.message}`))
  return { problems, figures: { checks: Object.keys(CHECKS).length } }
}
