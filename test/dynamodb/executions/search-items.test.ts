import { describe, expect, it } from 'vitest'
import type { Execution } from '../../../lib/core/execution.ts'
import type { ExecutionListParams } from '../../../lib/core/ports/execution-reader.ts'
import { executionStore } from '../../../lib/dynamodb/executions/execution-store.ts'
import { searchKey } from '../../../lib/dynamodb/table/keys.ts'
import { system } from '../../../lib/system.ts'
import { anExecution, leased, NO_PROGRESS } from '../../support/engine/executions.ts'
import { Died, dyingTable } from '../../support/lifecycle/deletion.ts'
import { EMULATORS, readPages } from '../../support/tables/emulators.ts'
import { ownTable, scan } from '../../support/tables/memory-table.ts'

const keyOf = (value: string) => [{ name: 'orderId', value }]
const filter = (text: string, isPrefix = false) => ({ name: 'orderId', text, isPrefix })

describe.each(EMULATORS)('keys of executions on %s', async (emulator) => {
  const table = await ownTable(emulator)
  const { create, finish, listSummaries, postpone } = executionStore(table)

  const created = async (execution: Execution) => {
    await create({ execution })
    return execution
  }
  const list = (organizationId: string, params: Partial<ExecutionListParams>) => {
    const page = { agentId: null, tenantId: null, status: null, limit: 100, after: null }
    return listSummaries({ organizationId, ...page, ...params })
  }
  const idsOf = async (...args: Parameters<typeof list>) => (await list(...args)).items.map(({ id }) => id)

  it('are searched in pages, whichever way the index is read', async () => {
    const organizationId = system.newId()
    const stored: string[] = []
    // More than are sorted: they all are in one shard.
    for (let number = 0; number < 520; number++) {
      const id = `${system.newId().slice(0, -4)}0000`
      const value = number % 100 === 0 ? 'O-1' : `O-1${number}`
      await created(anExecution({ id, organizationId, keys: keyOf(value) }))
      stored.unshift(id)
    }
    const pages = (key: ReturnType<typeof filter>, limit: number) =>
      readPages((page) => list(organizationId, { key, ...page }), limit, { mayBeEmpty: true })
    const all = await pages(filter('O-1', true), 90)
    expect(all.items.map(({ id }) => id)).toEqual(stored)
    expect((await list(organizationId, { key: filter('O-1', true) })).searched).toBeDefined()
    const some = await pages(filter('O-13', true), 4)
    expect(some.items).toHaveLength(110)
    const found = some.items.map(({ id }) => id)
    expect(found).toEqual(stored.filter((id) => found.includes(id)))
    expect((await pages(filter('O-1'), 2)).items).toHaveLength(6)
    const [newest = '', second = ''] = stored
    const [from, to] = [second, newest].map((id) => Number.parseInt(id.replace('-', '').slice(0, 12), 16))
    const between = await idsOf(organizationId, { key: filter('O-1', true), from, to, limit: 1_000 })
    expect(between).not.toContain(newest)
    expect(between[0]).toBe(from === to ? undefined : second)
  })

  it('are those of the record: what an attempt has left that did not end is not found', async () => {
    const organizationId = system.newId()
    const lease = { owner: 'a', expiresAt: Date.now() + 60_000 }
    const execution = await created(anExecution({ organizationId, keys: keyOf('O-1'), lease }))
    const outcome = { status: 'SUCCESS' as const, output: {}, ...NO_PROGRESS }
    const ended = { outcome, finishedAt: new Date().toISOString() }
    const keys = (value: string) => [...execution.keys, { name: 'refundId', value }]
    const stale = { ...ended, outcome: { ...outcome, keys: keys('R-0') } }
    expect(await finish({ execution: leased(execution, 'lost'), ...stale })).toBeNull()
    await finish({ execution: leased(execution, 'a'), ...ended, outcome: { ...outcome, keys: keys('R-1') } })
    const find = (text: string, isPrefix: boolean) =>
      idsOf(organizationId, { key: { name: 'refundId', text, isPrefix } })
    expect(await find('R-0', false)).toEqual([])
    expect(await find('R-', true)).toEqual([execution.id])
    expect(await find('R-1', false)).toEqual([execution.id])
  })

  it('are written by the sweeper if a process died before, and never exist without a record', async () => {
    const organizationId = system.newId()
    for (const requests of [0, 1]) {
      const execution = anExecution({ organizationId, keys: keyOf(`died-${requests}`) })
      const dying = executionStore(dyingTable(table, requests)).create({ execution })
      await expect(dying).rejects.toThrow(Died)
      const items = (await scan(table)).filter(({ pk }) => pk === `EXEC#${execution.id}`)
      expect(items).toHaveLength(requests)
      if (requests === 0) continue
      const stale = { ...execution, openUntil: execution.openUntil as number }
      await postpone({ stale, until: stale.openUntil + 1, now: stale.openUntil, restores: true })
      expect(await idsOf(organizationId, { key: filter('died-1') })).toEqual([execution.id])
    }
  })

  it('are written again with the same request, but not for what was deleted', async () => {
    const organizationId = system.newId()
    const execution = await created(anExecution({ organizationId, keys: keyOf('again') }))
    const [item] = (await scan(table)).filter((each) => String(each.listOrder).startsWith('again'))
    await table.delete({ pk: String(item?.pk), sk: String(item?.sk) })
    expect(await create({ execution })).toBe(false)
    expect(await idsOf(organizationId, { key: filter('again') })).toEqual([execution.id])
    const refused = anExecution({ organizationId, keys: keyOf('refused') })
    const { refuse } = executionStore(table)
    await refuse({ organizationId, id: refused.id, now: Date.now() })
    expect(await create({ execution: refused })).toBe(false)
    const { pk } = searchKey(refused.id, '', '')
    expect((await scan(table)).filter((each) => each.pk === pk)).toHaveLength(1)
  })
})
