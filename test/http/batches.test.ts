import { beforeAll, describe, expect, inject, it } from 'vitest'
import { system } from '../../lib/system.ts'
import { newOrganization, type TestOrganization } from '../support/engine/organization.ts'
import { waitUntil } from '../support/processes/wait-until.ts'
import { type ApiClient, type ApiResponse, getNextLink } from '../support/service/client.ts'
import { openEventStream, type SentEvent } from '../support/service/event-stream.ts'

const NDJSON = { 'Content-Type': 'application/x-ndjson' }

let own: TestOrganization
beforeAll(async () => {
  own = await newOrganization()
  for (const slug of ['echo', 'failing', 'waits']) await own.publish(slug)
})

type Line = { customId: string; input: object }
const line = (customId: string, input: object): Line => ({ customId, input })
const texts = (count: number) =>
  Array.from({ length: count }, (_, index) => line(`line-${index}`, { text: `text ${index}` }))

type Options = { query?: string; headers?: Record<string, string>; client?: ApiClient }
const start = (
  agent: string,
  lines: unknown,
  { query = '', headers = {}, client = own.call }: Options = {},
) => client('POST', `/v1/agents/${agent}/batches?${query}`, { body: lines, headers })
const started = async (...args: Parameters<typeof start>) => {
  const { status, json } = await start(...args)
  expect(status, JSON.stringify(json)).toBe(202)
  return json
}
const get = async (id: string) => (await own.call('GET', `/v1/batches/${id}`)).json
const ended = async (id: string) => {
  const hasEnded = async () => (await get(id)).status === 'ENDED'
  await waitUntil(hasEnded, { what: `the end of batch ${id}`, limitMs: 20_000 })
  return get(id)
}
const parseLines = ({ text }: ApiResponse) =>
  text
    .split('\n')
    .filter(Boolean)
    .map((each) => JSON.parse(each))
const results = async (id: string) => parseLines(await own.call('GET', `/v1/batches/${id}/results`))
async function collect(events: AsyncIterable<SentEvent>): Promise<SentEvent[]> {
  const collected: SentEvent[] = []
  for await (const event of events) collected.push(event)
  return collected
}
const count = async () => (await own.call('GET', '/v1/batches?limit=100')).json.length

describe('a batch', () => {
  it('runs its lines and has their results in order', async () => {
    const lines = [...texts(3), line('bad', { text: ['a', 'b'], count: 'many' }), line('last', { text: 'x' })]
    const raw = `\n${lines.map((each) => JSON.stringify(each)).join('\r\n\r\n')}\n`
    const response = await own.call('POST', '/v1/agents/echo/batches?tenantId=acme&maxConcurrency=2', {
      raw,
      headers: NDJSON,
    })
    const { json: batch } = response
    expect(response.status, response.text).toBe(202)
    expect(response.headers.get('location')).toBe(`/v1/batches/${batch.id}`)
    expect(batch).toMatchObject({ tenantId: 'acme', lines: 5, maxConcurrency: 2, error: null, endedAt: null })

    const record = await ended(batch.id)
    const executions = await own.call('GET', `/v1/batches/${batch.id}/executions`)
    const all = await results(batch.id)
    expect(all.map(({ customId }) => customId)).toEqual(lines.map(({ customId }) => customId))
    expect(all[0]).toEqual({
      customId: 'line-0',
      executionId: executions.json[0].id,
      status: 'SUCCESS',
      output: { text: 'text 0' },
      error: null,
    })
    expect(executions.json.map(({ customId }: { customId: string }) => customId)).toEqual(
      lines.map(({ customId }) => customId),
    )
    expect(executions.json[4]).toMatchObject({
      source: 'BATCH',
      batchId: batch.id,
      tenantId: 'acme',
      input: { text: 'x' },
    })
    const { counts, cancelled, costUsd } = record
    expect({ counts, cancelled, costUsd }).toEqual({
      counts: {
        IN_PROGRESS: 0,
        SUCCESS: all.filter(({ status }) => status === 'SUCCESS').length,
        ERROR: all.filter(({ status }) => status === 'ERROR').length,
      },
      cancelled: 0,
      costUsd: 0,
    })
    const summaries = await own.call('GET', `/v1/batches/${batch.id}/executions?fields=summary&limit=2`)
    expect(summaries.json).toHaveLength(2)
    expect(summaries.json[0].input).toBeUndefined()
    const next = await own.call('GET', getNextLink(summaries) ?? '')
    expect(next.json.map(({ customId }: { customId: string }) => customId)).toEqual(['line-2', 'bad'])
    const failed = await own.call('GET', `/v1/batches/${batch.id}/executions?fields=summary&status=ERROR`)
    expect(failed.json.map(({ customId }: { customId: string }) => customId)).toEqual(
      all.filter(({ status }) => status === 'ERROR').map(({ customId }) => customId),
    )
    expect((await own.call('GET', '/v1/batches?agent=echo&tenantId=acme')).json).toContainEqual(record)
    expect((await own.call('GET', '/v1/batches?agent=waits')).json).not.toContainEqual(record)
    const listed = await own.call('GET', '/v1/agent_executions?tenantId=acme')
    expect(listed.json[0]).toMatchObject({ batchId: batch.id })
  })

  it('has the results of a page where the one before ended', async () => {
    const { id } = await started('echo', texts(5))
    await ended(id)
    const pages = []
    for (let path: string | undefined = `/v1/batches/${id}/results?limit=2`; path; ) {
      const page: ApiResponse = await own.call('GET', path)
      expect(page.headers.get('content-type')).toBe('application/x-ndjson')
      pages.push(parseLines(page).map(({ output }) => output.text))
      path = getNextLink(page)
    }
    expect(pages).toEqual([['text 0', 'text 1'], ['text 2', 'text 3'], ['text 4']])
    const beyond = await own.call('GET', `/v1/batches/${id}/results?cursor=unknown`)
    expect([beyond.status, beyond.json.code]).toEqual([400, 'InvalidQueryParameter'])
  })

  it('is cancelled: open lines end, and lines that have not started have no execution', async () => {
    const lines = Array.from({ length: 6 }, (_, index) => line(`${index}`, { signal: 'go' }))
    const { id } = await started('waits', lines, { query: 'maxConcurrency=2' })
    const isOpen = async () => (await results(id)).filter(({ executionId }) => executionId).length === 2
    await waitUntil(isOpen, { what: 'two executions', limitMs: 10_000 })
    expect((await results(id)).map(({ status }) => status)).toEqual(lines.map(() => 'IN_PROGRESS'))

    for (const path of ['retry-failed', ''])
      expect(
        (await own.call(path ? 'POST' : 'DELETE', `/v1/batches/${id}${path && `/${path}`}`)).json,
      ).toMatchObject({ status: 409, code: 'BatchInProgress', batchId: id })
    const [{ executionId }] = await results(id)
    const remove = () => own.call('DELETE', `/v1/agent_executions/${executionId}`)
    expect((await remove()).json).toMatchObject({ status: 409, code: 'BatchInProgress', batchId: id })

    const cancelled = await own.call('POST', `/v1/batches/${id}/cancel`)
    expect([cancelled.status, cancelled.json.status]).toEqual([202, 'CANCELLING'])
    const record = await ended(id)
    expect(record).toMatchObject({
      counts: { IN_PROGRESS: 0, SUCCESS: 0, ERROR: 6 },
      cancelled: 6,
      error: { code: 'Cancelled' },
    })
    const all = await results(id)
    expect(all.map(({ error }) => error.code)).toEqual(lines.map(() => 'Cancelled'))
    expect(all.filter((each) => each.executionId)).toHaveLength(2)
    expect((await own.call('POST', `/v1/batches/${id}/cancel`)).json).toEqual(record)
    expect((await remove()).status).toBe(204)
  })

  it('is started again with the lines that failed', async () => {
    const lines = [
      line('good', { failure: 'return nothing at all' }),
      line('bad', { failure: 'throw' }),
      line('worse', { failure: 'throw a string' }),
    ]
    const first = await started('failing', lines, { query: 'useCache=true&maxAgentSteps=3' })
    await ended(first.id)
    const retry = (key: string) =>
      own.call('POST', `/v1/batches/${first.id}/retry-failed`, { headers: { 'Idempotency-Key': key } })
    const response = await retry('a')
    expect(response.status, response.text).toBe(202)
    expect(response.json).toMatchObject({ retryOf: first.id, lines: 3, maxAgentSteps: 3, useCache: true })
    expect((await retry('a')).json.id).toBe(response.json.id)
    expect((await retry('b')).json.id).not.toBe(response.json.id)
    await ended(response.json.id)
    expect((await results(response.json.id)).map(({ customId }) => customId)).toEqual([
      'good',
      'bad',
      'worse',
    ])

    const { id } = await started('echo', texts(1))
    await ended(id)
    const nothing = await own.call('POST', `/v1/batches/${id}/retry-failed`)
    expect([nothing.status, nothing.json.detail]).toEqual([
      422,
      'No line of the batch has failed: there is nothing to retry.',
    ])
  })

  it('is deleted with its executions', async () => {
    const { id } = await started('echo', texts(3))
    await ended(id)
    const [{ executionId }] = await results(id)
    expect((await own.call('DELETE', `/v1/batches/${id}`)).status).toBe(204)
    for (const path of ['', '/results', '/executions'])
      expect((await own.call('GET', `/v1/batches/${id}${path}`)).json.code).toBe('BatchNotFound')
    expect((await own.call('DELETE', `/v1/batches/${id}`)).json.code).toBe('BatchNotFound')
    const isGone = async () => (await own.call('GET', `/v1/agent_executions/${executionId}`)).status === 404
    await waitUntil(isGone, { what: 'the deletion of the executions', limitMs: 10_000 })
  })

  it('tells how it goes on until it has ended', async () => {
    const { id } = await started('echo', texts(3))
    const url = `${inject('service')}/v1/batches/${id}`
    const { events } = await openEventStream(url, { token: own.token })
    const received = await collect(events)
    expect(received.at(-1)).toMatchObject({ event: 'ended', data: await get(id) })
    expect(received.slice(0, -1).every(({ event }) => event === 'counts')).toBe(true)
    const lastEventId = received.at(-1)?.id ?? ''
    const again = await openEventStream(url, { token: own.token, lastEventId })
    expect(await collect(again.events)).toEqual(received.slice(-1))
  })
})

describe('POST …/batches', () => {
  it('starts nothing if a line is wrong', async () => {
    const before = await count()
    const raw = `${JSON.stringify(line('a', { text: 'x' }))}\n\n{"customId": "a", "input": {}}\n{"customId":`
    const { status, json } = await own.call('POST', '/v1/agents/echo/batches', { raw, headers: NDJSON })
    expect([status, json.code, json.detail]).toEqual([
      422,
      'InputSchemaMismatch',
      '2 of 3 lines are invalid. No line was started.',
    ])
    expect(json.errors).toEqual([
      {
        line: 3,
        path: '/customId',
        message: 'Line 3: /customId repeats that of line 1: each must be unique.',
      },
      { line: 4, path: '', message: expect.stringMatching(/^Line 4: The line is not valid JSON: /) },
    ])
    expect(await count()).toBe(before)
  })

  it('enforces the input schema on request', async () => {
    const lines = [line('a', { text: 'x' }), line('b', { text: 1 }), line('c', { other: 1 })]
    const refused = await start('echo', lines, { query: 'enforceInputSchema=true' })
    expect([refused.status, refused.json.errors]).toEqual([
      422,
      [
        { line: 2, path: '/input/text', message: expect.stringContaining('Line 2: /input/text ') },
        { line: 3, path: expect.any(String), message: expect.stringContaining('Line 3: /input/') },
      ],
    ])
  })

  it.each([
    ['execMode=async', 'execMode is not accepted: the lines of a batch are always executed asynchronously.'],
    ['maxConcurrency=501', 'maxConcurrency must be an integer from 1 to 500.'],
    ['maxCostUsd=1', 'The agent echo is a code agent; it does not accept maxCostUsd.'],
    ['maxBatchCostUsd=1', 'The agent echo is a code agent; it does not accept maxBatchCostUsd.'],
    ['webhookUrl=https://receiver.example', 'webhookUrl is turned off'],
    ['model=bedrock/x', 'The agent echo is a code agent; it does not accept a model.'],
  ])('refuses %s', async (query, detail) => {
    const { status, json } = await start('echo', texts(1), { query })
    expect([status, json.detail]).toEqual([400, expect.stringContaining(detail)])
  })

  it('only checks on request', async () => {
    const before = await count()
    const headers = { 'Idempotency-Key': 'check' }
    const checked = await start('echo', texts(3), { query: 'validateOnly=true', headers })
    expect([checked.status, checked.json]).toEqual([200, { lines: 3, valid: true }])
    expect(await count()).toBe(before)
    await started('echo', texts(2), { headers })
  })

  it('starts one batch for an idempotency key', async () => {
    const headers = { 'Idempotency-Key': system.newId() }
    const both = await Promise.all([1, 2].map(() => started('echo', texts(2), { headers })))
    expect(both[0].id).toBe(both[1].id)
    for (const [lines, query] of [
      [texts(3), ''],
      [texts(2), 'maxConcurrency=1'],
    ] as const) {
      const { status, json } = await start('echo', lines, { headers, query })
      expect([status, json.code]).toEqual([422, 'IdempotencyKeyReused'])
    }
    await ended(both[0].id)
    expect((await started('echo', texts(2), { headers })).status).toBe('ENDED')
  })

  it('starts another batch with the idempotency key of one that was deleted', async () => {
    const headers = { 'Idempotency-Key': system.newId() }
    const first = await started('echo', texts(2), { headers })
    await ended(first.id)
    const [{ executionId }] = await results(first.id)
    await own.call('DELETE', `/v1/batches/${first.id}`)
    const isGone = async () => (await own.call('GET', `/v1/agent_executions/${executionId}`)).status === 404
    await waitUntil(isGone, { what: 'the deletion of the executions', limitMs: 10_000 })
    // 503 until all is deleted.
    const isStarted = async () => (await start('echo', texts(2), { headers })).status === 202
    await waitUntil(isStarted, { what: 'another batch', limitMs: 20_000 })
    expect((await started('echo', texts(2), { headers })).id).not.toBe(first.id)
  })

  it('refuses what is too much', async () => {
    const many = await start('echo', texts(10_001))
    expect([many.status, many.json.detail]).toEqual([
      413,
      'The batch has 10001 lines; at most 10000 are allowed. Split it into several batches.',
    ])
    const large = [line('a', { text: 'x'.repeat(3_000_000) }), line('b', { text: '"'.repeat(900_000) })]
    const escaped = await start('echo', large)
    expect([escaped.status, escaped.json.detail]).toEqual([413, expect.stringContaining('Split a batch')])
    const none = await start('echo', [])
    expect([none.status, none.json.detail]).toEqual([422, expect.stringContaining('The batch has no lines.')])
  })

  it('needs the scope manage for a draft, and a version that accepts runs', async () => {
    const draft = await own.publish('echo', { draft: true, title: 'Draft' })
    const client = await own.withLimits({ scopes: ['run'] })
    const query = `version=${draft.id}`
    expect((await start('echo', texts(1), { query, client })).json.code).toBe('Forbidden')
    await own.publish('counted')
    await own.call('POST', '/v1/agents/counted/archive')
    const headers = { 'Idempotency-Key': 'archived' }
    for (const options of [{}, { headers }, { query: 'validateOnly=true', headers }])
      expect((await start('counted', texts(1), options)).json.code).toBe('AgentArchived')
  })

  it('keeps the digits of numbers', async () => {
    const raw = '{"customId":"a","input":{"text":12345678901234567890.10}}'
    const { json } = await own.call('POST', '/v1/agents/echo/batches', { raw, headers: NDJSON })
    await ended(json.id)
    expect((await results(json.id))[0].output).toEqual({ text: '12345678901234567890.10' })
    expect((await own.call('GET', `/v1/batches/${json.id}/executions`)).text).toContain(
      '12345678901234567890.10',
    )
  })
})
