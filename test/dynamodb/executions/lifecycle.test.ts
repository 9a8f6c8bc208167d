import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import type { Execution } from '../../../lib/core/execution.ts'
import { executionStore } from '../../../lib/dynamodb/executions/execution-store.ts'
import { USAGE_ATTRIBUTES } from '../../../lib/dynamodb/table/schema.ts'
import { type Item, openTable, type Table } from '../../../lib/dynamodb/table/table.ts'
import { system } from '../../../lib/system.ts'
import { provisionTable } from '../../../local/emulators/provision.ts'
import { propertyRuns } from '../../support/data/property-runs.ts'
import { type Event, findLeaseViolations, findLinearization } from '../../support/lifecycle/history.ts'
import {
  initialState,
  modelPort,
  recordedSteps,
  type State,
} from '../../support/lifecycle/reference-model.ts'
import { lifecycles, Simulation, simulatedExecution } from '../../support/lifecycle/simulation.ts'
import { readItems, scheduledTable, storePort } from '../../support/lifecycle/tables.ts'
import { EMULATORS, shareOf } from '../../support/tables/emulators.ts'

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

  it('matches the reference model, command by command', async () => {
    const property = fc.asyncProperty(lifecycles, async ({ isSync, end, batches }) => {
      const execution = await create(isSync)
      const [port, model] = [storePort(table, execution), modelPort(execution)]
      const [actual, expected] = [new Simulation(port, execution), new Simulation(model, execution)]
      for (const command of batches.flat()) {
        const result = await actual.run(command)
        expect(result).toEqual(await expected.run(command))
        expect(await port.get(execution)).toEqual(await model.get(execution))
        if (result === 'deleted')
          for (const item of (await readItems(table, execution)).values())
            expect(item.sk === 'RECORD' ? withoutUsage(item) : item).toEqual(
              item.sk === 'RECORD' ? TOMBSTONE : JOURNAL_END,
            )
      }
      const { id } = execution
      expect(await port.read({ executionId: id })).toEqual(await model.read({ executionId: id }))
      expect(actual.queue).toEqual(expected.queue)
      await actual.recover(end)
      expectOneEnd(actual, await port.get(execution))
    })
    await fc.assert(property, runs(20))
  })

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

/** All that remains of a deleted execution, until the last check: no content. The second only after a cancel. */
const TOMBSTONE = {
  pk: expect.any(String),
  sk: 'RECORD',
  organizationId: expect.any(String),
  deleted: true,
  purged: true,
  openShard: expect.any(String),
  openUntil: expect.any(Number),
}

/** Of one that has ended, what its usage is counted by also remains. */
const withoutUsage = (item: Item): Item =>
  Object.fromEntries(Object.entries(item).filter(([name]) => !USAGE_NAMES.has(name)))
const USAGE_NAMES = new Set<string>(
  [...USAGE_ATTRIBUTES, 'usageShard', 'usageAt'].filter((name) => name !== 'organizationId'),
)

const JOURNAL_END = { pk: expect.any(String), sk: expect.stringMatching(/^STEP#\d{5}$/), isEnd: true }

/** Checks that the calls since the last check are linearizable, respect the lease and keep existing checkpoints. */
function linearizabilityCheck(table: Table, execution: Execution) {
  const port = storePort(table, execution)
  let state = initialState(execution)
  let checkpoints = new Map<unknown, Item>()
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
    checkpoints = new Map([...items].filter(([key]) => String(key).startsWith('STEP#')))
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
