import fc from 'fast-check'
import { describe, expect, expectTypeOf, it } from 'vitest'
import type { Client, DeepPartial, Wait } from '../../../clients/typescript/src/index.ts'
import { parsePartial } from '../../../clients/typescript/src/runs/partial.ts'
import { EventParser, type SentEvent } from '../../../clients/typescript/src/runs/sse.ts'
import { propertyRuns } from '../../support/data/property-runs.ts'
import { type Answer, hang, json, SOON, scriptedService } from './scripted-service.ts'

const ID = '01a2003a-d1f2-7169-a695-5ea4428d9251'

const HEADERS = { 'X-Execution-Id': ID, Location: `/v1/agent_executions/${ID}`, 'Retry-After': '0' }

const waitFor = (name: string): Wait => ({ kind: 'approval', name, since: '', until: null, id: name })

const running = (waitingFor: Wait[] | null) => ({ id: ID, status: 'IN_PROGRESS', waitingFor })

const record = (waitingFor: Wait[] | null) => json(200, running(waitingFor), { 'Retry-After': '0' })

const accepted = json(202, running([waitFor('refund')]), HEADERS)

const success = json(200, { id: ID, status: 'SUCCESS', output: { done: true }, waitingFor: null })

/** A run that takes these answers, and what it was told to wait for. */
async function run(answers: Answer[], onWaiting?: () => unknown, options: object = {}) {
  const { client, requests } = await scriptedService(answers)
  const told: string[][] = []
  const tell = (waitingFor: Wait[], { id }: { id: string }) => {
    told.push(waitingFor.map(({ name }) => name))
    expect(id).toBe(ID)
    return onWaiting?.()
  }
  const ended = client.run('refund', {}, { ...options, onWaiting: tell })
  ended.catch(() => undefined)
  return { requests, told, ended }
}

describe('run', () => {
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
    const cancel = { method: 'POST', path: `/v1/agent_executions/${ID}/cancel` }
    expect(aborted.requests.at(-1)).toMatchObject(cancel)
    const late = await run([accepted, record([waitFor('refund')]), hang], never, { timeoutMs: 300 })
    await expect(late.ended).rejects.toMatchObject({ code: 'ClientTimeout', executionId: ID })
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
        const within = positions.map((position) => position % text.length).sort((a, b) => a - b)
        const ends = [0, ...within, text.length]
        const parts = ends.slice(1).map((stop, index) => text.slice(ends[index], stop))
        expect(parse(...parts)).toEqual(events)
      }),
    )
  })
})

describe('stream with deltas', () => {
  it('has the types of the output, and those of deltas only with the option', () => {
    type Agents = { echo: { input: object; output: { kind: 'a' | 'b'; items: { n: number }[] } } }
    const client = null as unknown as Client<Agents>
    const [plain, live] = [() => client.stream('echo', {}), () => client.stream('echo', {}, { deltas: true })]
    type EventOf<T extends () => AsyncGenerator<unknown>> =
      ReturnType<T> extends AsyncGenerator<infer E> ? E : never
    expectTypeOf<Extract<EventOf<typeof plain>, { event: 'delta' | 'partial' }>>().toBeNever()
    type Partial = Extract<EventOf<typeof live>, { event: 'partial' }>['data']
    expectTypeOf<Partial>().toEqualTypeOf<{ kind?: string; items?: { n?: number }[] }>()
    expectTypeOf<DeepPartial<{ a: string | null }>>().toEqualTypeOf<{ a?: string | null }>()
  })
})

/** Whether one value can be the beginning of another. */
function begins(part: unknown, whole: unknown): boolean {
  if (typeof part === 'string') return typeof whole === 'string' && whole.startsWith(part)
  if (typeof part !== 'object' || part === null || typeof whole !== 'object' || whole === null)
    return Object.is(part, whole)
  return Object.entries(part).every(([name, value]) =>
    begins(value, (whole as Record<string, unknown>)[name]),
  )
}

describe('parsePartial', () => {
  it('of each beginning is the beginning of the whole', () => {
    const value = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 })
    fc.assert(
      fc.property(value, fc.constantFrom(0, 2), (given, indent) => {
        const whole = JSON.stringify(given, null, indent)
        const expected = JSON.parse(whole)
        for (let cut = 1; cut <= whole.length; cut++)
          expect(begins(parsePartial(whole.slice(0, cut), JSON.parse), expected)).toBe(true)
        expect(parsePartial(whole, JSON.parse)).toEqual(expected)
      }),
      { numRuns: propertyRuns(200) },
    )
  })
})
