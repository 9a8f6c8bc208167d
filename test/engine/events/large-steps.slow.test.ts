import { randomBytes } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import type { ExecutionEvent } from '../../../lib/core/step.ts'
import { openStores } from '../../../lib/dynamodb/open-stores.ts'
import { openEvents } from '../../../lib/engine/events/open-events.ts'
import { anExecution, modelStep, NO_PROGRESS, toolCall } from '../../support/engine/executions.ts'
import { EMULATORS, tableOn } from '../../support/tables/emulators.ts'

/** The present: a sweeper deletes old payloads that nothing refers to yet. */
const at = new Date().toISOString()
const times = { startedAt: at, finishedAt: at }
const textOf = (kilobytes: number) => randomBytes(kilobytes * 750).toString('base64')

/** In kilobytes of JSON: the text of each step, and the results of its calls. The readers' pages have 1,000. */
const STEPS: [text: number, ...results: number[]][] = [
  [700],
  [700, 3_000, 2_000],
  [1_200],
  [1, 400, 400, 400],
  [1],
  [700, 400],
  [700, 400],
  [1, 1],
]

describe.each(EMULATORS)('read of a journal with large steps on %s', (emulator) => {
  const stores = openStores(tableOn(emulator))
  const execution = { ...anExecution(), status: 'SUCCESS' as const, openUntil: null }
  const { id, organizationId } = execution

  beforeAll(async () => {
    await stores.executions.create({ execution })
    for (const [index, [text, ...results]] of STEPS.entries()) {
      const number = index + 1
      const calls = results.map((_, i) => toolCall(`call ${i}`))
      const step = modelStep({ number, text: textOf(text), calls, ...times })
      await stores.steps.append({ executionId: id, owner: 'me', step, progress: NO_PROGRESS })
      for (const [i, kilobytes] of results.entries()) {
        const result = { ok: true as const, value: textOf(kilobytes) }
        const stored = { callId: `call ${i}`, result, ...times }
        await stores.steps.appendResult({ executionId: id, number, result: stored })
      }
    }
  })

  /** A signal that reports a reader that asks it again and again without letting anything else happen. */
  function watchedSignal() {
    let asked = 0
    const watch = setInterval(() => {
      asked = 0
    })
    const { signal } = new AbortController()
    Object.defineProperty(signal, 'aborted', {
      get: () => {
        if (asked++ > 1_000) throw new Error('The reader blocks the event loop.')
        return false
      },
    })
    return { signal, stop: () => clearInterval(watch) }
  }

  async function readFrom(after: number): Promise<string[]> {
    const { signal, stop } = watchedSignal()
    const seen: string[] = []
    const params = { organizationId, id, status: execution.status, after, maxMs: 60_000, signal }
    try {
      for await (const batch of openEvents(stores).read(params)) seen.push(...batch.map(describeEvent))
    } finally {
      stop()
    }
    return seen
  }

  const describeEvent = (event: ExecutionEvent) => {
    if (event.kind === 'step') return `step ${event.recorded.step.number}`
    return event.kind === 'tool' ? `tool ${event.recorded.step.number} ${event.callId}` : event.kind
  }

  const expectedFrom = (after: number) => [
    'status',
    ...STEPS.flatMap(([, ...results], index) => [
      ...(index + 1 > after ? [`step ${index + 1}`] : []),
      ...(index + 1 >= after ? results.map((_, i) => `tool ${index + 1} call ${i}`) : []),
    ]),
    'done',
  ]

  const starts = [0, ...STEPS.map((_, i) => i + 1)]
  it.each(starts)('continues after step %i, to the end', async (after) => {
    const sorted = (events: string[]) => events.toSorted()
    expect(sorted(await readFrom(after))).toEqual(sorted(expectedFrom(after)))
  })

  it('pages of the list contain every step once, with all of its results', async () => {
    const numbers: number[] = []
    let after = null
    do {
      const page = await stores.steps.list({ executionId: id, limit: 3, after, maxBytes: 1_000_000 })
      for (const { step, results } of page.items) {
        numbers.push(step.number)
        expect(results.size).toBe((STEPS[step.number - 1]?.length ?? 0) - 1)
      }
      after = page.next
    } while (after)
    expect(numbers).toEqual(STEPS.map((_, i) => i + 1))
  })

  it('a page without progress is an error', async () => {
    const list = async () => ({ items: [], next: { order: '1' } })
    const stuck = { ...stores, steps: { ...stores.steps, list } }
    const { signal, stop } = watchedSignal()
    const params = { organizationId, id, status: execution.status, after: 1, maxMs: 60_000, signal }
    const readAll = async () => {
      for await (const _ of openEvents(stuck).read(params));
    }
    await expect(readAll()).rejects.toThrow(`The steps of ${id} from 1 on have no end.`)
    stop()
  })
})
