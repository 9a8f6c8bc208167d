import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Execution, SuspendedExecution } from '../../../lib/core/execution.ts'
import { CANCELLED } from '../../../lib/core/execution-errors.ts'
import { endOfWait } from '../../../lib/core/suspension.ts'
import type { Wait } from '../../../lib/core/wait.ts'
import { executionStore } from '../../../lib/dynamodb/executions/execution-store.ts'
import type { Item, Table } from '../../../lib/dynamodb/table/table.ts'
import { timerStore } from '../../../lib/dynamodb/timer-store.ts'
import { collect } from '../../support/data/collect.ts'
import { propertyRuns } from '../../support/data/property-runs.ts'
import { anExecution } from '../../support/engine/executions.ts'
import { type Event, findLeaseViolations, findLinearization } from '../../support/lifecycle/history.ts'
import { initialState, recordedSteps, type State } from '../../support/lifecycle/reference-model.ts'
import { lifecycles, Simulation, simulatedExecution } from '../../support/lifecycle/simulation.ts'
import { readItems, scheduledTable, storePort } from '../../support/lifecycle/tables.ts'
import { EMULATORS, race, shareOf } from '../../support/tables/emulators.ts'
import { emulatedTable } from '../../support/tables/memory-table.ts'

describe.each(EMULATORS)('the lifecycle of an execution on %s', async (emulator) => {
  const table = await emulatedTable(emulator)

  it('is linearizable in any order of the requests of concurrent commands', async () => {
    const property = fc.asyncProperty(lifecycles, fc.scheduler(), async (lifecycle, scheduler) => {
      const execution = simulatedExecution(lifecycle.isSync)
      expect(await executionStore(table).create({ execution })).toBe(true)
      const scheduled = scheduledTable(table, scheduler)
      const simulation = new Simulation(storePort(scheduled, execution), execution)
      const expectLinearizable = linearizabilityCheck(table, execution)
      for (const commands of lifecycle.batches) {
        await scheduler.waitFor(Promise.all(commands.map((command) => simulation.run(command))))
        await expectLinearizable(simulation)
      }
      await scheduler.waitFor(simulation.recover(lifecycle.end))
      expectOneEnd(simulation, await storePort(table, execution).get(execution))
    })
    // Interrupted before the test times out, so that a failure is reported with the seed and path that reproduce it.
    const numRuns = propertyRuns(30 * shareOf(emulator))
    await fc.assert(property, { numRuns, interruptAfterTimeLimit: 20_000 })
  })
})

/** Checks that the calls since the last check are linearizable, respect the lease and keep existing checkpoints. */
function linearizabilityCheck(table: Table, execution: Execution) {
  const port = storePort(table, execution)
  let state = initialState(execution)
  let checkpoints = new Map<string, Item>()
  const order: Event[] = []
  return async ({ history }: Simulation) => {
    const since = history.slice(order.length)
    const record = await port.get(execution)
    const items = await readItems(table, execution)
    const steps = await port.read({ executionId: execution.id })
    const isStored = (end: State) =>
      isDeepStrictEqual(end.execution, record) && (!record || isDeepStrictEqual(recordedSteps(end), steps))
    const found = findLinearization(since, state, isStored)
    if (!found) throw new Error(`Not linearizable: ${since.map(({ method }) => method)}`)
    order.push(...found.order)
    expect(findLeaseViolations(order, execution.lease)).toEqual([])
    state = found.state
    if (!record) return
    for (const [key, item] of checkpoints) expect(items.get(key)).toEqual(item)
    checkpoints = new Map([...items].filter(([key]) => key.startsWith('STEP#')))
  }
}

/** Callers saw exactly one end, and it is the stored one unless the execution was deleted. */
function expectOneEnd({ history }: Simulation, record: Execution | null): void {
  const [first, ...others] = history.flatMap(({ method, result }) =>
    (method === 'finish' || method === 'end') && result ? [result] : [],
  )
  for (const other of others) expect(other).toEqual(first)
  if (history.some(({ result }) => result === 'deleted')) expect(record).toBeNull()
  else expect(record).toMatchObject(comparable(first))
}

/** `finish` returns the attempt counters as they were at the claim; later attempts may have changed them. */
function comparable(end: Execution | undefined) {
  if (!end) throw new Error('No caller saw an end.')
  const { attemptsSinceProgress, lastError, ...rest } = end
  return rest
}

const NOW = 1_800_000_000_000
const MINUTE = 60_000
const iso = (ms: number) => new Date(ms).toISOString()
const leaseOf = (owner: string) => ({ owner, expiresAt: NOW + MINUTE })
const NAP: Wait = { kind: 'sleep', name: 'nap', since: iso(NOW), until: iso(NOW + 60 * MINUTE), step: 1 }
const APPROVAL: Wait = { kind: 'approval', name: 'refund', id: 'a1', since: iso(NOW), until: null, step: 1 }

describe.each(EMULATORS)('suspended executions on %s', async (emulator) => {
  const table = await emulatedTable(emulator)
  const store = executionStore(table)

  async function suspended(wait = NAP) {
    const execution = anExecution({ lease: leaseOf('first') })
    const { organizationId, id } = execution
    await store.create({ execution })
    const suspension = { at: NOW, until: NOW + 60 * MINUTE, waits: [wait] }
    const times = { openUntil: suspension.until, deadlineAt: suspension.until + 5 * MINUTE }
    expect(await store.suspend({ execution, owner: 'first', suspension, ...times })).toBe(true)
    const read = (await store.getSuspended({ id })) as SuspendedExecution
    const ending = { organizationId, id, error: CANCELLED, finishedAt: iso(NOW) }
    return { execution, organizationId, id, ending, suspension, read, times }
  }
  const wakeAt = (execution: SuspendedExecution, now: number) =>
    store.wake({ execution, lease: leaseOf('next'), openUntil: now + MINUTE, now })
  const timersBefore = async (before: number) => {
    const timers = (await collect(timerStore(table).read({ before }))).flat()
    return timers.flatMap((timer) => (timer.kind === 'execution' ? timer.stale : []))
  }

  it('refuses every claim, and every end that expects a free lease', async () => {
    const { execution, id, ending, suspension } = await suspended()
    const later = NOW + 1_000 * MINUTE
    expect(await store.claim({ id, lease: leaseOf('late'), now: later })).toBe('suspended')
    expect(await store.end({ ...ending, unleasedAt: later })).toBeNull()
    expect(await store.get(execution)).toMatchObject({ status: 'IN_PROGRESS', lease: null, suspension })
  })

  it('is suspended only by the worker that has the lease', async () => {
    const { execution, suspension, times } = await suspended()
    const params = { execution, owner: 'first', suspension, ...times }
    expect(await store.suspend({ ...params, suspension: { ...suspension, at: NOW + 1 } })).toBe(false)
    expect(await store.suspend(params)).toBe(true)
  })

  it('is woken once, with what was left of its deadline', async () => {
    const { execution, read } = await suspended()
    const now = NOW + 20 * MINUTE
    const woken = await race((index) =>
      store.wake({ execution: read, lease: leaseOf(`worker-${index}`), openUntil: now + MINUTE, now }),
    )
    const winners = woken.filter((result) => result !== null)
    expect(winners).toHaveLength(1)
    const [winner] = winners
    expect(winner).toMatchObject({
      suspension: null,
      waitedMs: 20 * MINUTE,
      deadlineAt: now + 5 * MINUTE,
      openUntil: now + MINUTE,
      attempts: execution.attempts + 1,
    })
    expect(await store.get(execution)).toMatchObject({ lease: winner?.lease, suspension: null })
    expect(await store.getSuspended({ id: execution.id })).toBeNull()
  })

  it('is found by its timer, and by no sweep of open executions', async () => {
    const { organizationId, id, times } = await suspended()
    const isThis = (found: { id: string }) => found.id === id
    expect((await timersBefore(times.openUntil)).filter(isThis)).toEqual([])
    const found = (await timersBefore(times.openUntil + 1)).filter(isThis)
    expect(found).toMatchObject([{ id, organizationId, ...times }])
    const stale = await store.listStale({ now: Number.MAX_SAFE_INTEGER, limit: 1_000 })
    expect(stale.filter(isThis)).toEqual([])
  })

  it('counts as suspended, not as open', async () => {
    const { organizationId, read } = await suspended(APPROVAL)
    const count = async () => [
      await store.countOpen({ organizationId, max: 1 }),
      await store.countSuspended({ organizationId, max: 1 }),
    ]
    expect(await count()).toEqual([0, 1])
    await wakeAt(read, NOW)
    expect(await count()).toEqual([1, 0])
  })

  it('ends at its deadline only if its timer and its deadline are still those that were listed', async () => {
    const [woken, other] = [await suspended(), await suspended()]
    await wakeAt(woken.read, NOW)
    expect(await store.end({ ...woken.ending, listed: woken.times })).toBeNull()
    const ended = await store.end({ ...other.ending, listed: other.times })
    expect(ended).toMatchObject({ status: 'ERROR', suspension: null, openUntil: null })
  })

  it('has waited until its end, if it ends before it is woken', async () => {
    const [{ read, ending }, woken] = [await suspended(), await suspended()]
    const finishedAt = iso(NOW + 20 * MINUTE)
    const end = { finishedAt, wait: endOfWait(read, finishedAt) }
    await wakeAt(woken.read, NOW + 5)
    expect(await store.end({ ...woken.ending, ...end })).toBeNull()
    expect(await store.get(woken.execution)).toMatchObject({ status: 'IN_PROGRESS', waitedMs: 5 })
    expect(await store.end({ ...ending, ...end })).toMatchObject({ status: 'ERROR', waitedMs: 20 * MINUTE })
  })

  it('can be cancelled and deleted', async () => {
    const { organizationId, id, ending } = await suspended(APPROVAL)
    expect(await store.delete({ organizationId, id, now: NOW })).toBe('open')
    expect(await store.end(ending)).toMatchObject({ status: 'ERROR', suspension: null })
    expect(await store.delete({ organizationId, id, now: NOW })).toBe('deleted')
    expect(await timersBefore(Number.MAX_SAFE_INTEGER)).not.toContainEqual(expect.objectContaining({ id }))
  })
})
