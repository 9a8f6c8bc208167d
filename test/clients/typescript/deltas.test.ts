import fc from 'fast-check'
import { describe, expect, expectTypeOf, it } from 'vitest'
import type { Client, DeepPartial, ExecutionEvent, LiveEvent } from '../../../clients/typescript/src/index.ts'
import { parsePartial } from '../../../clients/typescript/src/runs/partial.ts'
import { propertyRuns } from '../../support/data/property-runs.ts'
import { drop, events, scriptedService } from './scripted-service.ts'

const ID = '01a2003a-d1f2-7169-a695-5ea4428d9251'
const HEADERS = { 'X-Execution-Id': ID }
const block = (event: string, data: unknown) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
const delta = (step: number, number: number, piece: string) =>
  block('delta', { step, try: number, toolCall: { id: 'c', name: 'final_answer', arguments: piece } })
const text = (piece: string) => block('delta', { step: 1, try: 1, text: piece })
const reset = (step: number, number: number) => block('reset', { step, try: number })
const step = (number: number) => `id: ${number}\n${block('step', { number })}`
const done = block('done', { id: ID, status: 'SUCCESS', output: { a: 'xyz' } })

const nameOf = ({ event, data }: ExecutionEvent | LiveEvent): string => {
  if (event === 'partial') return JSON.stringify(data)
  if (event === 'reset') return `reset ${data.step} ${data.try}`
  return event === 'delta' ? (data.text ?? data.toolCall.arguments) : event
}

async function readAll(client: Client) {
  const names: string[] = []
  for await (const event of client.stream('echo', {}, { deltas: true })) names.push(nameOf(event))
  return names
}

describe('stream with deltas', () => {
  it('yields the output so far, of arguments of the final answer and of text that is JSON', async () => {
    const call = block('delta', {
      step: 1,
      try: 1,
      toolCall: { id: 'o', name: 'look_up', arguments: '{"b":1}' },
    })
    const parts = [text('I look.'), call, step(1), delta(2, 1, '{"a":"x'), delta(2, 1, 'y'), step(2), done]
    const { client, requests } = await scriptedService([events(parts)])
    const all = await readAll(client)
    expect(all.slice(0, 3)).toEqual(['I look.', '{"b":1}', 'step'])
    expect(all.slice(3)).toEqual(['{"a":"x', '{"a":"x"}', 'y', '{"a":"xy"}', 'step', 'done'])
    expect(requests[0]?.path).toBe('/v1/agents/echo/executions?deltas=true&execMode=sync')
    const structured = await scriptedService([events([text('{"a"'), text(':"x'), step(1), done])])
    expect(await readAll(structured.client)).toEqual(['{"a"', '{}', ':"x', '{"a":"x"}', 'step', 'done'])
  })

  it('begins the output again after a reset, and for another try', async () => {
    const parts = [
      delta(1, 1, '{"a":"x'),
      reset(1, 1),
      delta(1, 2, '{"a":"y'),
      delta(1, 1_001, '{"a":"z'),
      step(1),
      done,
    ]
    const { client } = await scriptedService([events(parts)])
    expect((await readAll(client)).filter((name) => name.endsWith('"}'))).toEqual([
      '{"a":"x"}',
      '{"a":"y"}',
      '{"a":"z"}',
    ])
  })

  it('yields a reset after a break, before the response so far, and none for a step that it has', async () => {
    const first = events([delta(1, 1, '{"a":"x')], 'break', HEADERS)
    const second = events([delta(1, 1, '{"a":"xy'), step(1)], 'break')
    const { client, requests } = await scriptedService([first, drop, second, events([done])])
    expect(await readAll(client)).toEqual([
      ...['{"a":"x', '{"a":"x"}', 'reset 1 1', '{"a":"xy', '{"a":"xy"}'],
      ...['step', 'done'],
    ])
    const path = `/v1/agent_executions/${ID}/events?deltas=true`
    expect(requests.slice(1).map((request) => [request.path, request.headers['last-event-id']])).toEqual([
      [path, '0'],
      [path, '0'],
      [path, '1'],
    ])
  })

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
  it.each([
    ['', undefined],
    ['I think', undefined],
    ['[1', undefined],
    [' {', {}],
    ['{"a', {}],
    ['{"a":', {}],
    ['{"a":1', {}],
    ['{"a":1,', { a: 1 }],
    ['{"a":tru', {}],
    ['{"a":"\\', { a: '' }],
    ['{"a":"\\u00e', { a: '' }],
    ['{"a":"\\"', { a: '"' }],
    ['{"a":"x","b', { a: 'x' }],
    ['{"a":[{"b":"c"},{', { a: [{ b: 'c' }, {}] }],
    ['{"a":}', undefined],
  ])('of %s is %j', (given, expected) => expect(parsePartial(given, JSON.parse)).toEqual(expected))

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
