import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Wait } from '../../../clients/typescript/src/index.ts'
import { EventParser, type SentEvent } from '../../../clients/typescript/src/runs/sse.ts'
import {
  type Answer,
  collect,
  drop,
  events,
  hang,
  html,
  json,
  SOON,
  scriptedService,
} from './scripted-service.ts'

const ID = '01a2003a-d1f2-7169-a695-5ea4428d9251'

const HEADERS = { 'X-Execution-Id': ID, Location: `/v1/agent_executions/${ID}`, 'Retry-After': '0' }

const waitFor = (name: string): Wait => ({ kind: 'approval', name, since: '', until: null, id: name })

const running = (waitingFor: Wait[] | null) => ({ id: ID, status: 'IN_PROGRESS', waitingFor })

const record = (waitingFor: Wait[] | null) => json(200, running(waitingFor), { 'Retry-After': '0' })

const accepted = json(202, running([waitFor('refund')]), HEADERS)

const success = json(200, { id: ID, status: 'SUCCESS', output: { done: true }, waitingFor: null })

const withoutBody: Answer = (response) => void response.writeHead(202, HEADERS).end()

/** A run that takes these answers, and what it was told to wait for. */
async function run(answers: Answer[], onWaiting?: () => unknown, options: object = {}) {
  const { client, requests } = await scriptedService(answers)
  const told: string[][] = []
  const ended = client.run(
    'refund',
    {},
    {
      ...options,
      onWaiting(waitingFor, { id }) {
        told.push(waitingFor.map(({ name }) => name))
        expect(id).toBe(ID)
        return onWaiting?.()
      },
    },
  )
  ended.catch(() => undefined)
  return { requests, told, ended }
}

describe('run', () => {
  it('waits for the end of a suspended run, and tells each list of waits once', async () => {
    const both = [waitFor('refund'), waitFor('letter')]
    const waits = [record(both), record(both), record(null), record([waitFor('letter')])]
    const { ended, told, requests } = await run([accepted, ...waits, record([waitFor('letter')]), success])
    expect(await ended).toEqual({ done: true })
    expect(told).toEqual([['refund', 'letter'], ['letter']])
    expect(requests.slice(1).every(({ headers }) => headers.prefer === undefined)).toBe(true)
    expect(requests[0]?.path).toBe('/v1/agents/refund/executions?execMode=sync')
  })

  it.each<[string, Answer]>([
    ['without a body', withoutBody],
    ['whose headers a proxy has removed', json(202, running([waitFor('refund')]))],
  ])('understands a 202 %s', async (_, answer) => {
    const { ended, told } = await run([answer, record([waitFor('refund')]), success])
    expect(await ended).toEqual({ done: true })
    expect(told).toEqual([['refund']])
  })

  it.each<[string, Answer]>([
    ['nothing', json(202, {})],
    ['a page', html(202)],
  ])('rejects a 202 that is %s', async (_, answer) => {
    const { ended } = await run([answer])
    await expect(ended).rejects.toMatchObject({ code: 'UnexpectedResponse', status: 202 })
  })

  it('reads again only when onWaiting has resolved', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const answers = [accepted, record([waitFor('refund')]), success]
    const { ended, told, requests } = await run(answers, () => promise)
    await expect.poll(() => told, SOON).toHaveLength(1)
    expect(requests).toHaveLength(2)
    resolve()
    expect(await ended).toEqual({ done: true })
  })

  it('ends at once when its signal aborts or its time is over, also during onWaiting', async () => {
    const controller = new AbortController()
    const never = () => new Promise(() => undefined)
    const answers = [accepted, record([waitFor('refund')]), json(200, {})]
    const aborted = await run(answers, never, { signal: controller.signal, cancelOnAbort: true })
    await expect.poll(() => aborted.told, SOON).toHaveLength(1)
    controller.abort('enough')
    await expect(aborted.ended).rejects.toBe('enough')
    expect(aborted.requests.at(-1)).toMatchObject({
      method: 'POST',
      path: `/v1/agent_executions/${ID}/cancel`,
    })
    const late = await run([accepted, record([waitFor('refund')]), hang], never, { timeoutMs: 300 })
    await expect(late.ended).rejects.toMatchObject({ code: 'ClientTimeout', executionId: ID })
  })
})

describe('stream', () => {
  it('yields what the run waits for, once, and continues when it goes on', async () => {
    const block = (event: string, data: object) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
    const status = block('status', { id: ID, status: 'IN_PROGRESS' })
    const waiting = (name: string) => block('waiting', { id: ID, waitingFor: [waitFor(name)] })
    const suspended = (name: string) => events([status, waiting(name), 'retry: 1\n\n'], 'end', HEADERS)
    const done = events([block('done', { id: ID, status: 'SUCCESS' })])
    const answers = [suspended('a'), suspended('a'), suspended('b'), done]
    const { client, requests } = await scriptedService(answers)
    const all = await collect(client.stream('refund', {}))
    expect(all.map(({ event, data }) => (event === 'waiting' ? data.waitingFor[0]?.name : event))).toEqual([
      'status',
      'a',
      'b',
      'done',
    ])
    expect(requests).toHaveLength(4)
  })
})

describe('the decision on a call', () => {
  it('is an event before that of its result', async () => {
    const block = (event: string, data: object) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
    const call = { step: 1, id: 'c', name: 'refund', approval: { id: 'a', decision: 'approve' } }
    const decided = block('tool', call)
    const ended = block('tool', { ...call, result: 1, durationMs: 5 })
    const answers = [
      events([decided, 'retry: 1\n\n'], 'end', HEADERS),
      events([decided, ended, ended, block('done', { id: ID })]),
    ]
    const { client } = await scriptedService(answers)
    const all = await collect(client.stream('refund', {}))
    expect(all.map(({ event, data }) => (event === 'tool' ? data.result : event))).toEqual([
      undefined,
      1,
      'done',
    ])
  })
})

describe('approvals and signals', () => {
  it('are requests', async () => {
    const { client, requests } = await scriptedService([
      drop,
      json(200, { id: 'a1', decision: 'approve' }),
      drop,
      json(202, { executionId: ID, id: 's1' }),
      json(202, { executionId: ID, id: 's2' }),
    ])
    const decision = { decision: 'approve', note: 'ok', input: { usd: 5 } } as const
    expect(await client.decide(ID, 'a1', decision)).toMatchObject({ decision: 'approve' })
    expect(await client.signal(ID, 'paid', { usd: 5 })).toEqual({ executionId: ID, id: 's1' })
    await client.signal(ID, 'go on', undefined, { idempotencyKey: 'order-7' })
    expect(requests.map(({ method, path, body }) => `${method} ${path} ${body}`.trim())).toEqual([
      ...Array(2).fill(`POST /v1/agent_executions/${ID}/approvals/a1 ${JSON.stringify(decision)}`),
      ...Array(2).fill(`POST /v1/agent_executions/${ID}/signals/paid {"usd":5}`),
      `POST /v1/agent_executions/${ID}/signals/go%20on null`,
    ])
    const keys = requests.slice(2).map(({ headers }) => headers['idempotency-key'])
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/)
    expect(keys).toEqual([keys[0], keys[0], 'order-7'])
  })
})

const parse = (...parts: string[]): SentEvent[] => {
  const parser = new EventParser()
  return parts.flatMap((part) => parser.push(part))
}

const lineOf = fc.string({ unit: 'grapheme' }).map((text) => text.replace(/[\r\n]/g, ''))

describe('EventParser', () => {
  it('parses the events of the specification', () => {
    expect(
      parse(': test\n\ndata: first\nid: 1\n\ndata:second\nid\n\ndata:  third\nunknown: x\n\ndata: lost\n'),
    ).toEqual([
      { event: '', data: 'first', id: '1' },
      { event: '', data: 'second', id: '' },
      { event: '', data: ' third', id: undefined },
    ])
    expect(parse('data\n\ndata\ndata\n\n')).toEqual([
      { event: '', data: '', id: undefined },
      { event: '', data: '\n', id: undefined },
    ])
  })

  it('keeps the reconnection time', () => {
    const parser = new EventParser()
    expect(parser.retryMs).toBeUndefined()
    parser.push('retry: soon\n\nretry: -1\n\nretry: \n\n')
    expect(parser.retryMs).toBeUndefined()
    parser.push('retry: 1000\n\n')
    expect(parser.retryMs).toBe(1000)
  })

  it('parses the same events however the stream is divided, for every kind of line end', () => {
    const event = fc.record({
      event: fc.constantFrom('status', 'step', 'done'),
      data: fc.array(lineOf, { minLength: 1, maxLength: 3 }).map((lines) => lines.join('\n')),
      id: fc.option(fc.nat().map(String), { nil: undefined }),
    })
    const cuts = fc.array(fc.nat(), { maxLength: 10 })
    fc.assert(
      fc.property(fc.array(event), cuts, fc.constantFrom('\n', '\r\n', '\r'), (events, positions, end) => {
        const lines = events.flatMap(({ event, data, id }) => [
          ...(id === undefined ? [] : [`id: ${id}`]),
          `event: ${event}`,
          ...data.split('\n').map((line) => `data: ${line}`),
          '',
        ])
        // What follows completes a carriage return at the end.
        const text = [...lines, ':'].join(end)
        const ends = [
          0,
          ...positions.map((position) => position % text.length).sort((a, b) => a - b),
          text.length,
        ]
        const parts = ends.slice(1).map((stop, index) => text.slice(ends[index], stop))
        expect(parse(...parts)).toEqual(events)
      }),
    )
  })
})
