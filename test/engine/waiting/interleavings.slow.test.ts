import fc from 'fast-check'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import type { Version } from '../../../lib/core/agent.ts'
import { propertyRuns } from '../../support/data/property-runs.ts'
import { aModelAgent } from '../../support/engine/model-agent.ts'
import { ownTable } from '../../support/tables/memory-table.ts'
import { FAULT_KINDS, type Fault, faultKindsOf } from '../../support/waiting/faulty-worker.ts'
import { findProblems, PROMPT_MS } from '../../support/waiting/find-problems.ts'
import { SCENARIOS, type Scenario, type ScenarioName } from '../../support/waiting/scenarios.ts'
import { WaitingRun } from '../../support/waiting/waiting-run.ts'

const table = await ownTable()
const versions = new Map<ScenarioName, Version>()
beforeAll(async () => {
  for (const { name: slug, code } of SCENARIOS) {
    const options = { code: true, outputSchema: { type: 'object' }, slug: slug.replace(' ', '-') } as const
    versions.set(slug, await aModelAgent(options, { code, table }))
  }
})

/** What a client or the clock does at one moment. */
const EVENTS = ['complete', 'reject', 'cancel', 'time', 'sweep', 'dead letter'] as const
type Event = (typeof EVENTS)[number]

const acts: Record<Event, (run: WaitingRun, scenario: Scenario) => unknown> = {
  async complete(run, { signals, approval }) {
    for (const signal of signals) await run.signal(signal)
    return approval && run.decide('approve')
  },
  reject: (run, { approval }) => (approval ? run.decide('reject') : run.signal('unknown')),
  cancel: (run) => run.cancel(),
  time: (run) => run.pass(61_000),
  sweep: (run) => run.sweep(),
  'dead letter': (run) => run.deadLetter(),
}

type Case = { isSync: boolean; faults?: Fault[]; event?: Event; at?: number }

/** Plays one run whose event happens before the request at a position, or else once it is suspended. */
async function play(scenario: Scenario, { isSync, faults = [], event = 'complete', at }: Case) {
  const version = versions.get(scenario.name) as Version
  let hasHappened = false
  const happen = async () => {
    if (hasHappened) return
    hasHappened = true
    await acts[event](run, scenario)
  }
  const before = async (position: number) => {
    if (position === at) await happen()
  }
  const run = await WaitingRun.create({ table, version, scenario, isSync, faults, before })
  await run.start()
  const suspendedAt = run.requests.length
  if (at === undefined) await happen()
  const problems = await findProblems(run, scenario, faults.length === 0 ? PROMPT_MS : undefined)
  const played = JSON.stringify({ scenario: scenario.name, isSync, faults, event, at })
  return { requests: run.requests, suspendedAt, problems: problems.map((problem) => `${problem} ${played}`) }
}

const upTo = (end: number, from = 0) => Array.from({ length: end - from }, (_, i) => from + i)

/** Requests around the one that suspends the run: the wait is stored, the lease given up, and it looks again. */
const SUSPENDING = 6

/** The night plays every case. A prime: the sample has all kinds of faults, events and requests. */
const STRIDE = inject('isNightly') ? 1 : 23
/** Of the night, whose database is slower. */
const LIMIT_MS = 1_800_000

describe.each(SCENARIOS)('a run that waits: $name', { timeout: LIMIT_MS }, (scenario) => {
  describe.each([{ isSync: false }, { isSync: true }])('synchronous: $isSync', ({ isSync }) => {
    /** All of them in the night, else a sample. */
    const playAll = async (cases: Omit<Case, 'isSync'>[]) => {
      const found: string[] = []
      for (const each of cases.filter((_, index) => index % STRIDE === 0))
        found.push(...(await play(scenario, { isSync, ...each })).problems)
      return found
    }

    it('ends once and loses nothing, whichever request of a worker fails', async () => {
      const { requests, problems } = await play(scenario, { isSync })
      expect(problems).toEqual([])
      const cases = requests.flatMap((method, at) =>
        faultKindsOf(method).map((kind) => ({ faults: [{ at, kind }] })),
      )
      expect(await playAll(cases)).toEqual([])
    })

    it('ends once and loses nothing, whatever happens before whichever request', async () => {
      const { requests } = await play(scenario, { isSync })
      expect(await playAll(requests.flatMap((_, at) => EVENTS.map((event) => ({ event, at }))))).toEqual([])
    })

    it('misses nothing that arrives while it is suspended by a worker that fails', async () => {
      const { requests, suspendedAt } = await play(scenario, { isSync })
      const positions = upTo(suspendedAt, suspendedAt - SUSPENDING)
      const cases = positions.flatMap((at) =>
        upTo(suspendedAt, at).flatMap((faulty) =>
          faultKindsOf(requests[faulty] ?? '').map((kind) => ({ at, faults: [{ at: faulty, kind }] })),
        ),
      )
      expect(await playAll(cases)).toEqual([])
    })
  })
})

const signalName = fc.constantFrom('go', 'stop')
const passing = fc.constantFrom(1, 31_000, 61_000, 600_000, 86_400_000)
const command = fc.oneof(
  { weight: 6, arbitrary: fc.record({ index: fc.nat({ max: 3 }), isDuplicate: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ name: signalName, isRepeated: fc.constant(false) }) },
  { weight: 1, arbitrary: fc.record({ name: signalName, isRepeated: fc.constant(true) }) },
  { weight: 2, arbitrary: fc.record({ decision: fc.constantFrom('approve', 'reject') }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constantFrom('cancel', 'delete') }) },
  { weight: 3, arbitrary: fc.record({ act: fc.constantFrom('sweep', 'deadLetter') }) },
  { weight: 3, arbitrary: fc.record({ ms: passing }) },
)
type Command = typeof command extends fc.Arbitrary<infer T> ? T : never

async function perform(run: WaitingRun, command: Command): Promise<unknown> {
  if ('index' in command) return run.deliver(command.index, command.isDuplicate)
  if ('name' in command)
    return run.signal(command.name, command.isRepeated ? `same-${command.name}` : undefined)
  if ('ms' in command) return run.pass(command.ms)
  return 'decision' in command ? run.decide(command.decision) : run[command.act]()
}

const interleavings = fc.record({
  scenario: fc.constantFrom(...SCENARIOS),
  isSync: fc.boolean(),
  faults: fc.array(fc.record({ at: fc.nat({ max: 40 }), kind: fc.constantFrom(...FAULT_KINDS) }), {
    maxLength: 3,
  }),
  batches: fc.array(fc.array(command, { minLength: 1, maxLength: 4 }), { maxLength: 6, size: 'max' }),
  delays: fc.array(fc.constantFrom(0, 0, 1, 3), { minLength: 7, maxLength: 13 }),
})

it(
  'a run that waits ends once, loses nothing and holds nothing, in any order of events',
  async () => {
    const property = fc.asyncProperty(interleavings, async ({ scenario, batches, delays, ...options }) => {
      const version = versions.get(scenario.name) as Version
      let requests = 0
      const delay = () => delays[requests++ % delays.length] ?? 0
      const run = await WaitingRun.create({ ...options, table, version, scenario, delay })
      const starting = run.start()
      for (const batch of batches) await Promise.all(batch.map((each) => perform(run, each)))
      await starting
      expect(await findProblems(run, scenario)).toEqual([])
    })
    await fc.assert(property, { numRuns: propertyRuns(300) })
  },
  LIMIT_MS,
)
