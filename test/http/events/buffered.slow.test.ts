import { describe, expect, inject, it } from 'vitest'
import { executionRecord } from '../../../lib/contract/records/execution.ts'
import type { OperationName } from '../../../lib/contract/routes.ts'
import { collect } from '../../support/data/collect.ts'
import {
  type EventStream,
  openEventStream,
  parseEvent,
  type SentEvent,
} from '../../support/service/event-stream.ts'
import { localCall } from '../../support/service/local-handlers.ts'
import { organizationWith } from '../../support/service/organization-with.ts'

// Without RESPONSE_STREAMING, as with the setting responseStreaming=false.
const call = localCall()

const org = await organizationWith('echo', 'wait', 'failing', 'three-steps')

async function invoke(name: OperationName, headers: Record<string, string>, options: object) {
  const result = await call(name, { organizationId: org.id, headers, ...options })
  const events = result.text.split('\n\n').slice(0, -1).map(parseEvent)
  return { ...result, names: events.map(({ event, id }) => (id ? `${event} ${id}` : event)) }
}

describe('without response streaming', () => {
  it('the events so far are one response, after which the client reconnects', async () => {
    const { headers } = await org.run('three-steps', { log: '/dev/null' })
    const executionId = headers.get('x-execution-id') ?? ''
    const read = (lastEventId: string) =>
      invoke('stream-events', { 'Last-Event-ID': lastEventId }, { executionId })
    const first = await read('1')
    expect(first).toMatchObject({ status: 200, headers: { 'Content-Type': 'text/event-stream' } })
    expect(first.names).toEqual(['status', 'step 2', 'step 3', 'retry'])
    expect((await read('3')).names).toEqual(['status', 'done'])
  })

  it('the response waits for news', async () => {
    const { json } = await org.run('wait', { seconds: 1 }, 'execMode=async')
    const { names } = await invoke('stream-events', {}, { executionId: json.id })
    expect(names).toEqual(['status', 'status', 'done'])
  })

  it('the events of a run are one response when it ends', async () => {
    const headers = { Accept: 'text/event-stream' }
    const options = { agentId: 'three-steps', body: { log: '/dev/null' } }
    const { names, headers: sent } = await invoke('run-agent', headers, options)
    expect(names.filter((name) => name !== 'status')).toEqual(['step 1', 'step 2', 'step 3', 'done'])
    expect(sent?.['X-Execution-Id']).toBeTruthy()
  })
})

const open = (path: string, options: Partial<Parameters<typeof openEventStream>[1]> = {}) =>
  openEventStream(`${inject('service')}${path}`, { token: org.token, ...options })
const eventsOf = (id: string) => `/v1/agent_executions/${id}/events`
const readAll = ({ events }: EventStream): Promise<SentEvent[]> => collect(events)

it('GET …/events streams the steps of the list, the status and the record', async () => {
  const { headers } = await org.run('three-steps', { log: '/dev/null' })
  const id = headers.get('x-execution-id') ?? ''
  const steps = (await org.call('GET', `/v1/agent_executions/${id}/steps`)).json
  const stream = await open(eventsOf(id))
  expect(stream.response.status).toBe(200)
  expect(stream.response.headers.get('content-type')).toBe('text/event-stream')
  expect(await readAll(stream)).toEqual([
    { event: 'status', data: { id, status: 'SUCCESS' } },
    ...steps.map((data: { number: number }) => ({ event: 'step', id: String(data.number), data })),
    { event: 'done', data: await org.getExecution(id) },
  ])
  const path = `${eventsOf(id).replace('agent', 'document')}/`
  const resumed = await readAll(await open(path, { lastEventId: 2 }))
  expect(resumed.map(({ event, id: number }) => number ?? event)).toEqual(['status', '3', 'done'])
})

describe('POST …/executions with Accept: text/event-stream', () => {
  it.each(['', '?execMode=async'])('runs the agent and streams its events: %j', async (query) => {
    const stream = await open(`/v1/agents/three-steps/executions${query}`, { body: { log: '/dev/null' } })
    const id = stream.response.headers.get('x-execution-id') ?? ''
    expect(stream.response.status).toBe(200)
    expect(stream.response.headers.get('location')).toBe(`/v1/agent_executions/${id}`)
    const events = await readAll(stream)
    // A second `status` if the first one was IN_PROGRESS.
    expect(events.map(({ event }) => event).join()).toMatch(/^status,step,step,step,(status,)?done$/)
    expect(events.at(-1)?.data).toEqual(await org.getExecution(id))
    expect(executionRecord.safeParse(events.at(-1)?.data).error).toBeUndefined()
  })

  it.each([
    ['/v1/agents/none/executions', {}, 'AgentNotFound'],
    ['/v1/agents/echo/executions?enforceInputSchema=true', { a: 1 }, 'InputSchemaMismatch'],
  ])('responds with problem details when it accepts nothing: %s', async (path, body, code) => {
    const { response } = await open(path, { body })
    expect(await response.json()).toMatchObject({ code })
    expect(response.headers.get('content-type')).toBe('application/problem+json')
  })

  it.each([
    ['application/json', false],
    ['*/*', false],
    ['text/event-stream;q=0', false],
    ['TEXT/Event-Stream; q=0.5', true],
    ['application/json, text/event-stream', true],
  ])('streams only if Accept names it: %s', async (accept, isStream) => {
    const options = { body: { text: 'x' }, headers: { Accept: accept } }
    const { headers } = await org.call('POST', '/v1/agents/echo/executions', options)
    expect(headers.get('content-type')).toBe(isStream ? 'text/event-stream' : 'application/json')
  })
})
