import { randomBytes } from 'node:crypto'
import { beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { Unavailable } from '../../lib/core/errors.ts'
import { type Execution, failure, type SuspendedExecution } from '../../lib/core/execution.ts'
import { CANCELLED } from '../../lib/core/execution-errors.ts'
import { cachedExecution, failedExecution } from '../../lib/core/new-execution.ts'
import type { UsagePosition } from '../../lib/core/ports/usage.ts'
import { INTERVAL_MS, MAX_ENDING_MS, type UsageRow } from '../../lib/core/usage.ts'
import { NO_TOTALS } from '../../lib/core/usage-rows.ts'
import { openStores } from '../../lib/dynamodb/open-stores.ts'
import { openTable } from '../../lib/dynamodb/table/table.ts'
import { endExecution } from '../../lib/engine/end-execution.ts'
import { withOutbox } from '../../lib/engine/notifications/outbox.ts'
import { system } from '../../lib/system.ts'
import { provisionTable } from '../../local/emulators/provision.ts'
import { collect } from '../support/data/collect.ts'
import { anExecution, leased, NO_PROGRESS, runOptions } from '../support/engine/executions.ts'
import { EMULATORS, RACERS, race } from '../support/tables/emulators.ts'
import { scanTable } from '../support/tables/sdk.ts'

/** The beginning of a day. */
const DAY = Date.parse('2026-11-25T00:00:00Z')
const HOUR = DAY + 10 * INTERVAL_MS.hour
const iso = (at: number) => new Date(at).toISOString()
const { minute, hour } = INTERVAL_MS
const SUCCESS = { status: 'SUCCESS' as const, output: {}, ...NO_PROGRESS }

const aRow = (overrides: Partial<UsageRow> = {}): UsageRow => ({
  tenantId: null,
  agentId: 'agent',
  versionId: 'version',
  model: null,
  tokenId: null,
  scorer: null,
  ...NO_TOTALS,
  runs: 1,
  ...overrides,
})

/** Rows of which no two have much in common: they hardly compress. */
const manyRows = (count: number, runs = 1) =>
  Array.from({ length: count }, (_, index) =>
    aRow({ tenantId: `${index}-${system.newId()}`, agentId: system.newId(), runs, inputTokens: index }),
  )

describe.each(EMULATORS)('usageStore on %s', (emulator) => {
  const name = `usage-${system.newId()}`
  beforeAll(() => provisionTable(inject(emulator), name))
  const table = openTable({ TABLE_NAME: name, DYNAMODB_ENDPOINT: inject(emulator) })
  const { usage, executions, steps } = openStores(table)

  async function entriesOf({ organizationId }: Execution, from = 0, before = DAY * 2) {
    const pages = await collect(usage.readEntries({ from, before }))
    return pages.flatMap(({ entries }) => entries).filter((entry) => entry.organizationId === organizationId)
  }

  const read = (
    params: Pick<Parameters<typeof usage.read>[0], 'organizationId' | 'interval' | 'from' | 'to'>,
  ) => collect(usage.read(params))

  async function open(overrides: Parameters<typeof anExecution>[0] = {}) {
    const execution = anExecution({ now: DAY, lease: { owner: 'me', expiresAt: DAY }, ...overrides })
    await executions.create({ execution })
    return leased(execution, 'me')
  }

  const usageOf = (inputTokens: number, costUsd?: number) => ({
    inputTokens,
    outputTokens: 1,
    ...(costUsd !== undefined && { costUsd }),
  })

  describe('readEntries', () => {
    it('tells the executions of trials apart, however they end', async () => {
      const replay = {
        ...{ tools: {}, models: 'live' as const, steps: 'live' as const, ignore: [], fromStep: 1 },
        ...{ executionId: system.newId(), isTrial: true, defaultModel: null },
      }
      const codes: (string | null)[] = []
      const end = async (finish: (execution: ReturnType<typeof leased>) => Promise<unknown>) => {
        const execution = await open({ replay })
        await finish(execution)
        const [entry] = await entriesOf(execution)
        expect(entry?.isTrial).toBe(true)
        codes.push(entry?.errorCode ?? null)
      }
      const finishedAt = iso(DAY + 1_500)
      await end((execution) => executions.finish({ execution, outcome: SUCCESS, finishedAt }))
      const error = { code: 'Diverged', message: '' }
      await end((execution) => executions.finish({ execution, outcome: failure(error), finishedAt }))
      await end((execution) => executions.end({ ...execution, execution, error: CANCELLED, finishedAt }))
      expect(codes).toEqual([null, 'Diverged', 'Cancelled'])
    })

    it('has an execution from its end on, with what it used', async () => {
      const execution = await open({ tenantId: 'acme', tokenId: 'token' })
      expect(await entriesOf(execution)).toEqual([])
      const outcome = {
        status: 'SUCCESS' as const,
        output: {},
        steps: 2,
        usage: usageOf(10, 0.5),
        childUsage: usageOf(7, 0.25),
        model: 'openai/gpt-5',
        lostUsage: usageOf(3, 0.125),
      }
      await executions.finish({ execution, outcome, finishedAt: iso(DAY + 1_500) })
      const { organizationId, agentId, versionId } = execution
      expect(await entriesOf(execution)).toEqual([
        {
          ...{
            organizationId,
            agentId,
            versionId,
            tenantId: 'acme',
            tokenId: 'token',
            model: 'openai/gpt-5',
          },
          ...{ at: DAY + 1_500, errorCode: null, isTrial: false, cached: false, runTimeMs: 1_500 },
          usage: { inputTokens: 13, outputTokens: 2, costUsd: 0.625 },
          childUsage: usageOf(7, 0.25),
        },
      ])
    })

    it('has one that ended in an error, whoever ended it, and whatever follows from its end', async () => {
      const failed = await open()
      const error = { code: 'AgentFailed', message: 'It failed.' }
      const finishedAt = iso(DAY + 5)
      await executions.finish({ execution: failed, outcome: { status: 'ERROR', error }, finishedAt })
      expect(await entriesOf(failed)).toMatchObject([{ errorCode: 'AgentFailed', at: DAY + 5 }])
      for (const staysListed of [true, false]) {
        const { id, organizationId } = await open()
        const progress = { steps: 1, usage: usageOf(4), model: 'm' }
        const ended = await executions.end({
          ...{ organizationId, id, error: CANCELLED, finishedAt, progress, staysListed },
        })
        const entry = { errorCode: 'Cancelled', at: DAY + 5, usage: usageOf(4), model: 'm' }
        expect(await entriesOf(ended as Execution)).toMatchObject([entry])
      }
    })

    it.each(['stays suspended', 'is woken meanwhile'])(
      'does not count how long one that was cancelled had waited: it %s',
      async (what) => {
        const execution = await open()
        const suspension = { at: DAY + 3_000, until: DAY + 30 * 24 * hour, waits: [] }
        const times = { openUntil: suspension.until, deadlineAt: suspension.until }
        await executions.suspend({ execution, owner: 'me', suspension, ...times })
        const cancelledAt = DAY + 7 * 24 * hour
        const getSummary: typeof executions.getSummary = async (params) => {
          const read = await executions.getSummary(params)
          if (what === 'is woken meanwhile' && read?.suspension) {
            const lease = { owner: 'next', expiresAt: cancelledAt }
            const now = cancelledAt - 2_000
            await executions.wake({ execution: read as SuspendedExecution, lease, openUntil: now, now })
          }
          return read
        }
        const stores = { steps, executions: { ...executions, getSummary } }
        const clock = { ...system, now: () => cancelledAt }
        expect(
          await endExecution({ ...stores, system: clock }, { ...execution, error: CANCELLED }),
        ).not.toBeNull()
        const [entry] = await entriesOf(execution, DAY, cancelledAt + 1)
        expect(entry).toMatchObject({
          at: cancelledAt,
          runTimeMs: what === 'stays suspended' ? 3_000 : 5_000,
        })
      },
    )

    it('has one that is final at creation', async () => {
      const { input: _, ...params } = anExecution({ now: DAY })
      const given = { ...params, input: {}, options: runOptions(), now: DAY, deadlineMs: 1 }
      const cached = cachedExecution({ ...given, id: system.newId() }, system.newId(), {})
      const refused = failedExecution({ ...given, id: system.newId() }, CANCELLED)
      for (const execution of [cached, refused]) await executions.create({ execution })
      const entries = await entriesOf(cached)
      expect(entries).toHaveLength(2)
      expect(entries).toContainEqual(expect.objectContaining({ cached: true, errorCode: null, runTimeMs: 0 }))
      expect(entries).toContainEqual(expect.objectContaining({ cached: false, errorCode: 'Cancelled' }))
    })

    it('counts a cache hit when it is written, not when it was accepted', async () => {
      const { input: _, ...params } = anExecution({ now: DAY })
      const given = { ...params, input: {}, options: runOptions(), now: DAY, deadlineMs: 1 }
      const execution = cachedExecution(given, system.newId(), {})
      await executions.create({ execution, countedAt: HOUR })
      expect(await executions.get(execution)).toMatchObject({ finishedAt: iso(DAY) })
      expect(await entriesOf(execution)).toMatchObject([{ at: HOUR, cached: true, runTimeMs: 0 }])
    })

    it('reads from `from` on and before `before`', async () => {
      const execution = await open()
      await executions.finish({ execution, outcome: SUCCESS, finishedAt: iso(HOUR) })
      expect(await entriesOf(execution, HOUR, HOUR + 1)).toHaveLength(1)
      expect(await entriesOf(execution, HOUR + 1, HOUR + minute)).toEqual([])
      expect(await entriesOf(execution, HOUR - minute, HOUR)).toEqual([])
      expect(await entriesOf(execution, HOUR, HOUR)).toEqual([])
    })

    it('has no entry that is written long after the end that it records', async () => {
      const execution = await open()
      const stalled = vi.fn(table.writeMany).mockImplementation(async (writes) => {
        await table.writeMany(writes)
        const now = Date.now()
        vi.spyOn(Date, 'now').mockImplementation(() => now + MAX_ENDING_MS)
      })
      const output = { text: randomBytes(20_000).toString('base64') }
      const outcome = { status: 'SUCCESS' as const, output, ...NO_PROGRESS }
      const finishing = openStores({ ...table, writeMany: stalled }).executions.finish({
        ...{ execution, outcome, finishedAt: iso(HOUR) },
      })
      await expect(finishing.finally(() => vi.restoreAllMocks())).rejects.toBeInstanceOf(Unavailable)
      expect(stalled).toHaveBeenCalledOnce()
      expect(await entriesOf(execution)).toEqual([])
      expect(await executions.finish({ execution, outcome, finishedAt: iso(HOUR) })).not.toBeNull()
      expect(await entriesOf(execution)).toHaveLength(1)
    })

    it('has none of a process that was frozen while it asked who wants the event', async () => {
      const execution = await open()
      const of = async () => {
        const now = Date.now()
        vi.spyOn(Date, 'now').mockImplementation(() => now + MAX_ENDING_MS)
        return []
      }
      const queue = { send: () => Promise.reject(new Error('Nobody wants it.')) }
      const stores = withOutbox(openStores(table), { queue, system, destinations: { of } as never })
      const finishing = stores.executions.finish({ execution, outcome: SUCCESS, finishedAt: iso(HOUR) })
      await expect(finishing.finally(() => vi.restoreAllMocks())).rejects.toBeInstanceOf(Unavailable)
      expect(await entriesOf(execution)).toEqual([])
    })

    it('says up to where it has read', async () => {
      const items = Array.from({ length: 16 }, (_, index) => ({
        pk: `EXEC#${system.newId()}`,
        sk: 'RECORD',
        usageShard: `USAGE#${index % 2}`,
        usageAt: DAY * 1.5 + index,
        organizationId: 'many',
        steps: 0,
        cached: false,
        // Large enough for several pages.
        usage: { inputTokens: 0, outputTokens: 0 },
        model: 'm'.repeat(300_000),
      }))
      await table.writeMany(items.map((put) => ({ put })))
      const found = []
      let pages = 0
      let passed = 0
      for await (const { entries, until } of usage.readEntries({ from: DAY * 1.5, before: DAY * 2 })) {
        pages++
        // What was passed does not come again.
        expect(Math.min(...entries.map(({ at }) => at))).toBeGreaterThanOrEqual(passed)
        passed = until
        found.push(...entries)
      }
      expect(found).toHaveLength(items.length)
      expect(pages).toBeGreaterThan(1)
      await table.writeMany(items.map(({ pk, sk }) => ({ delete: { pk, sk } })))
    })
  })

  describe('a deletion', () => {
    const POSITION = { minute: 0, hour: 0, day: 0 }
    const sweep = async (at: number) => {
      for (const cleanup of await executions.listCleanups({ now: at, limit: 100 }))
        await executions.cleanUp({ cleanup, now: at })
    }
    /** A run, and one that it called, with a step. */
    const openBoth = async () => {
      const parent = await open()
      const { organizationId, id: executionId } = parent
      const child = await open({ organizationId, parent: { executionId, callers: [] } })
      const times = { startedAt: iso(DAY), finishedAt: iso(DAY) }
      const step = { number: 1, kind: 'CODE' as const, name: 'step', value: {}, ...times }
      const progress = { steps: 1, usage: usageOf(20), model: 'm' }
      await steps.append({ executionId: child.id, owner: 'me', step, progress })
      return { parent, child }
    }
    const rest = async ({ id }: Execution) =>
      (await scanTable(inject(emulator), name)).filter(({ pk }) => pk === `EXEC#${id}`)

    it('leaves the entry until the position has passed it', async () => {
      const execution = await open({ tenantId: 'acme' })
      const outcome = { status: 'SUCCESS' as const, output: {}, ...NO_PROGRESS, steps: 1, usage: usageOf(9) }
      await executions.finish({ execution, outcome, finishedAt: iso(HOUR) })
      const [entry] = await entriesOf(execution)
      expect(await executions.delete({ ...execution, now: HOUR })).toBe('deleted')
      expect(await executions.get(execution)).toBeNull()
      expect(await entriesOf(execution)).toEqual([entry])
      // At the last millisecond of what was counted, and not so.
      for (const position of [HOUR - minute, HOUR]) {
        await usage.setPosition({ position: { ...POSITION, minute: position } })
        for (const hours of [1, 2, 3]) await sweep(HOUR + hours * hour)
        expect(await entriesOf(execution)).toEqual([entry])
      }
      await usage.setPosition({ position: { ...POSITION, minute: HOUR + minute } })
      await sweep(HOUR + 4 * hour)
      expect(await entriesOf(execution)).toEqual([])
      expect(await rest(execution)).toEqual([])
    })

    it('counts the agents that it called and that were open as cancelled', async () => {
      const { parent, child } = await openBoth()
      await executions.finish({ execution: parent, outcome: SUCCESS, finishedAt: iso(HOUR) })
      await executions.delete({ ...parent, now: HOUR + 7 })
      expect(await executions.get(child)).toBeNull()
      const entries = await entriesOf(parent)
      expect(entries).toHaveLength(2)
      const entry = { agentId: child.agentId, errorCode: 'Cancelled', usage: usageOf(20) }
      expect(entries).toContainEqual(expect.objectContaining(entry))
      const [cancelled] = entries.filter(({ errorCode }) => errorCode !== null)
      expect(cancelled?.at).toBeGreaterThanOrEqual(HOUR + 7)
      expect(cancelled?.at).toBeLessThan(HOUR + minute)
    })

    it('counts a step of such an agent once that was lost and arrived after all, and not how long it waited', async () => {
      const { parent, child } = await openBoth()
      const lostSteps = [1, 2].map((number) => ({ number, attempt: 1, usage: usageOf(20 * number) }))
      const suspension = { at: DAY + 3_000, until: DAY * 2, waits: [] }
      const suspend = { suspension, openUntil: DAY * 2, deadlineAt: DAY * 2, lostSteps }
      expect(await executions.suspend({ execution: child, owner: 'me', ...suspend })).toBe(true)
      await executions.finish({ execution: parent, outcome: SUCCESS, finishedAt: iso(HOUR) })
      await executions.delete({ ...parent, now: HOUR })
      const [entry] = (await entriesOf(parent)).filter(({ errorCode }) => errorCode !== null)
      expect(entry).toMatchObject({ usage: { inputTokens: 60 }, runTimeMs: 3_000 })
    })

    it('writes no entry for an ID that was never used', async () => {
      const execution = anExecution()
      await executions.refuse({ ...execution, now: HOUR })
      expect(await entriesOf(execution)).toEqual([])
    })
  })

  describe('put and read', () => {
    const rowsOf = async (organizationId: string) =>
      (await read({ organizationId, interval: 'hour', from: HOUR, to: HOUR + hour })).flatMap(
        ({ rows }) => rows,
      )
    const put = (organizationId: string, rows: UsageRow[], readAt: number) =>
      usage.put({ organizationId, interval: 'hour', start: HOUR, rows, readAt, isFinal: false })

    it('returns the totals in the order of their intervals, of this organization and size alone', async () => {
      const organizationId = system.newId()
      const other = system.newId()
      const rows = [aRow({ tenantId: 'acme', errors: { AgentFailed: 2 }, costNanoUsd: 5 })]
      const starts = { minute: HOUR + 58 * minute, hour: DAY + 23 * hour, day: DAY }
      for (const interval of ['minute', 'hour', 'day'] as const) {
        const size = INTERVAL_MS[interval]
        const start = starts[interval]
        for (const part of [4, 3, 2, 1, 0])
          await usage.put({
            organizationId,
            interval,
            start: start + part * size,
            rows,
            readAt: 1,
            isFinal: false,
          })
        await usage.put({ organizationId: other, interval, start, rows, readAt: 1, isFinal: false })
        const params = { organizationId, interval, from: start + size, to: start + 4 * size }
        expect(await read(params)).toEqual([1, 2, 3].map((part) => ({ start: start + part * size, rows })))
      }
      expect(await read({ organizationId, interval: 'day', from: DAY, to: DAY })).toEqual([])
    })

    it('replaces rows, also by fewer ones', async () => {
      const organizationId = system.newId()
      const many = manyRows(20_000)
      await put(organizationId, many, 1)
      expect(await rowsOf(organizationId)).toEqual(many)
      const fewer = manyRows(9_000, 2)
      await put(organizationId, fewer, 2)
      expect(await rowsOf(organizationId)).toEqual(fewer)
      await put(organizationId, [aRow({ runs: 3 })], 3)
      expect(await rowsOf(organizationId)).toEqual([aRow({ runs: 3 })])
    })

    it('keeps what was read later', async () => {
      const organizationId = system.newId()
      const late = manyRows(9_000, 2)
      await put(organizationId, late, 2_000)
      for (const rows of [[aRow()], manyRows(9_000)]) await put(organizationId, rows, 1_999)
      expect(await rowsOf(organizationId)).toEqual(late)
    })

    it('keeps final totals', async () => {
      const organizationId = system.newId()
      const params = { organizationId, interval: 'hour' as const, start: HOUR, rows: [aRow({ runs: 2 })] }
      await put(organizationId, [aRow()], 1_000)
      // Also if what is not final was read later.
      await usage.put({ ...params, readAt: 999, isFinal: true })
      expect(await rowsOf(organizationId)).toEqual([aRow({ runs: 2 })])
      await put(organizationId, [aRow()], 2_000)
      await usage.put({ ...params, rows: [aRow()], readAt: 3_000, isFinal: true })
      expect(await rowsOf(organizationId)).toEqual([aRow({ runs: 2 })])
    })

    it('keeps the latest of writes at the same time', async () => {
      const organizationId = system.newId()
      await race((racer) => put(organizationId, [aRow({ runs: racer + 1 })], racer))
      expect(await rowsOf(organizationId)).toEqual([aRow({ runs: RACERS })])
    })

    it('keeps any text of a client', async () => {
      const organizationId = system.newId()
      const rows = ['#', '~', '\u{10ffff}', '__proto__', '"\\'].map((tenantId) => aRow({ tenantId }))
      await put(organizationId, rows, 1)
      expect(await rowsOf(organizationId)).toEqual(rows)
    })
  })

  describe('readParts', () => {
    it('returns what an hour or a day consists of, one organization after the other', async () => {
      const start = DAY + 400 * INTERVAL_MS.day
      const organizations = Array.from({ length: 8 }, () => system.newId())
      const sizes = { hour: 'minute', day: 'hour' } as const
      for (const [whole, interval] of Object.entries(sizes) as ['hour' | 'day', 'minute' | 'hour'][]) {
        const parts = [0, 1, INTERVAL_MS[whole] / INTERVAL_MS[interval] - 1, -1, INTERVAL_MS[whole]]
        for (const organizationId of organizations)
          for (const part of parts) {
            const at = start + part * INTERVAL_MS[interval]
            await usage.put({
              organizationId,
              interval,
              start: at,
              rows: [aRow({ runs: part + 2 })],
              readAt: 1,
              isFinal: true,
            })
          }
        const found: [string, number][] = []
        for await (const { organizationId, rows } of usage.readParts({ start, interval: whole }))
          found.push([organizationId, rows[0]?.runs ?? 0])
        const changes = found.filter(([id], index) => id !== found[index - 1]?.[0])
        expect(changes.map(([id]) => id).sort()).toEqual([...organizations].sort())
        const last = INTERVAL_MS[whole] / INTERVAL_MS[interval] + 1
        expect(found.filter(([id]) => id === organizations[0]).map(([, runs]) => runs)).toEqual([2, 3, last])
      }
    })
  })

  describe('the position', () => {
    it('only moves forward', async () => {
      // Beyond the other tests.
      const start = DAY + 1_000 * INTERVAL_MS.day
      const at = (ms: number): UsagePosition => ({ minute: start + ms, hour: start, day: start })
      await usage.setPosition({ position: at(10) })
      await usage.setPosition({ position: at(9) })
      expect(await usage.getPosition()).toEqual(at(10))
      // Another sweeper was faster with the minutes.
      await usage.setPosition({ position: { ...at(9), hour: start + hour } })
      expect(await usage.getPosition()).toEqual(at(10))
      await usage.setPosition({ position: { ...at(10), hour: start + hour } })
      expect(await usage.getPosition()).toEqual({ ...at(10), hour: start + hour })
    })
  })
})
