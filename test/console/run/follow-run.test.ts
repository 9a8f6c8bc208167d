import { describe, expect, it } from 'vitest'
import type { SentEvent } from '../../../clients/typescript/src/runs/sse.ts'
import { followRun } from '../../../console/run/follow-run.ts'

const sent = (event: string, data: object, id?: string): SentEvent => ({
  event,
  id,
  data: JSON.stringify(data),
})
const text = (piece: string) => sent('delta', { step: 1, try: 1, text: piece })
const call = (id: string, piece: string) =>
  sent('delta', { step: 1, try: 1, toolCall: { id, name: 'add', arguments: piece } })
const step = sent('step', { number: 1 }, '1')
const done = sent('done', { status: 'SUCCESS' })

/** What the page shows after each event. */
async function shownBy(streams: SentEvent[][]): Promise<string[]> {
  const shown: string[] = []
  await followRun({
    open: async () => {
      const events = streams.shift() ?? []
      return (async function* () {
        yield* events
      })()
    },
    signal: new AbortController().signal,
    onReconnecting: () => undefined,
    onSteps: () => undefined,
    onLive: (live) => void shown.push(live),
  })
  return shown
}

describe('followRun', () => {
  it('shows text and calls as they are written, until their step', async () => {
    const events = [
      text('I a'),
      text('dd.'),
      call('a', '{"x"'),
      call('b', '{}'),
      call('a', ':1}'),
      step,
      done,
    ]
    expect(await shownBy([events])).toEqual([
      'I a',
      'I add.',
      'I add.\nadd: {"x"',
      'I add.\nadd: {"x"\nadd: {}',
      'I add.\nadd: {"x":1}\nadd: {}',
      '',
    ])
  })

  it('begins again after a reset, in another stream, and at the end', async () => {
    const reset = sent('reset', { step: 1, try: 1 })
    const streams = [
      [text('a'), reset, text('b')],
      [text('bc'), done],
    ]
    expect(await shownBy(streams)).toEqual(['a', '', 'b', '', 'bc', ''])
  })
})
