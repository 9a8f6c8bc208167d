import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Unavailable } from '../../../lib/core/errors.ts'
import type { ExecutionStatus } from '../../../lib/core/execution.ts'
import type { ExecutionEvent, RecordedStep, ResponseSoFar } from '../../../lib/core/step.ts'
import { openEvents, type ReadEvents } from '../../../lib/engine/events/open-events.ts'
import { emitCompleted } from '../../../lib/engine/wait-for-completion.ts'
import { propertyRuns } from '../../support/data/property-runs.ts'
import { anExecution, modelStep, toolCall } from '../../support/engine/executions.ts'

// They stand still until a test advances them.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

const at = '2026-11-22T08:00:00.000Z'
const PAGE = 50

/** Lets everything happen that needs no timer. */
const settle = async () => {
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve))
}
const pass = async (ms: number) => {
  await settle()
  await vi.advanceTimersByTimeAsync(ms)
  await settle()
}

/** An execution with a journal that tests write, and the number of reads. */
function aJournal(page = PAGE) {
  const execution = anExecution()
  const { id, organizationId } = execution
  const journal = { steps: [] as RecordedStep[], status: 'IN_PROGRESS' as ExecutionStatus | null }
  const reads = { probe: 0, list: 0, get: 0 }
  const live = { response: null as ResponseSoFar | null, watchedUntil: 0 }
  const watched: number[] = []
  const failing = { probe: false, list: false }
  const held = { list: Promise.resolve() }
  const events = openEvents({
    executions: {
      get: async () => {
        reads.get++
        return journal.status && { ...execution, status: journal.status }
      },
      watch: async ({ until }) => {
        watched.push(until)
        live.watchedUntil = until
      },
    },
    steps: {
      probe: async ({ end: { number, pendingCalls }, withResponse }) => {
        reads.probe++
        if (failing.probe) throw new Unavailable(null)
        const results = journal.steps[number - 1]?.results
        const hasMore = journal.steps.length > number || pendingCalls.some((call) => results?.has(call))
        return {
          status: journal.status,
          suspension: null,
          hasMore,
          ...(withResponse && { live: { ...live } }),
        }
      },
      list: async ({ after }) => {
        reads.list++
        if (failing.list) throw new Unavailable(null)
        const from = Number(after?.order ?? 0)
        const items = journal.steps
          .slice(from, from + page)
          .map(({ step, results }) => ({ step, results: new Map(results) }))
        const hasMore = journal.steps.length > from + page
        await held.list
        return { items, next: hasMore ? { order: String(from + page) } : null }
      },
    },
  })

  return {
    id,
    journal,
    reads,
    failing,
    held,
    live,
    watched,
    find: (after: number) => events.find({ organizationId, id, after }),

    addStep(ids: string[] = [], attempt = 1): void {
      const number = journal.steps.length + 1
      const calls = ids.map((id) => toolCall(id))
      const usage = { inputTokens: 1, outputTokens: 1 }
      journal.steps.push({ step: modelStep({ number, attempt, calls, usage }), results: new Map() })
    },

    addResult(callId: string): void {
      const result = { ok: true as const, value: 'found' }
      journal.steps.at(-1)?.results.set(callId, { callId, result, startedAt: at, finishedAt: at })
    },

    /** Reads in the background. `seen`: the events so far, as text. */
    follow(options: Partial<ReadEvents> = {}) {
      const controller = new AbortController()
      const seen: string[] = []
      const reader = { isEnded: false, seen, error: '', close: () => controller.abort() }
      const read$ = async () => {
        const params = { organizationId, id, status: 'IN_PROGRESS' as const, after: 0, maxMs: 840_000 }
        for await (const batch of events.read({ ...params, signal: controller.signal, ...options }))
          seen.push(...batch.map(describeEvent))
        reader.isEnded = true
      }
      read$().catch(({ message }: Error) => {
        reader.error = message
      })
      return reader
    },
  }
}

/** A journal without steps, and a reader of it. */
async function followed(options?: Partial<ReadEvents>) {
  const run = aJournal()
  const reader = run.follow(options)
  await settle()
  return { run, reader }
}

function describeEvent(event: ExecutionEvent): string {
  if (event.kind === 'status') return event.status
  if (event.kind === 'step') return `step ${event.recorded.step.number}`
  if (event.kind === 'reset') return `reset ${event.step} ${event.try}`
  if (event.kind === 'delta') return `delta ${'text' in event ? event.text : event.toolCall.arguments}`
  if (event.kind === 'tool') return `tool ${event.recorded.step.number} ${event.callId}`
  return event.kind
}

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => `step ${from + i}`)

describe('find', () => {
  it('returns the status, and whether the step exists', async () => {
    const run = aJournal()
    run.addStep()
    expect(await run.find(0)).toEqual({ status: 'IN_PROGRESS', hasStep: true })
    expect(await run.find(1)).toEqual({ status: 'IN_PROGRESS', hasStep: true })
    expect(await run.find(2)).toEqual({ status: 'IN_PROGRESS', hasStep: false })
    run.journal.status = null
    expect(await run.find(0)).toMatchObject({ status: null })
  })

  it('needs no read while others are reading, unless it is about a step that they have not read', async () => {
    const run = aJournal()
    run.addStep()
    const reader = run.follow()
    await settle()
    const { probe } = run.reads
    expect(await run.find(1)).toEqual({ status: 'IN_PROGRESS', hasStep: true })
    expect(run.reads.probe).toBe(probe)
    expect(await run.find(2)).toMatchObject({ hasStep: false })
    expect(run.reads.probe).toBe(probe + 1)
    reader.close()
  })
})

describe('read', () => {
  it('yields a final execution at once, page by page, without polling', async () => {
    const run = aJournal()
    for (let i = 0; i < 2 * PAGE + 1; i++) run.addStep()
    run.journal.status = 'ERROR'
    const reader = run.follow({ status: 'ERROR' })
    await settle()
    expect(reader.seen).toEqual(['ERROR', ...numbers(1, 2 * PAGE + 1), 'done'])
    expect(run.reads.probe).toBe(0)
  })

  it('probes once per second for 200 readers, and reads what is new once', async () => {
    const run = aJournal()
    const readers = Array.from({ length: 200 }, () => run.follow())
    await pass(10_000)
    expect(run.reads).toEqual({ probe: 10, list: 1, get: 0 })
    run.addStep()
    await pass(1_000)
    run.journal.status = 'SUCCESS'
    await pass(1_000)
    for (const { seen } of readers) expect(seen).toEqual(['IN_PROGRESS', 'step 1', 'SUCCESS', 'done'])
    expect(run.reads).toMatchObject({ probe: 12, get: 1 })
    expect(run.reads.list).toBeLessThanOrEqual(3)
  })

  it('stops polling when the last reader has gone', async () => {
    const run = aJournal()
    const [first, second] = [run.follow(), run.follow()]
    await pass(1_000)
    first.close()
    await pass(1_000)
    expect(first.isEnded).toBe(true)
    second.close()
    await settle()
    const { probe } = run.reads
    await pass(60_000)
    expect(run.reads.probe).toBe(probe)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('ends at once when this process learns of the completion', async () => {
    const { run, reader } = await followed()
    run.journal.status = 'SUCCESS'
    emitCompleted(run.id)
    await settle()
    expect(reader.seen).toEqual(['IN_PROGRESS', 'SUCCESS', 'done'])
  })

  it('misses no step that is written while an earlier read is in flight', async () => {
    const { run, reader } = await followed()
    const { promise, resolve } = Promise.withResolvers<void>()
    run.held.list = promise
    run.addStep()
    await pass(1_000)
    run.addStep()
    run.journal.status = 'SUCCESS'
    await pass(1_000)
    resolve()
    await settle()
    expect(reader.seen).toEqual(['IN_PROGRESS', 'step 1', 'step 2', 'SUCCESS', 'done'])
  })

  it('fails when a page has nothing new and is not the last one', async () => {
    const run = aJournal(0)
    run.addStep()
    const reader = run.follow()
    await settle()
    expect(reader.error).toBe(`The steps of ${run.id} from 0 on have no end.`)
  })

  it('ends without done when the execution is deleted', async () => {
    const { run, reader } = await followed()
    await pass(1_000)
    run.journal.status = null
    await pass(1_000)
    expect(reader).toMatchObject({ seen: ['IN_PROGRESS'], isEnded: true })
  })

  it('is idle after 15 s of silence, and ends after its maximum', async () => {
    const { reader } = await followed({ maxMs: 40_000 })
    await pass(14_999)
    expect(reader.seen).toEqual(['IN_PROGRESS'])
    for (let i = 0; i < 30; i++) await pass(1_000)
    expect(reader).toMatchObject({ seen: ['IN_PROGRESS', 'idle', 'idle'], isEnded: true })
  })

  it('with untilNews, ends after the first steps', async () => {
    const { run, reader } = await followed({ untilNews: true })
    await pass(2_000)
    expect(reader.isEnded).toBe(false)
    run.addStep()
    await pass(1_000)
    expect(reader).toMatchObject({ seen: ['IN_PROGRESS', 'step 1'], isEnded: true })
  })

  it('survives probes that fail, and ends when a read does', async () => {
    const { run, reader } = await followed()
    run.failing.probe = true
    await pass(5_000)
    run.failing.probe = false
    run.addStep()
    await pass(1_000)
    expect(reader.seen).toEqual(['IN_PROGRESS', 'step 1'])
    run.addStep()
    run.failing.list = true
    await pass(1_000)
    expect(reader).toMatchObject({ seen: ['IN_PROGRESS', 'step 1'], isEnded: true })
    run.failing.list = false
    const again = run.follow({ after: 1 })
    await settle()
    expect(again.seen).toEqual(['IN_PROGRESS', 'step 2'])
    again.close()
  })

  it('shows each reader every step and result once, in order, whatever happens when', async () => {
    const action = fc.oneof(
      fc.record({ kind: fc.constant('step' as const), calls: fc.integer({ min: 0, max: 3 }) }),
      fc.constant({ kind: 'result' as const }),
      fc.record({ kind: fc.constant('reader' as const), after: fc.integer({ min: 0, max: 5 }) }),
      fc.record({ kind: fc.constant('pass' as const), ms: fc.constantFrom(0, 500, 1_000) }),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(action, { maxLength: 30 }),
        fc.constantFrom(1, 2, PAGE),
        async (actions, page) => {
          const run = aJournal(page)
          const readers: { after: number; seen: string[] }[] = []
          const pending: string[] = []
          const complete = () => {
            for (const call of pending.splice(0)) run.addResult(call)
          }
          for (const act of actions) {
            if (act.kind === 'step') {
              complete()
              const calls = Array.from({ length: act.calls }, (_, i) => `${run.journal.steps.length}-${i}`)
              run.addStep(calls)
              pending.push(...calls)
            } else if (act.kind === 'result') {
              const call = pending.shift()
              if (call) run.addResult(call)
            } else if (act.kind === 'reader') {
              const after = Math.min(act.after, run.journal.steps.length)
              readers.push({ after, seen: run.follow({ after }).seen })
            } else await pass(act.ms)
          }
          complete()
          run.journal.status = 'SUCCESS'
          await pass(1_000)
          await pass(1_000)
          for (const { after, seen } of readers) {
            const expected = run.journal.steps.flatMap(({ step, results }) => [
              ...(step.number > after ? [`step ${step.number}`] : []),
              ...(step.number >= after
                ? [...results.keys()].map((call) => `tool ${step.number} ${call}`)
                : []),
            ])
            expect(seen).toEqual(['IN_PROGRESS', ...expected, 'SUCCESS', 'done'])
          }
        },
      ),
      { numRuns: propertyRuns(500) },
    )
  })
})

describe('deltas from another process', () => {
  const kept = (text: string, number = 1, step = 1): ResponseSoFar => ({
    step,
    try: number,
    isVoid: false,
    parts: [{ call: null, text }],
  })

  it('are those that the reader lacks, with one mark in 30 s for all readers', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] })
    const run = aJournal()
    const readers = [run.follow({ deltas: true }), run.follow({ deltas: true })]
    await pass(0)
    expect(run.watched).toHaveLength(1)
    run.live.response = kept('ab')
    await pass(1_000)
    run.live.response = kept('abcd')
    await pass(1_000)
    const late = run.follow({ deltas: true })
    await pass(1_000)
    run.addStep()
    await pass(1_000)
    for (const { seen } of readers) expect(seen).toEqual(['IN_PROGRESS', 'delta ab', 'delta cd', 'step 1'])
    expect(late.seen).toEqual(['IN_PROGRESS', 'delta abcd', 'step 1'])
    await pass(115_000)
    // In two minutes.
    expect(run.watched).toHaveLength(4)
  })

  it('are not asked for by readers without deltas, and by nobody once the reader has left', async () => {
    const { run } = await followed()
    await pass(5_000)
    expect(run.watched).toEqual([])
    const reader = run.follow({ deltas: true })
    await pass(1_000)
    reader.close()
    run.live.watchedUntil = 0
    await pass(60_000)
    expect(run.watched).toHaveLength(1)
  })

  it('are void when a worker is replaced, whether or not the next one has kept anything', async () => {
    const { run, reader } = await followed({ deltas: true })
    run.live.response = kept('wrong')
    await pass(1_000)
    run.live.response = kept('right', 1_001)
    await pass(1_000)
    run.addStep([], 2)
    await pass(1_000)
    run.live.response = kept('lost', 1_001, 2)
    await pass(1_000)
    run.addStep([], 3)
    await pass(1_000)
    const first = ['IN_PROGRESS', 'delta wrong', 'reset 1 1', 'delta right', 'step 1']
    expect(reader.seen).toEqual([...first, 'delta lost', 'reset 2 1001', 'step 2'])
  })
})
