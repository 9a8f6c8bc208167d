import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Execution } from '../../../lib/core/execution.ts'
import { openStores } from '../../../lib/dynamodb/open-stores.ts'
import { USAGE_POSITION } from '../../../lib/dynamodb/table/keys.ts'
import type { Table } from '../../../lib/dynamodb/table/table.ts'
import { runCleanups } from '../../../lib/engine/maintenance.ts'
import { system } from '../../../lib/system.ts'
import { propertyRuns } from '../../support/data/property-runs.ts'
import { anExecution, leased, NO_PROGRESS } from '../../support/engine/executions.ts'
import {
  DeletionScenario,
  Died,
  deletions,
  dyingTable,
  payloadNames,
  START,
} from '../../support/lifecycle/deletion.ts'
import { scheduledTable, setCounted } from '../../support/lifecycle/tables.ts'
import { EMULATORS, shareOf } from '../../support/tables/emulators.ts'
import { emulatedTable, ownTable, scan } from '../../support/tables/memory-table.ts'

describe.each(EMULATORS)('a deletion on %s', async (emulator) => {
  const table = await ownTable(emulator)

  it('leaves nothing after 20 minutes, whatever the interleaving and wherever a process dies', async () => {
    const property = fc.asyncProperty(deletions, fc.scheduler(), async (params, scheduler) => {
      const scenario = new DeletionScenario(table, scheduledTable(table, scheduler), params)
      await scheduler.waitFor(scenario.play())
      await scenario.writeLate()
      await scenario.sweep(1, 20)
      const { id } = scenario.execution
      const items = await scan(table)
      const own = items.filter(({ pk, executionId }) => pk === `EXEC#${id}` || executionId === id)
      const record = own.find(({ sk }) => sk === 'RECORD')
      if (scenario.isDeleted || !record) expect(own).toEqual([])
      else {
        const { stored, referenced } = payloadNames(own)
        expect(stored).toEqual(referenced)
        expect(await openStores(table).executions.get(scenario.execution)).not.toBeNull()
      }
      await table.writeMany(items.map(({ pk, sk }) => ({ delete: { pk: String(pk), sk: String(sk) } })))
    })
    const numRuns = propertyRuns(60 * shareOf(emulator))
    await fc.assert(property, { numRuns, interruptAfterTimeLimit: 25_000 })
  })
})

const AT = new Date(START).toISOString()

const lease = { owner: 'worker', expiresAt: START + 60_000 }
const PROGRESS = { ...NO_PROGRESS, steps: 1 }

const unlessDied = (error: unknown) => {
  if (!(error instanceof Died)) throw error
  return true
}

/** Too large for an item, also when compressed. */
const large = () => ({ text: randomBytes(15_000).toString('base64') })

/** Executions with children on a table. */
function familiesOn(table: Table) {
  const { executions } = openStores(table)
  const left = async () => (await scan(table)).filter(({ pk }) => pk !== USAGE_POSITION.pk)

  const newRun = (caller?: Execution) => {
    const given = { now: START, input: large(), lease }
    if (!caller) return anExecution(given)
    const { organizationId, id: executionId, callers, agentId } = caller
    return anExecution({ ...given, organizationId, parent: { executionId, callers: [...callers, agentId] } })
  }

  async function create(execution: Execution, on: Table = table): Promise<Execution> {
    const stores = openStores(on)
    await stores.executions.create({ execution })
    const times = { startedAt: AT, finishedAt: AT }
    const step = { number: 1, kind: 'CODE' as const, name: 'step', value: large(), ...times }
    await stores.steps.append({ executionId: execution.id, owner: 'worker', step, progress: PROGRESS })
    return execution
  }

  const finish = (execution: Execution) => {
    const outcome = { status: 'SUCCESS' as const, output: large(), ...PROGRESS }
    return executions.finish({ execution: leased(execution, 'worker'), outcome, finishedAt: AT })
  }

  /** A final parent with a final and an open child, each with a child of its own. */
  async function aTree() {
    const parent = await create(newRun())
    const [done, open] = [await create(newRun(parent)), await create(newRun(parent))]
    const [doneBelow, openBelow] = [await create(newRun(done)), await create(newRun(open))]
    for (const execution of [doneBelow, done, parent]) await finish(execution)
    return { parent, children: [done, open, doneBelow, openBelow], open, openBelow }
  }

  const sweep = async () => {
    for (const minute of [1, 10, 20, 30]) {
      const now = START + minute * 60_000
      await setCounted(table, now)
      await runCleanups({ executions, system: { ...system, now: () => now } })
    }
  }

  return { newRun, create, finish, aTree, sweep, left }
}

describe.each(EMULATORS)('the deletion of an execution with children on %s', async (emulator) => {
  const table = await emulatedTable(emulator)
  const { executions } = openStores(table)
  const { finish, aTree, sweep, left } = familiesOn(table)

  it('deletes them, and theirs, whether they are final or open, before it returns', async () => {
    const { parent, children, open, openBelow } = await aTree()
    expect(await executions.delete({ ...parent, now: START })).toBe('deleted')
    for (const execution of [parent, ...children]) expect(await executions.get(execution)).toBeNull()
    expect((await left()).filter(({ deleted, isEnd }) => !deleted && !isEnd)).toEqual([])
    for (const execution of [open, openBelow]) {
      expect(await executions.claim({ id: execution.id, lease, now: lease.expiresAt + 1 })).toBe('closed')
      expect(await executions.renew({ id: execution.id, lease })).toBeNull()
      expect(await finish(execution)).toBeNull()
    }
    await sweep()
    expect(await left()).toEqual([])
  })

  it('leaves the parent and the other children of a deleted child', async () => {
    const { parent, children } = await aTree()
    const [done, open, doneBelow] = children as [Execution, Execution, Execution]
    expect(await executions.delete({ ...done, now: START })).toBe('deleted')
    expect(await executions.get(doneBelow)).toBeNull()
    expect(await executions.get(parent)).not.toBeNull()
    expect(await executions.get(open)).not.toBeNull()
    const keys = (await left()).filter(({ deleted }) => !deleted).map(({ pk, sk }) => `${pk} ${sk}`)
    for (const { id } of [done, doneBelow]) expect(keys.filter((key) => key.includes(id))).toEqual([])
    expect(await executions.delete({ ...parent, now: START })).toBe('deleted')
    await sweep()
    expect(await left()).toEqual([])
  })
})

describe.each(EMULATORS)(
  'the deletion of an execution with children, interrupted, on %s',
  async (emulator) => {
    const table = await ownTable(emulator)
    const { executions, steps } = openStores(table)
    const { newRun, create, finish, aTree, sweep, left } = familiesOn(table)

    it('is completed by the cleanup, wherever the process dies that deletes', async () => {
      let hasDied = true
      for (let requests = 1; hasDied; requests++) {
        const { parent, children } = await aTree()
        const mortal = openStores(dyingTable(table, requests)).executions
        hasDied = await mortal.delete({ ...parent, now: START }).then(() => false, unlessDied)
        const isDeleted = (await executions.get(parent)) === null
        expect(isDeleted).toBe(requests > 1)
        if (!isDeleted) await executions.delete({ ...parent, now: START })
        await sweep()
        for (const execution of children) expect(await executions.get(execution)).toBeNull()
        expect(await left()).toEqual([])
      }
    })

    it('leaves nothing of children that are created at the same time, wherever a process dies', async () => {
      const crash = fc.option(fc.nat({ max: 12 }))
      const anyCrashes = fc.tuple(crash, crash, crash, crash)
      const property = fc.asyncProperty(anyCrashes, fc.scheduler(), async (crashes, scheduler) => {
        const parent = await create(newRun())
        await finish(parent)
        const scheduled = scheduledTable(table, scheduler)
        const child = newRun(parent)
        const roles: ((on: Table) => Promise<unknown>)[] = [
          (on) => openStores(on).executions.delete({ ...parent, now: START }),
          async (on) => {
            await create(child, on)
            await create(newRun(child), on)
          },
          (on) => create(newRun(parent), on),
          (on) => openStores(on).executions.delete({ ...parent, now: START }),
        ]
        const playing = roles.map((role, i) =>
          role(dyingTable(scheduled, crashes[i] ?? Number.POSITIVE_INFINITY)).catch(unlessDied),
        )
        await scheduler.waitFor(Promise.all(playing))
        await executions.delete({ ...parent, now: START })
        await sweep()
        expect(await left()).toEqual([])
        expect(await steps.read({ executionId: child.id })).toEqual([])
      })
      const numRuns = propertyRuns(40 * shareOf(emulator))
      await fc.assert(property, { numRuns, interruptAfterTimeLimit: 25_000 })
    })
  },
)
