import fc from 'fast-check'
import { describe, expect, inject, it, vi } from 'vitest'
import { BatchRun, type Options, type PlannedWait, success } from '../../support/batches/batch-run.ts'
import { propertyRuns } from '../../support/data/property-runs.ts'
import { aModelAgent } from '../../support/engine/model-agent.ts'
import { ownTable } from '../../support/tables/memory-table.ts'
import { FAULT_KINDS, type Fault, faultKindsOf } from '../../support/waiting/faulty-worker.ts'

const table = await ownTable()
const version = await aModelAgent({}, { table })

// The night plays every case.
vi.setConfig({ testTimeout: 900_000 })
/** A prime: the sample has all kinds of faults and requests. */
const STRIDE = inject('isNightly') ? 1 : 7
const sampleOf = <T>(cases: T[]) => cases.filter((_, index) => index % STRIDE === 0)
const faultsOf = (requests: string[]): Fault[] =>
  sampleOf(requests.flatMap((method, at) => faultKindsOf(method).map((kind) => ({ at, kind }))))

const WAIT_MS = [0, 30_000, 905_000]
/** For a moment, with a message of their own, and by the timer alone. */
const waitsOf = (kinds: number[]): PlannedWait[] =>
  kinds.flatMap((kind) => {
    const ms = WAIT_MS[kind]
    return ms === undefined ? [] : { kind: 'sleep', name: 'pause', ms }
  })

type Scenario = { name: string; options: Partial<Options>; event?: 'cancel' }
const SCENARIOS: Scenario[] = [
  { name: 'that runs to its end', options: { lines: 3, lanes: 2 } },
  {
    name: 'that reaches its cost limit',
    options: { lines: 4, lanes: 2, maxCostUsd: 0.2, outcomeOf: () => success(0.1) },
  },
  { name: 'that is cancelled', options: { lines: 4, lanes: 2 }, event: 'cancel' },
  { name: 'whose lines wait', options: { lines: 3, lanes: 2, waitsOf: (line) => waitsOf([line]) } },
  {
    name: 'that is cancelled while lines wait',
    options: { lines: 4, lanes: 2, waitsOf: () => waitsOf([1]) },
    event: 'cancel',
  },
]

/** Plays one batch; the event happens before the request at a position. */
async function play(
  { options, event }: Scenario,
  { faults = [], at = 12 }: { faults?: Fault[]; at?: number } = {},
) {
  let hasHappened = false
  const before = async (position: number) => {
    if (!event || hasHappened || position !== at) return
    hasHappened = true
    await run.cancel()
  }
  const given = { table, version, lines: 1, lanes: 1, ...options, faults, before }
  const run: BatchRun = await BatchRun.create(given)
  const problems = await run.findProblems()
  const batch = await run.stored()
  if (hasHappened && batch?.stopped?.code !== 'Cancelled' && batch?.stopped)
    problems.push('It was not cancelled.')
  const { maxCostUsd } = options
  if (maxCostUsd !== undefined && (batch?.totals?.costUsd ?? 0) > maxCostUsd + 0.1 * run.batch.lanes)
    problems.push(`It cost ${batch?.totals?.costUsd}.`)
  const played = JSON.stringify({ faults, at })
  return { requests: run.requests, problems: problems.map((problem) => `${problem} ${played}`) }
}

describe.each(SCENARIOS)('a batch $name', (scenario) => {
  it('executes and counts each line once, and ends, whichever request of a worker fails', async () => {
    const { requests, problems } = await play(scenario)
    for (const fault of faultsOf(requests))
      problems.push(...(await play(scenario, { faults: [fault] })).problems)
    expect(problems).toEqual([])
  })
})

it('a batch that is cancelled before whichever request ends, and no line runs on', async () => {
  const scenario = { name: '', options: { lines: 4, lanes: 2 }, event: 'cancel' as const }
  const { requests } = await play(scenario, { at: Number.POSITIVE_INFINITY })
  const problems: string[] = []
  for (const at of sampleOf([...requests.keys()])) problems.push(...(await play(scenario, { at })).problems)
  expect(problems).toEqual([])
})

it('a batch whose messages all arrive twice at the same time executes and counts each line once', async () => {
  for (const lanes of [1, 3]) {
    const run = await BatchRun.create({ table, version, lines: 12, lanes })
    for (let round = 0; run.visible.length > 0 && round < 200; round++)
      await Promise.all([run.deliver(0, true), run.deliver(0)])
    expect(await run.findProblems()).toEqual([])
    expect((await run.executions()).map((each) => each?.attempts)).toEqual(Array(12).fill(1))
  }
})

it('the deletion of a batch is completed, whichever request fails', async () => {
  const hidden = async (faults: Fault[]) => {
    const run = await BatchRun.create({ table, version, lines: 2, lanes: 2, faults: [] })
    await run.settle()
    const batch = await run.stored()
    if (batch) await run.stores.batches.hide({ batch, now: run.time() })
    run.messages = []
    run.requests.length = 0
    run.options.faults = faults
    for (let minute = 0; minute < 10; minute++) {
      await run.sweep()
      await run.drain()
      run.pass(70_000)
    }
    const left = (await run.executions()).filter((each) => each !== null).length
    const isLeft = left > 0 || (await run.stores.batches.getHidden(run.key)) !== null
    const problems = isLeft ? [`${left} lines are left ${JSON.stringify(faults)}.`] : []
    return { requests: [...run.requests], problems }
  }
  const { requests, problems } = await hidden([])
  for (const fault of faultsOf(requests)) problems.push(...(await hidden([fault])).problems)
  expect(problems).toEqual([])
})

it('a batch of cache hits ends without a run, in many messages', async () => {
  const execution = { ...version.execution, useCache: true }
  const cached = await aModelAgent({ execution, slug: 'cached' }, { table })
  const lines = 100
  const inputOf = () => ({ question: 'q' })
  const first = await BatchRun.create({ table, version: cached, lines: 1, lanes: 1, inputOf })
  expect(await first.findProblems()).toEqual([])
  const [original] = await first.executions()
  if (!original?.cache || !original.output) throw new Error('It is not cached.')
  const entry = { key: original.cache.key, executionId: original.id, now: first.time() }
  await first.stores.cache.reserve({ ...entry, replaces: null })
  await first.stores.cache.store({ ...entry, output: original.output, expiresAt: null })
  const run = await BatchRun.create({ table, version: cached, lines, lanes: 50, inputOf })
  while (run.visible.length > 0)
    await Promise.all([run.deliver(0), run.deliver(1), run.deliver(2), run.deliver(3)])
  expect(await run.stored()).toMatchObject({
    status: 'ENDED',
    totals: { succeeded: lines, failed: 0, cancelled: 0, costUsd: 0 },
  })
  expect(run.maxOpen).toBe(0)
})

const delivery = { kind: fc.constant('deliver'), index: fc.nat({ max: 7 }), isDuplicate: fc.boolean() }
const ofLine = { kind: fc.constantFrom('hang', 'continue', 'cancel line'), line: fc.nat({ max: 19 }) }
const passing = { kind: fc.constant('pass'), ms: fc.constantFrom(1, 5_000, 61_000, 91_000) }
const command = fc.oneof(
  { weight: 8, arbitrary: fc.record(delivery) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('sweep', 'feed') }) },
  { weight: 2, arbitrary: fc.record(ofLine) },
  { weight: 2, arbitrary: fc.record(passing) },
)
type Command = typeof command extends fc.Arbitrary<infer T> ? T : never

async function perform(run: BatchRun, command: Command): Promise<unknown> {
  if ('index' in command) return run.deliver(command.index, command.isDuplicate)
  if ('ms' in command) return run.pass(command.ms)
  if ('line' in command) {
    const line = command.line % run.batch.lines
    if (command.kind === 'cancel line') return run.cancelLine(line)
    return command.kind === 'hang' ? run.hung.add(line) : run.hung.delete(line)
  }
  return command.kind === 'sweep' ? run.sweep() : run.feed()
}

const plays = fc.record({
  lines: fc.integer({ min: 1, max: 20 }),
  lanes: fc.integer({ min: 1, max: 6 }),
  maxCostUsd: fc.option(fc.constantFrom(0.1, 0.5, 1), { nil: undefined }),
  faults: fc.array(fc.record({ at: fc.nat({ max: 150 }), kind: fc.constantFrom(...FAULT_KINDS) }), {
    maxLength: 4,
  }),
  rounds: fc.array(fc.array(command, { minLength: 1, maxLength: 6 }), { maxLength: 12, size: 'max' }),
  cancelAt: fc.option(fc.nat({ max: 12 }), { nil: null, freq: 2 }),
  /** By line. */
  waits: fc.array(fc.array(fc.nat({ max: WAIT_MS.length - 1 }), { maxLength: 2 }), { maxLength: 20 }),
  delays: fc.array(fc.constantFrom(0, 0, 1, 3), { minLength: 7, maxLength: 13 }),
})

it('a batch executes and counts each line once, has no more open than it may, and ends, in any order of events', async () => {
  const property = fc.asyncProperty(
    plays,
    async ({ rounds, delays, cancelAt, maxCostUsd, waits, ...options }) => {
      let requests = 0
      const run = await BatchRun.create({
        table,
        version,
        ...options,
        waitsOf: (line) => waitsOf(waits[line] ?? []),
        ...(maxCostUsd !== undefined && { maxCostUsd, outcomeOf: () => success(0.1) }),
        delay: () => delays[requests++ % delays.length] ?? 0,
      })
      for (const [round, commands] of rounds.entries())
        await Promise.all([
          ...commands.map((each) => perform(run, each)),
          round === cancelAt ? run.cancel() : undefined,
        ])
      run.hung.clear()
      expect(await run.findProblems()).toEqual([])
    },
  )
  await fc.assert(property, { numRuns: propertyRuns(150) })
})
