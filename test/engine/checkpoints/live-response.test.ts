import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { DeltaEvent, ResponseSoFar } from '../../../lib/core/step.ts'
import { DeltaCursor, LiveResponse } from '../../../lib/engine/checkpoints/live-response.ts'
import { SecretMask } from '../../../lib/tools/secret-mask.ts'
import { propertyRuns } from '../../support/data/property-runs.ts'

function aResponse({ attempts = 1, mask = new SecretMask(), watchedUntil = 0 } = {}) {
  const kept: ResponseSoFar[] = []
  const keepResponse = async ({ response }: { response: ResponseSoFar }) => void kept.push(response)
  const journal = { watchedUntil }
  const live = new LiveResponse({
    execution: { id: randomUUID(), attempts },
    mask,
    journal,
    steps: { keepResponse },
  })
  return Object.assign(live, { kept, journal })
}

/** A response to the first step with these pieces so far, and a reader of it. */
function responding(pieces: string[] = [], options: Parameters<typeof aResponse>[0] = {}) {
  const live = aResponse(options)
  live.begin(1)
  for (const text of pieces) live.add({ text })
  return { live, reader: new DeltaCursor() }
}

/** What a reader has assembled, by step and try; texts that were reset are gone. */
function assemble(events: DeltaEvent[]): Record<string, string> {
  const texts: Record<string, string> = {}
  for (const event of events) {
    const key = `${event.step}/${event.try}`
    if (event.kind === 'reset') delete texts[key]
    else if ('text' in event) texts[key] = (texts[key] ?? '') + event.text
  }
  return texts
}

describe('LiveResponse', () => {
  it('joins the pieces that arrive between two reads', () => {
    const { live, reader } = responding(['a', 'b', 'c'])
    live.add({ toolCall: { id: 'c1', name: 'add', arguments: '{"a"' } })
    live.add({ toolCall: { id: 'c1', name: 'add', arguments: ':1}' } })
    expect(reader.take(live, 0)).toEqual([
      { kind: 'delta', step: 1, try: 1, text: 'abc' },
      { kind: 'delta', step: 1, try: 1, toolCall: { id: 'c1', name: 'add', arguments: '{"a":1}' } },
    ])
    expect(reader.take(live, 0)).toEqual([])
  })

  it('makes the deltas of a failed response void, once', () => {
    const { live, reader } = responding(['wrong'], { attempts: 2 })
    reader.take(live, 0)
    live.fail()
    expect(reader.take(live, 0)).toEqual([{ kind: 'reset', step: 1, try: 1_001 }])
    live.begin(1)
    live.add({ text: 'right' })
    expect(reader.take(live, 0)).toEqual([{ kind: 'delta', step: 1, try: 1_002, text: 'right' }])
  })

  it('makes the deltas of another worker void', () => {
    const reader = new DeltaCursor()
    const [first, second] = [aResponse(), aResponse({ attempts: 2 })]
    for (const live of [first, second]) {
      live.begin(2)
      live.add({ text: 'x' })
    }
    reader.take(first, 1)
    expect(reader.take(second, 1).map(({ kind, try: number }) => [kind, number])).toEqual([
      ['reset', 1],
      ['delta', 1_001],
    ])
  })

  it('shows nothing of a step that the reader has', () => {
    const { live, reader } = responding(['old'])
    expect(reader.take(live, 1)).toEqual([])
  })

  it('masks a secret that is split over pieces, at every cut and every read', () => {
    const mask = new SecretMask()
    mask.add('KEY', 'sk-12345678')
    const text = 'The key is sk-12345678, keep it.'
    for (let cut = 1; cut < text.length; cut++) {
      const { live, reader } = responding([], { mask })
      const events = [text.slice(0, cut), text.slice(cut), ' '].flatMap((piece) => {
        live.add({ text: piece })
        return reader.take(live, 0)
      })
      expect(assemble(events)['1/1']).toBe('The key is [secret KEY], keep it. ')
      expect(JSON.stringify(events)).not.toMatch(/sk-1|12345678/)
    }
  })

  it('shows each reader a prefix of the step, or text that a reset makes void', () => {
    const action = fc.oneof(
      { weight: 6, arbitrary: fc.string({ minLength: 1, maxLength: 8 }) },
      { weight: 1, arbitrary: fc.constant('FAIL' as const) },
      { weight: 4, arbitrary: fc.constant('READ' as const) },
      { weight: 1, arbitrary: fc.constant('STEP' as const) },
    )
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
        const { live, reader } = responding()
        const events: DeltaEvent[] = []
        const stored: Record<number, { try: number; text: string }> = {}
        let [step, text] = [1, '']
        for (const each of actions) {
          if (each === 'READ') events.push(...reader.take(live, step - 1))
          else if (each === 'FAIL') {
            text = ''
            live.fail()
            live.begin(step)
          } else if (each === 'STEP') {
            stored[step] = { try: live.try, text }
            text = ''
            live.begin(++step)
          } else {
            text += each
            live.add({ text: each })
          }
        }
        events.push(...reader.take(live, step - 1))
        stored[step] = { try: live.try, text }
        const shown = assemble(events)
        for (const [key, assembled] of Object.entries(shown)) {
          const [number, tried] = key.split('/').map(Number)
          const final = stored[number ?? 0]
          // A step that is stored supersedes the deltas of all tries.
          if (number === step) expect(tried).toBe(final?.try)
          if (tried === final?.try) expect(final?.text.startsWith(assembled)).toBe(true)
        }
        expect(shown[`${step}/${live.try}`] ?? '').toBe(text)
      }),
      { numRuns: propertyRuns(300) },
    )
  })

  it('takes nothing from what is kept for other processes that it has already', () => {
    const { live, reader } = responding(['ab'])
    const kept = { step: 1, try: 1, isVoid: false, parts: [{ call: null, text: 'a' }] }
    expect(reader.take(live, 0)).toHaveLength(1)
    expect(reader.take(kept, 0)).toEqual([])
    live.fail()
    expect(reader.take(live, 0)).toEqual([{ kind: 'reset', step: 1, try: 1 }])
    expect(reader.take(kept, 0)).toEqual([])
  })

  it('makes deltas void before the step of another attempt, and not before one of its own', () => {
    for (const attempt of [1, 2]) {
      const { live, reader } = responding(['a'])
      reader.take(live, 0)
      expect(reader.supersede({ number: 1, attempt })).toHaveLength(attempt - 1)
    }
  })
})

describe('what is kept for readers in other processes', () => {
  const open = (watchedUntil = Number.POSITIVE_INFINITY) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] })
    return responding([], { watchedUntil }).live
  }
  const write = async (live: LiveResponse, pieces: number, ms: number) => {
    for (let count = 0; count < pieces; count++) {
      live.add({ text: 'x' })
      await vi.advanceTimersByTimeAsync(ms)
    }
  }
  afterEach(() => void vi.useRealTimers())

  it('is nothing while nobody watches', async () => {
    const live = open(0)
    await write(live, 1_000, 5)
    live.fail()
    live.close(0)
    await vi.advanceTimersByTimeAsync(5_000)
    expect(live.kept).toEqual([])
  })

  it('is the response so far, once a second, from the mark on', async () => {
    const live = open(0)
    await write(live, 200, 5)
    live.journal.watchedUntil = Date.now() + 1_900
    await write(live, 1_000, 5)
    expect(live.kept.map(({ parts: [part] }) => part?.text.length)).toEqual([201, 400, 600])
    const parts = [{ call: null, text: 'x'.repeat(201) }]
    expect(live.kept[0]).toEqual({ step: 1, try: 1, isVoid: false, parts })
  })

  it('is what a reader lacks that came while the model paused, once', async () => {
    const live = open(0)
    await write(live, 3, 5)
    live.catchUp()
    live.journal.watchedUntil = Number.POSITIVE_INFINITY
    for (const _ of [1, 2, 3]) {
      live.catchUp()
      await vi.advanceTimersByTimeAsync(3_000)
    }
    expect(live.kept.map(({ parts: [part] }) => part?.text)).toEqual(['xxx'])
  })

  it('includes the last piece of a pause, and that the response is void', async () => {
    const live = open()
    await write(live, 2, 5)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(live.kept.at(-1)?.parts[0]?.text).toBe('xx')
    live.close(0)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(live.kept.at(-1)).toMatchObject({ isVoid: true, parts: [] })
  })

  it('is not written after the step is stored, nor by a run that was given up', async () => {
    const live = open()
    await write(live, 2, 5)
    const { length } = live.kept
    live.close(1)
    await write(live, 200, 100)
    expect(live.kept).toHaveLength(length)
  })
})
