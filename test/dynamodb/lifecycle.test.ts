import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import type { Execution } from '../../lib/core/execution.ts'
import { executionStore } from '../../lib/dynamodb/execution-store.ts'
import { type Item, openTable, type Table } from '../../lib/dynamodb/table.ts'
import { system } from '../../lib/system.ts'
import { provisionTable } from '../../local/provision.ts'
import { type Event, orderOf, trespasses } from '../support/lifecycle/history.ts'
import { begin, modelPort, readOf, type State } from '../support/lifecycle/model.ts'
import { itemsOf, portOn, scheduledTable } from '../support/lifecycle/tables.ts'
import { anExecutionOfTheWorld, lives, World } from '../support/lifecycle/world.ts'
import { propertyRuns } from '../support/property-runs.ts'

describe.each([
  ['dynamodb', 1],
  ['dynalite', 0.2],
] as const)('the life of an execution on %s', (emulator, share) => {
  const name = `lifecycle-${system.newId()}`
  beforeAll(() => provisionTable(inject(emulator), name))
  const table = openTable({ TABLE_NAME: name, DYNAMODB_ENDPOINT: inject(emulator) })
  // Interrupted before the test's own time is up, a failure is reported with the seed and path that repeat it.
  const runs = (numRuns: number) => ({
    numRuns: propertyRuns(numRuns * share),
    interruptAfterTimeLimit: 20_000,
  })

  const created = async (isSync: boolean) => {
    const execution = anExecutionOfTheWorld(isSync)
    expect(await executionStore(table).create({ execution })).toBe(true)
    return execution
  }

  it('is what the pure core says, command by command', async () => {
    const property = fc.asyncProperty(lives, async ({ isSync, end, batches }) => {
      const execution = await created(isSync)
      const [port, model] = [portOn(table, execution), modelPort(execution)]
      const [real, pure] = [new World(port, execution), new World(model, execution)]
      for (const command of batches.flat()) {
        const told = await real.run(command)
        expect(told).toEqual(await pure.run(command))
        expect(await port.get(execution)).toEqual(await model.get(execution))
        if (told === 'deleted') expect(await itemsOf(table, execution)).toEqual(new Map())
      }
      const { id } = execution
      expect(await port.read({ executionId: id })).toEqual(await model.read({ executionId: id }))
      expect(real.queue).toEqual(pure.queue)
      await real.settle(end)
      expectOneEnd(real, await port.get(execution))
    })
    await fc.assert(property, runs(20))
  })

  it('goes on in some order that the pure core allows when commands meet', async () => {
    const property = fc.asyncProperty(lives, async ({ isSync, end, batches }) => {
      const execution = await created(isSync)
      const port = portOn(table, execution)
      const world = new World(port, execution)
      const checked = checkedBy(table, execution)
      for (const commands of batches) {
        await Promise.all(commands.map((command) => world.run(command)))
        await checked(world)
      }
      await world.settle(end)
      expectOneEnd(world, await port.get(execution))
    })
    await fc.assert(property, runs(30))
  })

  it('does so however the requests of commands that meet take turns', async () => {
    const property = fc.asyncProperty(lives, fc.scheduler(), async (life, scheduler) => {
      const execution = await created(life.isSync)
      const queued = scheduledTable(table, scheduler)
      const world = new World(portOn(queued, execution), execution)
      const checked = checkedBy(table, execution)
      for (const commands of life.batches) {
        await scheduler.waitFor(Promise.all(commands.map((command) => world.run(command))))
        await checked(world)
      }
      await scheduler.waitFor(world.settle(life.end))
      expectOneEnd(world, await portOn(table, execution).get(execution))
    })
    await fc.assert(property, runs(30))
  })
})

/** Whether what a world has done since it was last asked can be explained, and left what was written as it was. */
function checkedBy(table: Table, execution: Execution) {
  const port = portOn(table, execution)
  let state = begin(execution)
  let checkpoints = new Map<unknown, Item>()
  const order: Event[] = []
  return async ({ history }: World) => {
    const since = history.slice(order.length)
    const record = await port.get(execution)
    const items = await itemsOf(table, execution)
    const steps = await port.read({ executionId: execution.id })
    const isEnd = (end: State) =>
      isDeepStrictEqual(end.execution, record) && (!record || isDeepStrictEqual(readOf(end), steps))
    const found = orderOf(since, state, isEnd)
    if (!found) throw new Error(`nothing explains this: ${since.map(({ method }) => method)}`)
    order.push(...found.order)
    expect(trespasses(order, execution.lease)).toEqual([])
    state = found.state
    if (!record) return
    for (const [key, item] of checkpoints) expect(items.get(key)).toEqual(item)
    checkpoints = new Map([...items].filter(([key]) => String(key).startsWith('STEP#')))
  }
}

/** One end was reported, and it is what the record says as long as there is one. */
function expectOneEnd({ history }: World, record: Execution | null): void {
  const [report, ...repeated] = history.flatMap(({ method, answer }) =>
    (method === 'finish' || method === 'end') && answer ? [answer] : [],
  )
  for (const other of repeated) expect(other).toEqual(report)
  if (history.some(({ answer }) => answer === 'deleted')) expect(record).toBeNull()
  else expect(record).toMatchObject(reported(report))
}

/** Of how often others were idle before it, a worker that finishes knows what it was told when it began. */
function reported(report: Execution | undefined) {
  if (!report) throw new Error('nobody was told of an end')
  const { attemptsSinceProgress, lastError, ...rest } = report
  return rest
}
