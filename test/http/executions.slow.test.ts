import { describe, expect, it } from 'vitest'
import { executionRecord } from '../../lib/contract/records/execution.ts'
import { getExecutionId, waitForExecution } from '../support/service/client.ts'
import { organizationWith } from '../support/service/organization-with.ts'

const org = await organizationWith('wait')
const echo = await org.publish('echo')
await org.run('echo', { text: 'first' })

/** A path of agents and its mirror for documents, each with and without a trailing slash. */
const variants = (path: string) =>
  [path, path.replace('/v1/agent', '/v1/document')].flatMap((p) => [p, `${p}/`])

describe('POST executions', () => {
  it.each(variants('/v1/agents/echo/executions'))(
    '%s returns the bare output of a synchronous run',
    async (path) => {
      const response = await org.call('POST', path, { body: { text: 'hello' } })
      expect(response.status).toBe(200)
      expect(response.json).toEqual({ text: 'hello' })
      expect(response.headers.get('content-type')).toBe('application/json')
      const id = getExecutionId(response)
      expect(response.headers.get('location')).toBe(`/v1/agent_executions/${id}`)
    },
  )

  it.each(variants('/v1/agents/echo/executions'))(
    '%s returns the record of an asynchronous run at once',
    async (path) => {
      const body = { text: 'later' }
      const response = await org.call('POST', `${path}?execMode=async&tenantId=acme`, { body })
      expect(response.status).toBe(202)
      expect(response.headers.get('retry-after')).toMatch(/^\d+$/)
      expect(response.headers.get('location')).toBe(`/v1/agent_executions/${response.json.id}`)
      expect(executionRecord.strict().safeParse(response.json).error).toBeUndefined()
      expect(response.json).toMatchObject({
        ...{ documentId: echo.agentId, versionId: echo.id, tenantId: 'acme', source: 'API', cached: false },
        ...{ status: 'IN_PROGRESS', input: body, output: null, error: null, finishedAt: null },
      })
      expect(response.json).not.toHaveProperty('cachedDocumentExecutionId')
      const ended = await waitForExecution(org.call, response.json.id)
      expect(ended).toMatchObject({ status: 'SUCCESS', output: { text: 'later' }, error: null })
      expect(Date.parse(ended.finishedAt)).toBeGreaterThanOrEqual(Date.parse(ended.startedAt))
    },
  )
})

it.each(['/v1/agent_executions', '/v1/agents/echo/executions'])(
  '%s leaves out payloads with fields=summary',
  async (path) => {
    const { json } = await org.call('GET', `${path}?limit=3`)
    const { json: summaries } = await org.call('GET', `${path}?limit=3&fields=summary`)
    type Payloads = Record<'input' | 'output' | 'inputAdaptations' | 'feedback' | 'logs', unknown>
    const withoutPayloads = ({ input, output, inputAdaptations, feedback, logs, ...rest }: Payloads) => rest
    expect(summaries).toEqual(json.map(withoutPayloads))
    expect((await org.call('GET', `${path}?limit=3&fields=all`)).json).toEqual(json)
  },
)

it.each(variants('/v1/agent_executions/{id}'))('DELETE %s deletes the execution', async (path) => {
  const id = getExecutionId(await org.run('echo', { text: 'x' }))
  const response = await org.call('DELETE', path.replace('{id}', id))
  expect([response.status, response.text]).toEqual([204, ''])
  expect((await org.getExecution(id)).code).toBe('ExecutionNotFound')
  expect((await org.call('DELETE', `/v1/agent_executions/${id}`)).json.code).toBe('ExecutionNotFound')
  expect((await org.call('GET', '/v1/agent_executions?limit=100')).text).not.toContain(id)
})

it.each(variants('/v1/agent_executions/{id}/cancel'))('POST %s ends the execution', async (path) => {
  const { json } = await org.run('wait', { seconds: 60 }, 'execMode=async')
  const cancelled = await org.call('POST', path.replace('{id}', json.id))
  const state = { id: json.id, status: 'ERROR', output: null, error: { code: 'Cancelled' } }
  expect(cancelled).toMatchObject({ status: 200, json: state })
  expect(await org.getExecution(json.id)).toEqual(cancelled.json)
})
