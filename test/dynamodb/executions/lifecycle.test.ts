import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import type { Execution, SuspendedExecution } from '../../../lib/core/execution.ts'
import { CANCELLED } from '../../../lib/core/execution-errors.ts'
import { endOfWait } from '../../../lib/core/suspension.ts'
import type { Wait } from '../../../lib/core/wait.ts'
import { executionStore } from '../../../lib/dynamodb/executions/execution-store.ts'
import { type Item, openTable, type Table } from '../../../lib/dynamodb/table/table.ts'
import { timerStore } from '../../../lib/dynamodb/timer-store.ts'
import { system } from '../../../lib/system.ts'
import { provisionTable } from '../../../local/emulators/provision.ts'
import { propertyRuns } from '../../support/data/property-runs.ts'
import { anExecution } from '../../support/engine/executions.ts'
import { type Event, findLeaseViolations, findLinearization } from '../../support/lifecycle/history.ts'
import { initialState, recordedSteps, type State } from '../../support/lifecycle/reference-model.ts'
import { lifecycles, Simulation, simulatedExecution } from '../../support/lifecycle/simulation.ts'
import { readItems, scheduledTable, storePort } from '../../support/lifecycle/tables.ts'
import { EMULATORS, race, shareOf, tableOn } from '../../support/tables/emulators.ts'

describe.each(EMULATORS)('the lifecycle of an execution on %s', (emulator) => {
  const name = `lifecycle-${system.newId()}`
  beforeAll(() => provisionTable(inject(emulator), name))
  const table = openTable({ TABLE_NAME: name, DYNAMODB_ENDPOINT: inject(emulator) })
  // Interrupted before the test times out, so that a failure is reported with the seed and path that reproduce it.
  const runs = (numRuns: number) => ({
    numRuns: propertyRuns(numRuns * shareOf(emulator)),
    interruptAfterTimeLimit: 20_000,
  })

  const create = async (isSync: boolean) => {
    const execution = simulatedExecution(isSync)
    expect(await executionStore(table).create({ execution })).toBe(true)
    return execution
  }

  it('is linearizable in any order of the requests of concurrent commands', async () => {
    const property = fc.asyncProperty(lifecycles, fc.scheduler(), async (lifecycle, scheduler) => {
      const execution = await create(lifecycle.isSync)
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
    await fc.assert(property, runs(30))
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
const sleepUntil = (ms: number): Wait => ({
  kind: 'sleep',
  name: 'nap',
  since: iso(NOW),
  until: iso(ms),
  step: 1,
})
const approval: Wait = { kind: 'approval', name: 'refund', id: 'a1', since: iso(NOW), until: null, step: 1 }

describe.each(EMULATORS)('suspended executions on %s', (emulator) => {
  const name = `suspended-${system.newId()}`
  beforeAll(() => provisionTable(inject(emulator), name))
  const store = executionStore(tableOn(emulator, name))
  const timers = timerStore(tableOn(emulator, name))

  async function suspended(waits: Wait[] = [sleepUntil(NOW + 60 * MINUTE)]) {
    const execution = anExecution({ organizationId: system.newId(), lease: leaseOf('first') })
    await store.create({ execution })
    const suspension = { at: NOW, until: NOW + 60 * MINUTE, waits }
    const times = { openUntil: suspension.until, deadlineAt: suspension.until + 5 * MINUTE }
    expect(await store.suspend({ execution, owner: 'first', suspension, ...times })).toBe(true)
    const read = (await store.getSuspended({ id: execution.id })) as SuspendedExecution
    return { execution, suspension, read, ...times }
  }
  const timersBefore = async (before: number) => {
    const found = []
    for await (const page of timers.read({ before }))
      found.push(...page.flatMap((timer) => (timer.kind === 'execution' ? timer.stale : [])))
    return found
  }

  it('refuses every claim, and every end that expects a free lease', async () => {
    const { execution, suspension } = await suspended()
    const { id, organizationId } = execution
    const later = NOW + 1_000 * MINUTE
    expect(await store.claim({ id, lease: leaseOf('late'), now: later })).toBe('suspended')
    const ending = { organizationId, id, error: CANCELLED, finishedAt: iso(later) }
    expect(await store.end({ ...ending, unleasedAt: later })).toBeNull()
    expect(await store.get(execution)).toMatchObject({ status: 'IN_PROGRESS', lease: null, suspension })
  })

  it('is suspended only by the worker that has the lease', async () => {
    const { execution, suspension, ...times } = await suspended()
    const again = { ...suspension, at: NOW + 1 }
    const { openUntil, deadlineAt } = times
    const params = { execution, suspension: again, openUntil, deadlineAt }
    expect(await store.suspend({ ...params, owner: 'first' })).toBe(false)
    expect(await store.suspend({ ...params, suspension, owner: 'first' })).toBe(true)
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
    const { execution, openUntil, deadlineAt } = await suspended()
    const { id, organizationId } = execution
    const isThis = (found: { id: string }) => found.id === id
    expect((await timersBefore(openUntil)).filter(isThis)).toEqual([])
    expect((await timersBefore(openUntil + 1)).filter(isThis)).toMatchObject([
      { id, organizationId, openUntil, deadlineAt },
    ])
    const stale = await store.listStale({ now: Number.MAX_SAFE_INTEGER, limit: 1_000 })
    expect(stale.filter(isThis)).toEqual([])
  })

  it('counts as suspended, not as open', async () => {
    const { execution, read } = await suspended([approval])
    const { organizationId } = execution
    const count = async () => [
      await store.countOpen({ organizationId, max: 1 }),
      await store.countSuspended({ organizationId, max: 1 }),
    ]
    expect(await count()).toEqual([0, 1])
    await store.wake({ execution: read, lease: leaseOf('next'), openUntil: NOW, now: NOW })
    expect(await count()).toEqual([1, 0])
  })

  it('ends at its deadline only if its timer and its deadline are still those that were listed', async () => {
    const { execution, read, openUntil, deadlineAt } = await suspended()
    const { id, organizationId } = execution
    const ending = { organizationId, id, error: CANCELLED, finishedAt: iso(NOW) }
    await store.wake({ execution: read, lease: leaseOf('next'), openUntil: NOW, now: NOW })
    expect(await store.end({ ...ending, listed: { openUntil, deadlineAt } })).toBeNull()
    const other = await suspended()
    const listed = { openUntil: other.openUntil, deadlineAt: other.deadlineAt }
    const ended = await store.end({
      organizationId: other.execution.organizationId,
      id: other.execution.id,
      error: CANCELLED,
      finishedAt: iso(NOW),
      listed,
    })
    expect(ended).toMatchObject({ status: 'ERROR', suspension: null, openUntil: null })
  })

  it('has waited until its end, if it ends before it is woken', async () => {
    const { execution, read } = await suspended()
    const keyOf = ({ organizationId, id }: typeof execution) => ({ organizationId, id })
    const finishedAt = iso(NOW + 20 * MINUTE)
    const ending = { ...keyOf(execution), error: CANCELLED, finishedAt, wait: endOfWait(read, finishedAt) }
    const woken = await suspended()
    await store.wake({ execution: woken.read, lease: leaseOf('next'), openUntil: NOW, now: NOW + 5 })
    expect(await store.end({ ...ending, ...keyOf(woken.execution) })).toBeNull()
    expect(await store.get(woken.execution)).toMatchObject({ status: 'IN_PROGRESS', waitedMs: 5 })
    expect(await store.end(ending)).toMatchObject({ status: 'ERROR', waitedMs: 20 * MINUTE })
  })

  it('can be cancelled and deleted', async () => {
    const { execution } = await suspended([approval])
    const { id, organizationId } = execution
    expect(await store.delete({ organizationId, id, now: NOW })).toBe('open')
    const ended = await store.end({ organizationId, id, error: CANCELLED, finishedAt: iso(NOW) })
    expect(ended).toMatchObject({ status: 'ERROR', suspension: null })
    expect(await store.delete({ organizationId, id, now: NOW })).toBe('deleted')
    expect(await timersBefore(Number.MAX_SAFE_INTEGER)).not.toContainEqual(expect.objectContaining({ id }))
  })
})
