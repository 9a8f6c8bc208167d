import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Execution, failure } from '../../../lib/core/execution.ts'
import { CANCELLED } from '../../../lib/core/execution-errors.ts'
import { timeOfId } from '../../../lib/core/ids.ts'
import type { PageRequest } from '../../../lib/core/ports/system.ts'
import type { Wait } from '../../../lib/core/wait.ts'
import { executionStore } from '../../../lib/dynamodb/executions/execution-store.ts'
import { executionKey } from '../../../lib/dynamodb/table/keys.ts'
import { system } from '../../../lib/system.ts'
import { propertyRuns } from '../../support/data/property-runs.ts'
import { anExecution, leased, NO_PROGRESS } from '../../support/engine/executions.ts'
import { EMULATORS, readPages } from '../../support/tables/emulators.ts'
import { emulatedTable } from '../../support/tables/memory-table.ts'

const AT = '2026-11-22T08:00:00.000Z'
const AGENTS = [system.newId(), system.newId()]
const TENANTS = [null, 'acme', 'umbrella#0']
const STATUSES = ['IN_PROGRESS', 'SUCCESS', 'ERROR'] as const
const isSuspended = ({ suspension }: Execution) => suspension !== null
const WAITING = {
  any: isSuspended,
  approval: (execution: Execution) => execution.suspension?.waits[0]?.kind === 'approval',
  none: (execution: Execution) => !isSuspended(execution),
}

describe.each(EMULATORS)('executionLists on %s', async (emulator) => {
  const table = await emulatedTable(emulator)
  const organizationId = system.newId()
  const everything = { organizationId, agentId: null, tenantId: null, status: null, limit: 100, after: null }
  const store = executionStore(table)
  /** Newest first. */
  let stored: Execution[] = []

  async function create(number: number): Promise<Execution> {
    const [agentId = '', tenantId = null] = [AGENTS[number % 2], TENANTS[number % 3]]
    const lease = { owner: 'me', expiresAt: Date.now() + 60_000 }
    const input = { text: `${number}` }
    const id = `${(1_800_000_000_000 + number * 10).toString(16).padStart(12, '0')}`
    const execution = anExecution({
      id: `${id.slice(0, 8)}-${id.slice(8)}-7${system.newId().slice(15)}`,
      ...{ organizationId, agentId, tenantId, lease, input },
    })
    await store.create({ execution })
    const status = STATUSES[Math.floor(number / 6) % 3]
    const ended = { execution: leased(execution, 'me'), finishedAt: AT }
    if (status === 'ERROR' && number % 2 === 0)
      await store.end({ organizationId, id: execution.id, error: CANCELLED, finishedAt: AT })
    else if (status === 'ERROR') await store.finish({ ...ended, outcome: failure(CANCELLED) })
    else if (status === 'SUCCESS')
      await store.finish({ ...ended, outcome: { status, output: { text: 'x' }, ...NO_PROGRESS } })
    else if (number % 6 > 2) await suspend(execution, number % 6 > 4 ? 'approval' : 'sleep')
    const record = await store.get(execution)
    if (!record) throw new Error('not stored')
    return record
  }

  const suspend = (execution: Execution, kind: Wait['kind']) => {
    const suspension = { at: 1, until: 2, waits: [{ kind, name: 'nap', since: AT, until: AT }] }
    return store.suspend({ execution, owner: 'me', suspension, openUntil: 2, deadlineAt: 3 })
  }

  beforeAll(async () => {
    for (let number = 0; number < 72; number++) stored = [await create(number), ...stored]
  })

  const time = fc.integer({ min: -20, max: 760 }).map((ms) => 1_800_000_000_000 + ms)
  const anyTime = fc.option(time, { nil: undefined })
  const anyQuery = fc.record({
    agentId: fc.constantFrom(null, ...AGENTS),
    tenantId: fc.constantFrom(...TENANTS, 'nobody'),
    status: fc.constantFrom(null, ...STATUSES),
    waiting: fc.constantFrom(undefined, 'any' as const, 'approval' as const, 'none' as const),
    from: anyTime,
    to: anyTime,
    limit: fc.oneof(fc.integer({ min: 1, max: 7 }), fc.integer({ min: 1, max: 80 })),
  })

  it('return what matches, newest first, in pages of any size', async () => {
    const property = fc.asyncProperty(anyQuery, async ({ limit, ...filter }) => {
      const { agentId, tenantId, status, waiting, from = 0, to = Number.POSITIVE_INFINITY } = filter
      const expected = stored.filter(
        (execution) =>
          (agentId === null || execution.agentId === agentId) &&
          (tenantId === null || execution.tenantId === tenantId) &&
          (status === null || execution.status === status) &&
          (waiting === undefined || WAITING[waiting](execution)) &&
          timeOfId(execution.id) >= from &&
          timeOfId(execution.id) < to,
      )
      const list = (page: PageRequest) => store.list({ organizationId, ...filter, ...page })
      // No index has the executions that succeeded, or those that are not suspended.
      const mayBeEmpty = status === 'SUCCESS' || waiting !== undefined
      const { items } = await readPages(list, limit, { mayBeEmpty })
      expect(items).toEqual(expected)
    })
    await fc.assert(property, { numRuns: propertyRuns(100) })
  })

  it('leave out what has been resumed since the index was written', async () => {
    const [stale, ...others] = stored.filter(WAITING.approval) as [Execution, ...Execution[]]
    // As the index shows it: the record itself has been resumed.
    await table.update(executionKey(stale.id), { remove: ['suspension'] })
    const { items } = await store.listSummaries({ ...everything, waiting: 'approval' })
    expect(items.map(({ id }) => id)).toEqual(others.map(({ id }) => id))
    await table.update(executionKey(stale.id), { set: { suspension: stale.suspension } })
  })

  it('return summaries without payloads', async () => {
    const { items } = await store.listSummaries(everything)
    expect(items).toEqual(
      stored.map(({ input, output, inputAdaptations, feedback, logs, ...summary }) => summary),
    )
  })
})
