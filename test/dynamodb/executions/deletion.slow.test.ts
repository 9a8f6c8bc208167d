import fc from 'fast-check'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { openStores } from '../../../lib/dynamodb/open-stores.ts'
import { openTable } from '../../../lib/dynamodb/table/table.ts'
import { system } from '../../../lib/system.ts'
import { provisionTable } from '../../../local/emulators/provision.ts'
import { propertyRuns } from '../../support/data/property-runs.ts'
import { DeletionScenario, deletions, payloadNames } from '../../support/lifecycle/deletion.ts'
import { scheduledTable } from '../../support/lifecycle/tables.ts'
import { EMULATORS, shareOf } from '../../support/tables/emulators.ts'
import { scanTable } from '../../support/tables/scan-table.ts'

describe.each(EMULATORS)('a deletion on %s', (emulator) => {
  const name = `deletion-${system.newId()}`
  beforeAll(() => provisionTable(inject(emulator), name))
  const table = openTable({ TABLE_NAME: name, DYNAMODB_ENDPOINT: inject(emulator) })

  it('leaves nothing after 20 minutes, whatever the interleaving and wherever a process dies', async () => {
    const property = fc.asyncProperty(deletions, fc.scheduler(), async (params, scheduler) => {
      const scenario = new DeletionScenario(table, scheduledTable(table, scheduler), params)
      await scheduler.waitFor(scenario.play())
      await scenario.writeLate()
      await scenario.sweep(1, 20)
      const { id } = scenario.execution
      const items = await scanTable(inject(emulator), name)
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
    await fc.assert(property, {
      numRuns: propertyRuns(60 * shareOf(emulator)),
      interruptAfterTimeLimit: 25_000,
    })
  })
})
