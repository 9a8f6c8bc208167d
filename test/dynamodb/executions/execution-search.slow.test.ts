import fc from 'fast-check'
import { v7 } from 'uuid'
import { beforeAll, describe, expect, it } from 'vitest'
import type { ListPosition } from '../../../lib/core/cursor.ts'
import type { Execution } from '../../../lib/core/execution.ts'
import { timeOfId } from '../../../lib/core/ids.ts'
import type { ExecutionListParams, ExecutionSearch } from '../../../lib/core/ports/execution-reader.ts'
import { statusKey, toItem } from '../../../lib/dynamodb/executions/execution-item.ts'
import { executionStore } from '../../../lib/dynamodb/executions/execution-store.ts'
import { executionKey } from '../../../lib/dynamodb/table/keys.ts'
import { system } from '../../../lib/system.ts'
import { LOCAL_TABLE } from '../../../local/emulators/provision.ts'
import { propertyRuns } from '../../support/data/property-runs.ts'
import { anExecution } from '../../support/engine/executions.ts'
import { EMULATORS, tableOn } from '../../support/tables/emulators.ts'

const AT = 1_800_000_000_000
const VERSIONS = [system.newId(), system.newId()]
const MODELS = ['openai/gpt-5-mini', 'bedrock/nova:high']
const SOURCES = ['API', 'BATCH', 'SCHEDULE'] as const
const ERRORS = [
  null,
  { code: 'AgentFailed', message: 'Café Ångström: no table\nat line 2' },
  { code: 'TimedOut', message: 'It took 61 s (100 %).' },
]

describe.each(EMULATORS)('a search in %s', (emulator) => {
  const table = tableOn(emulator, LOCAL_TABLE)
  const store = executionStore(table)

  /** Stores executions as their runs leave them. */
  async function put(executions: Execution[]): Promise<void> {
    const items = await Promise.all(
      executions.map(async (execution) => {
        const item = await toItem(table, execution)
        if (execution.status !== 'ERROR') return item
        return { ...item, statusShard: statusKey(execution, 'ERROR'), failedShard: item.agentShard }
      }),
    )
    for (let done = 0; done < items.length; done += 100)
      await table.writeMany(items.slice(done, done + 100).map((item) => ({ put: item })))
  }

  const finished = (overrides: Partial<Execution>): Execution => ({
    ...anExecution({ sharesWorker: false }),
    ...{ lease: null, openUntil: null, status: 'SUCCESS', finishedAt: new Date(AT).toISOString() },
    ...overrides,
  })

  /** Reads to the end, and fails if that takes more pages than it can need. */
  async function readAll(
    params: Omit<ExecutionListParams, 'after' | 'status' | 'tenantId'> & Partial<ExecutionListParams>,
    { list = store.listSummaries as typeof store.list, maxPages = 300 } = {},
  ) {
    const ids: string[] = []
    const pages: { size: number; executions: number; until: string | null }[] = []
    const positions: ListPosition[] = []
    for (let after: ListPosition | null = null; ; ) {
      const page = await list({ status: null, tenantId: null, ...params, after })
      ids.push(...page.items.map(({ id }) => id))
      pages.push({ size: page.items.length, ...{ executions: 0, until: null }, ...page.searched })
      if (!page.next) return { ids, pages, positions }
      if (after && page.next.order >= after.order) throw new Error('The list does not go on.')
      if (pages.length >= maxPages) throw new Error(`More than ${maxPages} pages.`)
      positions.push(page.next)
      after = page.next
    }
  }

  describe('of executions that differ', () => {
    const organizationId = system.newId()
    const agents = [system.newId(), system.newId()]
    let stored: Execution[] = []
    beforeAll(async () => {
      stored = Array.from({ length: 72 }, (_, number) => {
        const error = ERRORS[number % 3] ?? null
        return finished({
          id: v7({ msecs: AT + Math.floor(number / 2) }),
          organizationId,
          agentId: agents[number % 2] ?? '',
          versionId: VERSIONS[Math.floor(number / 2) % 2] ?? '',
          source: SOURCES[Math.floor(number / 4) % 3] ?? 'API',
          model: MODELS[Math.floor(number / 3) % 2] ?? null,
          tenantId: number % 4 === 0 ? 'acme' : null,
          status: error ? 'ERROR' : 'SUCCESS',
          error,
        })
      })
      stored.sort((a, b) => (a.id < b.id ? 1 : -1))
      await put(stored)
    })

    const isFound = ({ error, ...execution }: Execution, search: ExecutionSearch) => {
      const { errorCode, errorText, ...same } = search
      const text = error ? `${error.code} ${error.message}`.toLowerCase() : ''
      return (
        Object.entries(same).every(([name, value]) => execution[name as keyof typeof execution] === value) &&
        (errorCode === undefined || error?.code === errorCode) &&
        (errorText === undefined || text.includes(errorText.toLowerCase()))
      )
    }

    const anySearch = fc
      .record(
        {
          versionId: fc.constantFrom(...VERSIONS, system.newId()),
          source: fc.constantFrom(...SOURCES, 'AGENT' as const),
          model: fc.constantFrom(...MODELS, 'openai/GPT-5-mini'),
          errorCode: fc.constantFrom('AgentFailed', 'TimedOut', 'agentfailed', 'Agent'),
          errorText: fc.constantFrom('café å', 'TIMED', '100 %', 'line 2', '.*', 'nothing'),
        },
        { requiredKeys: [] },
      )
      .filter((search) => Object.keys(search).length > 0)

    const anyQuery = fc.record({
      search: anySearch,
      agentId: fc.constantFrom(null, ...agents),
      tenantId: fc.constantFrom(null, 'acme'),
      status: fc.constantFrom(null, 'ERROR' as const),
      limit: fc.integer({ min: 1, max: 30 }),
    })

    it('finds what matches, newest first, in pages of any size', async () => {
      const property = fc.asyncProperty(anyQuery, fc.boolean(), async (query, isWhole) => {
        const { search, agentId, tenantId, status } = query
        const expected = stored.filter(
          (execution) =>
            (agentId === null || execution.agentId === agentId) &&
            (tenantId === null || execution.tenantId === tenantId) &&
            (status === null || execution.status === status) &&
            isFound(execution, search),
        )
        const list = isWhole ? store.list : (store.listSummaries as typeof store.list)
        const { ids, pages } = await readAll({ organizationId, ...query }, { list })
        expect(ids).toEqual(expected.map(({ id }) => id))
        expect(pages.slice(0, -1).every(({ size }) => size === query.limit)).toBe(true)
      })
      await fc.assert(property, { numRuns: propertyRuns(60) })
    })

    it('says how many executions it has looked at, and back to when', async () => {
      const search = { source: 'BATCH' as const }
      const { pages } = await readAll({ organizationId, agentId: null, limit: 10, search })
      expect(pages.reduce((sum, { executions }) => sum + executions, 0)).toBe(72)
      const [first] = pages
      const looked = stored.slice(0, first?.executions)
      expect(looked.filter(({ source }) => source === 'BATCH')).toHaveLength(10)
      expect(first?.until).toBe(new Date(timeOfId(looked.at(-1)?.id ?? '')).toISOString())
      expect(pages.at(-1)?.until).toBe(new Date(AT).toISOString())
    })

    it('does not tell of executions of agents that the token may not use', async () => {
      const search = { source: 'BATCH' as const }
      const agentIds = agents.slice(0, 1)
      const { ids, pages, positions } = await readAll({
        ...{ organizationId, agentId: null, agentIds, limit: 1, search },
      })
      expect(ids).toHaveLength(12)
      expect(pages.reduce((sum, { executions }) => sum + executions, 0)).toBe(36)
      const hidden = new Set(stored.filter(({ agentId }) => agentId !== agentIds[0]).map(({ id }) => id))
      expect(positions.filter(({ order }) => hidden.has(order))).toEqual([])
    })

    it('goes on from the position of any other list', async () => {
      const params = { organizationId, agentId: null, tenantId: null, status: null }
      const { next } = await store.listSummaries({ ...params, limit: 20, after: null })
      const search = { errorCode: 'TimedOut' }
      const { items } = await store.listSummaries({ ...params, limit: 100, after: next, search })
      const expected = stored.slice(20).filter(({ error }) => error?.code === 'TimedOut')
      expect(items.map(({ id }) => id)).toEqual(expected.map(({ id }) => id))
    })
  })

  it('ends a page before its payloads exceed what a response can carry', async () => {
    const organizationId = system.newId()
    const input = { text: 'x'.repeat(1_500_000) }
    const large = [1, 2, 3, 4, 5].map((number) =>
      finished({ id: v7({ msecs: AT + number }), organizationId, input, source: 'API' }),
    )
    await put(large)
    const search = { source: 'API' as const }
    const params = { organizationId, agentId: null, limit: 100, search }
    const { ids, pages } = await readAll(params, { list: store.list })
    expect(ids).toEqual(large.map(({ id }) => id).toReversed())
    expect(pages).toMatchObject([2, 2, 1].map((size) => ({ size, executions: size })))
  })

  describe('among 250 executions of one millisecond', () => {
    const organizationId = system.newId()
    const [agentId, other] = [system.newId(), system.newId()]
    const oldest = finished({ id: v7({ msecs: AT - 1 }), organizationId, agentId, source: 'SCHEDULE' })
    beforeAll(async () => {
      const batch = Array.from({ length: 250 }, (_, number) =>
        finished({
          ...{ id: v7({ msecs: AT }), organizationId, agentId: number < 200 ? other : agentId },
          ...{ source: 'BATCH', status: 'ERROR', error: ERRORS[2] ?? null },
        }),
      )
      await put([oldest, ...batch])
      for (const { id } of batch.slice(200, 230))
        await table.update(executionKey(id), { set: { deleted: true } })
    })

    const expectOldest = async (params: Partial<ExecutionListParams>) => {
      const { ids } = await readAll({ organizationId, agentId: null, limit: 1, ...params }, { maxPages: 40 })
      expect(ids).toEqual([oldest.id])
    }

    const SEARCH = { source: 'SCHEDULE' as const }
    it.each<[string, Partial<ExecutionListParams>]>([
      ['although none of them matches, and some are deleted', { search: SEARCH }],
      ['although the token may not use most of them', { search: SEARCH, agentIds: [agentId] }],
      ['in lists that pass over them without a search', { status: 'SUCCESS' }],
      ['in lists without a search, for such a token', { status: 'SUCCESS', agentIds: [agentId] }],
    ])('goes on %s', (_, params) => expectOldest(params))
  })

  it('looks at 2,000 executions at most, and then says where to go on', { timeout: 60_000 }, async () => {
    const organizationId = system.newId()
    const oldest = finished({ id: v7({ msecs: AT - 1 }), organizationId, source: 'SCHEDULE' })
    const newer = Array.from({ length: 2_050 }, (_, number) =>
      finished({ id: v7({ msecs: AT + number }), organizationId, source: 'API' }),
    )
    await put([oldest, ...newer])
    const search = { source: 'SCHEDULE' as const }
    const { ids, pages } = await readAll({ organizationId, agentId: null, limit: 1, search })
    expect(ids).toEqual([oldest.id])
    const until = new Date(AT + 50).toISOString()
    expect(pages[0]).toEqual({ size: 0, executions: 2_000, until })
    expect(pages).toHaveLength(2)
  })
})
