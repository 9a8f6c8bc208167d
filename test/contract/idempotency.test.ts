import { describe, expect, it } from 'vitest'
import { parameterSchemas } from '../../lib/contract/parameters/parameters.ts'
import { getOperation, type OperationName } from '../../lib/contract/routes.ts'
import type { Scope } from '../../lib/core/access.ts'
import { waitUntil } from '../support/processes/processes.ts'
import { type ApiResponse, getExecutionId, waitForEnd } from '../support/service/client.ts'
import { organizationWith } from '../support/service/organization-with.ts'
import { contractOperations, expectProblem } from './world.ts'

const KEY = 'Idempotency-Key'
const keyed = contractOperations.filter((name) => {
  const { headers } = getOperation(name)
  return headers !== undefined && KEY in parameterSchemas[headers].shape
})

/** A request, and the path or the body of one that differs; null if there is nothing that could differ. */
type Request = { path: string; body?: unknown; other: { path?: string; body?: unknown } | null }

const org = await organizationWith('echo', 'waits', 'failing')

const BATCH = [{ customId: 'a', input: { text: 'x' } }]

/** A new operation with a key needs a row. */
const REQUESTS: Partial<Record<OperationName, () => Promise<Request>>> = {
  'run-agent': async () => {
    const path = '/v1/agents/echo/executions'
    return { path, body: { text: 'x' }, other: { path: `${path}?tenantId=other` } }
  },
  'rerun-execution': async () => {
    const id = getExecutionId(await org.run('echo', { text: 'x' }))
    const { currentVersionId: versionId } = (await org.call('GET', '/v1/agents/echo')).json
    return { path: `/v1/agent_executions/${id}/rerun`, body: {}, other: { body: { versionId } } }
  },
  'send-signal': async () => {
    const id = getExecutionId(await org.run('waits', { signal: 'go' }))
    return { path: `/v1/agent_executions/${id}/signals/other`, body: { a: 1 }, other: { body: { a: 2 } } }
  },
  // test/http/callbacks.slow.test.ts: its URL is known to the run alone.
  'send-callback': undefined as never,
  'run-schedule': async () => {
    const path = '/v1/agents/echo/schedules/daily'
    await org.call('PUT', path, { body: { cron: '@daily', input: { text: 'x' } } })
    return { path: `${path}/run`, other: null }
  },
  'start-batch': async () => {
    const path = '/v1/agents/echo/batches'
    return { path, body: BATCH, other: { path: `${path}?maxConcurrency=1` } }
  },
  'retry-batch': async () => {
    const body = [{ customId: 'a', input: { failure: 'throw' } }]
    const { id } = (await org.call('POST', '/v1/agents/failing/batches', { body })).json
    await waitForEnd(org.call, `/v1/batches/${id}`)
    return { path: `/v1/batches/${id}/retry-failed`, other: null }
  },
  'start-trial': async () => {
    await org.run('echo', { text: 'x' })
    const { currentVersionId } = (await org.call('GET', '/v1/agents/echo')).json
    const path = `/v1/agents/echo/versions/${currentVersionId}/trials`
    return { path, body: { limit: 1 }, other: { body: { limit: 2 } } }
  },
}

it('every operation with a key has a request', () => {
  expect(Object.keys(REQUESTS).sort()).toEqual([...keyed].sort())
})

/** A row, and how to send it with a key: as it is, or with changes. */
async function prepare(name: OperationName) {
  const { path, body, other } = await (REQUESTS[name] as () => Promise<Request>)()
  const post = (key: string, changes: Request['other'] = {}, client = org.call) =>
    client('POST', changes?.path ?? path, { body: changes?.body ?? body, headers: { [KEY]: key } })
  return { post, other }
}

const idOf = ({ headers, json }: ApiResponse): string => headers.get('x-execution-id') ?? json.id

describe.concurrent.each(keyed.filter((name) => name !== 'send-callback'))('%s', (name) => {
  it('does once what is requested with one key, shows it only to those who read, and refuses the key for anything else', async () => {
    const { post, other } = await prepare(name)
    const [first, repeated] = [await post(`${name} 1`), await post(`${name} 1`)]
    for (const { status, text } of [first, repeated]) expect(status, text).toBeLessThan(300)
    expect(idOf(repeated)).toBe(idOf(first))
    expect(idOf(await post(`${name} 2`))).not.toBe(idOf(first))
    const { responses, ...operation } = getOperation(name)
    if (
      'scope' in operation &&
      Object.values(responses).some(({ body: record }) => String(record).startsWith('Changed'))
    ) {
      const unable = await org.withLimits({ scopes: [operation.scope].flat() as Scope[] })
      const { json } = await post(`${name} 1`, {}, unable)
      expect(json).toEqual({ id: idOf(first), status: expect.any(String) })
    }
    if (other) expectProblem(await post(`${name} 1`, other), 'IdempotencyKeyReused', name)
  })
})

describe.concurrent.each(['run-agent', 'rerun-execution', 'run-schedule'] as const)('%s', (name) => {
  it('does not run again if the execution of the key was deleted, and still refuses another request', async () => {
    const { post, other } = await prepare(name)
    const key = `${name} deleted`
    const executionId = idOf(await post(key))
    const remove = async () =>
      (await org.call('DELETE', `/v1/agent_executions/${executionId}`)).status === 204
    await waitUntil(remove, { what: 'the deletion of the execution', limitMs: 60_000 })
    const repeated = await post(key)
    expectProblem(repeated, 'ExecutionDeleted', name)
    expect(repeated.json).toMatchObject({ executionId })
    if (other) expectProblem(await post(key, other), 'IdempotencyKeyReused', name)
  })
})
