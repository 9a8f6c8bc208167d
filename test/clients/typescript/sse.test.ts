import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EventParser, type SentEvent } from '../../../clients/typescript/src/runs/sse.ts'

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
