import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { executionRecord, stepRecord } from '../../../lib/api/schemas/execution-record.ts'
import { parseStoredJson } from '../../../lib/core/json/parse-json.ts'
import { system } from '../../../lib/system.ts'
import { finalAnswer } from '../../support/engine/model-agent.ts'
import { newOrganization, type TestOrganization } from '../../support/engine/organization.ts'
import { type ScriptedModel, startScriptedModel } from '../../support/scripted-model/start-scripted-model.ts'
import { type ApiClient, createClient, readDevToken } from '../../support/service/client.ts'
import { type EventStream, openEventStream, type SentEvent } from '../../support/service/event-stream.ts'
import { temporaryServices } from '../../support/service/temporary-services.ts'

let org: TestOrganization
beforeAll(async () => {
  org = await newOrganization()
  for (const slug of ['echo', 'wait', 'failing', 'three-steps']) await org.publish(slug)
})

const open = (path: string, options: Partial<Parameters<typeof openEventStream>[1]> = {}) =>
  openEventStream(`${inject('service')}${path}`, { token: org.token, ...options })
const eventsOf = (id: string) => `/v1/agent_executions/${id}/events`
const readAll = async ({ events }: EventStream): Promise<SentEvent[]> => {
  const all: SentEvent[] = []
  for await (const event of events) all.push(event)
  return all
}
const namesOf = (events: SentEvent[]) => events.map(({ event }) => event)
const startWait = async (seconds: number): Promise<string> =>
  (await org.run('wait', { seconds }, 'execMode=async')).json.id

describe('GET …/events', () => {
  it('streams the steps of the list, the status and the record', async () => {
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
    const resumed = await readAll(
      await open(`${eventsOf(id).replace('agent', 'document')}/`, { lastEventId: 2 }),
    )
    expect(resumed.map(({ event, id: number }) => number ?? event)).toEqual(['status', '3', 'done'])
  })

  it('ends with the run', async () => {
    const id = await startWait(1)
    const events = await readAll(await open(eventsOf(id)))
    expect(events.map(({ event, data }) => (event === 'status' ? data.status : event))).toEqual([
      'IN_PROGRESS',
      'SUCCESS',
      'done',
    ])
  })

  it('ends when the execution is cancelled or fails', async () => {
    const id = await startWait(60)
    const stream = await open(eventsOf(id))
    await org.call('POST', `/v1/agent_executions/${id}/cancel`)
    const done = (await readAll(stream)).at(-1)
    expect(done).toMatchObject({ event: 'done', data: { status: 'ERROR', error: { code: 'Cancelled' } } })
  })

  it('is 404 for unknown executions and deleted ones', async () => {
    const { headers } = await org.run('echo', { text: 'x' })
    const id = headers.get('x-execution-id') ?? ''
    await org.call('DELETE', `/v1/agent_executions/${id}`)
    for (const missing of [id, system.newId(), 'x'])
      expect((await org.call('GET', eventsOf(missing))).json.code).toBe('ExecutionNotFound')
  })

  it.each(['-1', '1.5', 'abc', '01', '100000', '4'])('rejects Last-Event-ID %s', async (lastEventId) => {
    const { headers } = await org.run('three-steps', { log: '/dev/null' })
    const path = eventsOf(headers.get('x-execution-id') ?? '')
    const { status, json } = await org.call('GET', path, { headers: { 'Last-Event-ID': lastEventId } })
    expect([status, json.code, json.errors?.[0].path]).toEqual([400, 'InvalidHeader', 'Last-Event-ID'])
  })

  it.each(['', '0'])('reads all steps with Last-Event-ID "%s"', async (lastEventId) => {
    const { headers } = await org.run('three-steps', { log: '/dev/null' })
    const stream = await open(eventsOf(headers.get('x-execution-id') ?? ''), { lastEventId })
    expect(namesOf(await readAll(stream)).filter((name) => name === 'step')).toHaveLength(3)
  })

  it('responds to HEAD without a body', async () => {
    const response = await org.call('HEAD', eventsOf(await startWait(0)))
    expect([response.status, response.text]).toEqual([200, ''])
  })
})

describe('POST …/executions with Accept: text/event-stream', () => {
  const run = (slug: string, body: object, query = '') =>
    open(`/v1/agents/${slug}/executions${query}`, { body })

  it.each(['', '?execMode=async'])('runs the agent and streams its events: %j', async (query) => {
    const stream = await run('three-steps', { log: '/dev/null' }, query)
    const id = stream.response.headers.get('x-execution-id') ?? ''
    expect(stream.response.status).toBe(200)
    expect(stream.response.headers.get('location')).toBe(`/v1/agent_executions/${id}`)
    const events = await readAll(stream)
    // A second `status` if the first one was IN_PROGRESS.
    expect(namesOf(events).join()).toMatch(/^status,step,step,step,(status,)?done$/)
    expect(events.at(-1)?.data).toEqual(await org.getExecution(id))
    expect(executionRecord.safeParse(events.at(-1)?.data).error).toBeUndefined()
  })

  it('streams a failure as the record of the execution', async () => {
    const stream = await run('failing', { reason: 'x' })
    const done = (await readAll(stream)).at(-1)
    expect(done).toMatchObject({
      event: 'done',
      data: { status: 'ERROR', error: { code: expect.any(String) } },
    })
  })

  it('responds with problem details when it accepts nothing', async () => {
    for (const [path, body, code] of [
      ['/v1/agents/none/executions', {}, 'AgentNotFound'],
      ['/v1/agents/echo/executions?enforceInputSchema=true', { a: 1 }, 'InputSchemaMismatch'],
    ] as const) {
      const { response } = await open(path, { body })
      expect(await response.json()).toMatchObject({ code })
      expect(response.headers.get('content-type')).toBe('application/problem+json')
    }
  })

  it('streams the execution of an Idempotency-Key, also while it is running', async () => {
    const post = (accept: string) =>
      org.call('POST', '/v1/agents/wait/executions', {
        body: { seconds: 2 },
        headers: { 'Idempotency-Key': 'stream', Accept: accept },
      })
    const [first, second] = await Promise.all([post('text/event-stream'), post('text/event-stream')])
    expect(second.headers.get('x-execution-id')).toBe(first.headers.get('x-execution-id'))
    for (const { text } of [first, second]) expect(text).toContain('event: done')
  })

  it.each([
    ['application/json', false],
    ['*/*', false],
    ['text/event-stream;q=0', false],
    ['TEXT/Event-Stream; q=0.5', true],
    ['application/json, text/event-stream', true],
  ])('streams only if Accept names it: %s', async (accept, isStream) => {
    const { headers } = await org.call('POST', '/v1/agents/echo/executions', {
      body: { text: 'x' },
      headers: { Accept: accept },
    })
    expect(headers.get('content-type')).toBe(isStream ? 'text/event-stream' : 'application/json')
  })
})

describe('the events of a model agent', () => {
  const services = temporaryServices()
  let scripted: ScriptedModel
  let url: string
  let token: string
  let call: ApiClient
  beforeAll(async () => {
    scripted = await startScriptedModel()
    const folder = services.newFolder()
    url = (await services.start(folder, scripted.environmentFor() as Record<string, string>)).url
    token = readDevToken(folder)
    call = createClient(url, token)
  })
  afterAll(() => scripted.stop())

  it('are its steps and, after its step, the result of each tool call', async () => {
    const triage = { priority: 'high', team: 'accounts', summary: 'Cannot log in.', knownIncident: false }
    const redact = (content: string) => ({ name: 'redact', input: { content } })
    scripted.script('triage', [
      { text: 'First I redact.', calls: [redact('I am ada@example.com.'), redact('Ada')] },
      { calls: [finalAnswer(triage)] },
    ])
    const model = encodeURIComponent(scripted.modelFor('openai-compatible', 'triage'))
    const path = `${url}/v1/agents/triage-ticket/executions?model=${model}`
    const stream = await openEventStream(path, { token, body: { subject: 'Help', body: 'I am Ada.' } })
    const events = await readAll(stream)
    expect(namesOf(events)).toEqual(['status', 'step', 'tool', 'tool', 'step', 'status', 'done'])
    const id = stream.response.headers.get('x-execution-id')
    const steps = (await call('GET', `/v1/agent_executions/${id}/steps`)).json
    const tools = events.filter(({ event }) => event === 'tool')
    for (const { data, ...rest } of tools) {
      const { step, ...record } = data
      expect(step).toBe(1)
      expect(steps[0].toolCalls).toContainEqual(record)
      expect(rest).toEqual({ event: 'tool' })
    }
    for (const { event, data } of events)
      if (event === 'step') expect(stepRecord.strict().safeParse(data).error).toBeUndefined()
  })
})

it('keeps the digits of the input', async () => {
  const text = '{"text":"x","count":12345678901234567890}'
  const { text: body } = await org.call('POST', '/v1/agents/echo/executions', {
    raw: text,
    headers: { Accept: 'text/event-stream' },
  })
  const [, data = ''] = /event: done\ndata: (.*)\n\n/.exec(body) ?? []
  expect(data).toContain('"count":12345678901234567890')
  expect(parseStoredJson(data)).toBeTruthy()
})
