import { describe, expect, inject, it } from 'vitest'
import { collect } from '../support/data/collect.ts'
import { getNextLink, idsOf, waitForEnd } from '../support/service/client.ts'
import { openEventStream } from '../support/service/event-stream.ts'
import { organizationWith } from '../support/service/organization-with.ts'

const NDJSON = { 'Content-Type': 'application/x-ndjson' }

const own = await organizationWith('echo', 'failing', 'wait', 'waits')

type Line = { customId: string; input: object }
const line = (customId: string, input: object): Line => ({ customId, input })
const texts = (count: number) =>
  Array.from({ length: count }, (_, index) => line(`line-${index}`, { text: `text ${index}` }))

const get = async (id: string) => (await own.call('GET', `/v1/batches/${id}`)).json
const results = async (id: string) => {
  const { text } = await own.call('GET', `/v1/batches/${id}/results`)
  return text
    .trimEnd()
    .split('\n')
    .map((each) => JSON.parse(each))
}
const count = async () => (await own.call('GET', '/v1/batches?limit=100')).json.length

describe('a batch', () => {
  it('runs its lines and has their results in order', async () => {
    const lines = [...texts(3), line('bad', { text: ['a', 'b'], count: 'many' }), line('last', { text: 'x' })]
    const raw = `\n${lines.map((each) => JSON.stringify(each)).join('\r\n\r\n')}\n`
    const query = 'tenantId=acme&maxConcurrency=2'
    const response = await own.call('POST', `/v1/agents/echo/batches?${query}`, { raw, headers: NDJSON })
    const { json: batch } = response
    expect(response.status, response.text).toBe(202)
    expect(response.headers.get('location')).toBe(`/v1/batches/${batch.id}`)
    expect(batch).toMatchObject({ tenantId: 'acme', lines: 5, maxConcurrency: 2, error: null, endedAt: null })

    const record = await waitForEnd(own.call, `/v1/batches/${batch.id}`)
    const executions = await own.call('GET', `/v1/batches/${batch.id}/executions`)
    const all = await results(batch.id)
    expect(idsOf(all, 'customId')).toEqual(idsOf(lines, 'customId'))
    expect(all[0]).toEqual({
      customId: 'line-0',
      executionId: executions.json[0].id,
      status: 'SUCCESS',
      output: { text: 'text 0' },
      error: null,
    })
    expect(idsOf(executions.json, 'customId')).toEqual(idsOf(lines, 'customId'))
    const common = { source: 'BATCH', batchId: batch.id, tenantId: 'acme' }
    expect(executions.json[4]).toMatchObject({ ...common, input: { text: 'x' } })
    const failed = all.filter(({ status }) => status === 'ERROR')
    const counts = { IN_PROGRESS: 0, SUCCESS: all.length - failed.length, ERROR: failed.length }
    expect(record).toEqual(expect.objectContaining({ counts, cancelled: 0, costUsd: 0 }))
    const summaries = await own.call('GET', `/v1/batches/${batch.id}/executions?fields=summary&limit=2`)
    expect(summaries.json).toHaveLength(2)
    expect(summaries.json[0].input).toBeUndefined()
    const next = await own.call('GET', getNextLink(summaries) ?? '')
    expect(idsOf(next.json, 'customId')).toEqual(['line-2', 'bad'])
    const errors = await own.call('GET', `/v1/batches/${batch.id}/executions?fields=summary&status=ERROR`)
    expect(idsOf(errors.json, 'customId')).toEqual(idsOf(failed, 'customId'))
    expect((await own.call('GET', '/v1/batches?agent=echo&tenantId=acme')).json).toContainEqual(record)
    expect((await own.call('GET', '/v1/batches?agent=waits')).json).not.toContainEqual(record)
    const listed = await own.call('GET', '/v1/agent_executions?tenantId=acme')
    expect(listed.json[0]).toMatchObject({ batchId: batch.id })
  })

  it('tells how it goes on until it has ended', async () => {
    const started = await own.call('POST', '/v1/agents/echo/batches', { body: texts(3) })
    const { id } = started.json
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
    const detail = '2 of 3 lines are invalid. No line was started.'
    expect([status, json.code, json.detail]).toEqual([422, 'InputSchemaMismatch', detail])
    const message = 'Line 3: /customId repeats that of line 1: each must be unique.'
    expect(json.errors).toEqual([
      { line: 3, path: '/customId', message },
      { line: 4, path: '', message: expect.stringMatching(/^Line 4: The line is not valid JSON: /) },
    ])
    expect(await count()).toBe(before)
  })

  it('refuses what Lambda would not pass on', async () => {
    const large = [line('a', { text: 'x'.repeat(3_000_000) }), line('b', { text: '"'.repeat(900_000) })]
    const { status, json } = await own.call('POST', '/v1/agents/echo/batches', { body: large })
    expect([status, json.detail]).toEqual([413, expect.stringContaining('Split a batch')])
  })
})
