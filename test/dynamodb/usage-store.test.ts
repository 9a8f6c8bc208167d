import { randomBytes } from 'node:crypto'
import { describe, expect, it, vi } from 'vitest'
import { Unavailable } from '../../lib/core/errors.ts'
import { type Execution, failure, type Outcome, type SuspendedExecution } from '../../lib/core/execution.ts'
import { CANCELLED } from '../../lib/core/execution-errors.ts'
import { cachedExecution, failedExecution } from '../../lib/core/new-execution.ts'
import type { UsagePosition } from '../../lib/core/ports/usage.ts'
import { INTERVAL_MS, MAX_ENDING_MS, type UsageRow } from '../../lib/core/usage.ts'
import { NO_TOTALS } from '../../lib/core/usage-rows.ts'
import { openStores } from '../../lib/dynamodb/open-stores.ts'
import { endExecution } from '../../lib/engine/end-execution.ts'
import { withOutbox } from '../../lib/engine/notifications/outbox.ts'
import { system } from '../../lib/system.ts'
import { collect } from '../support/data/collect.ts'
import { anExecution, leased, NO_PROGRESS, runOptions } from '../support/engine/executions.ts'
import { EMULATORS, RACERS, race } from '../support/tables/emulators.ts'
import { itemsIn } from '../support/tables/items-in.ts'
import { emulatedTable } from '../support/tables/memory-table.ts'

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

describe.each(EMULATORS)('usageStore on %s', async (emulator) => {
  const table = await emulatedTable(emulator)
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

  const finish = (execution: ReturnType<typeof leased>, outcome: Outcome = SUCCESS, at = HOUR) =>
    executions.finish({ execution, outcome, finishedAt: iso(at) })

  const usageOf = (inputTokens: number, costUsd?: number) => ({
    ...{ inputTokens, outputTokens: 1 },
    ...(costUsd !== undefined && { costUsd }),
  })

  const stopTheClock = () => {
    const now = Date.now()
    vi.spyOn(Date, 'now').mockImplementation(() => now + MAX_ENDING_MS)
  }

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
      await end((execution) => finish(execution))
      await end((execution) => finish(execution, failure({ code: 'Diverged', message: '' })))
      const cancelled = { error: CANCELLED, finishedAt: iso(HOUR) }
      await end((execution) => executions.end({ ...execution, execution, ...cancelled }))
      expect(codes).toEqual([null, 'Diverged', 'Cancelled'])
    })

    it('has an execution from its end on, with what it used', async () => {
      const execution = await open({ tenantId: 'acme', tokenId: 'token' })
      expect(await entriesOf(execution)).toEqual([])
      const childUsage = usageOf(7, 0.25)
      const used = { usage: usageOf(10, 0.5), childUsage, lostUsage: usageOf(3, 0.125) }
      await finish(execution, { ...SUCCESS, steps: 2, model: 'openai/gpt-5', ...used }, DAY + 1_500)
      const { organizationId, agentId, versionId } = execution
      expect(await entriesOf(execution)).toEqual([
        {
          ...{ organizationId, agentId, versionId, tenantId: 'acme', tokenId: 'token', childUsage },
          ...{ at: DAY + 1_500, errorCode: null, isTrial: false, cached: false, runTimeMs: 1_500 },
          ...{ model: 'openai/gpt-5', usage: { inputTokens: 13, outputTokens: 2, costUsd: 0.625 } },
        },
      ])
    })

    it('has one that ended in an error, whoever ended it, and whatever follows from its end', async () => {
      const failed = await open()
      await finish(failed, failure({ code: 'AgentFailed', message: 'It failed.' }), DAY + 5)
      expect(await entriesOf(failed)).toMatchObject([{ errorCode: 'AgentFailed', at: DAY + 5 }])
      for (const staysListed of [true, false]) {
        const { id, organizationId } = await open()
        const progress = { steps: 1, usage: usageOf(4), model: 'm' }
        const end = { error: CANCELLED, finishedAt: iso(DAY + 5), progress, staysListed }
        const ended = await executions.end({ organizationId, id, ...end })
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
        const ended = await endExecution({ ...stores, system: clock }, { ...execution, error: CANCELLED })
        expect(ended).not.toBeNull()
        const [entry] = await entriesOf(execution, DAY, cancelledAt + 1)
        const runTimeMs = what === 'stays suspended' ? 3_000 : 5_000
        expect(entry).toMatchObject({ at: cancelledAt, runTimeMs })
      },
    )

    it('has one that is final at creation: a cache hit at the time when it is written, not accepted', async () => {
      const { input: _, ...params } = anExecution({ now: DAY })
      const given = { ...params, input: {}, options: runOptions(), now: DAY, deadlineMs: 1 }
      const cached = cachedExecution({ ...given, id: system.newId() }, system.newId(), {})
      const refused = failedExecution({ ...given, id: system.newId() }, CANCELLED)
      for (const execution of [cached, refused]) await executions.create({ execution, countedAt: HOUR })
      expect(await executions.get(cached)).toMatchObject({ finishedAt: iso(DAY) })
      const entries = await entriesOf(cached)
      expect(entries).toHaveLength(2)
      const hit = { at: HOUR, cached: true, errorCode: null, runTimeMs: 0 }
      expect(entries).toContainEqual(expect.objectContaining(hit))
      expect(entries).toContainEqual(expect.objectContaining({ cached: false, errorCode: 'Cancelled' }))
    })

    it('reads from `from` on and before `before`', async () => {
      const execution = await open()
      await finish(execution)
      expect(await entriesOf(execution, HOUR, HOUR + 1)).toHaveLength(1)
      expect(await entriesOf(execution, HOUR + 1, HOUR + minute)).toEqual([])
      expect(await entriesOf(execution, HOUR - minute, HOUR)).toEqual([])
      expect(await entriesOf(execution, HOUR, HOUR)).toEqual([])
    })

    it('has no entry that is written long after the end that it records', async () => {
      const execution = await open()
      const stalled = vi.fn(table.writeMany).mockImplementation(async (writes) => {
        await table.writeMany(writes)
        stopTheClock()
      })
      const outcome = { ...SUCCESS, output: { text: randomBytes(20_000).toString('base64') } }
      const stores = openStores({ ...table, writeMany: stalled })
      const finishing = stores.executions.finish({ execution, outcome, finishedAt: iso(HOUR) })
      await expect(finishing.finally(() => vi.restoreAllMocks())).rejects.toBeInstanceOf(Unavailable)
      expect(stalled).toHaveBeenCalledOnce()
      expect(await entriesOf(execution)).toEqual([])
      expect(await finish(execution, outcome)).not.toBeNull()
      expect(await entriesOf(execution)).toHaveLength(1)
    })

    it('has none of a process that was frozen while it asked who wants the event', async () => {
      const execution = await open()
      const of = async () => {
        stopTheClock()
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
    it('leaves the entry until the position has passed it', async () => {
      const execution = await open({ tenantId: 'acme' })
      await finish(execution, { ...SUCCESS, steps: 1, usage: usageOf(9) })
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
      expect(await itemsIn(table, `EXEC#${execution.id}`)).toEqual([])
    })

    it('counts the agents that it called and that were open as cancelled', async () => {
      const { parent, child } = await openBoth()
      await finish(parent)
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
      await finish(parent)
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
    const rowsOf = async (organizationId: string) => {
      const parts = await read({ organizationId, interval: 'hour', from: HOUR, to: HOUR + hour })
      return parts.flatMap(({ rows }) => rows)
    }
    const put = (organizationId: string, rows: UsageRow[], readAt: number, isFinal = false) =>
      usage.put({ organizationId, interval: 'hour', start: HOUR, rows, readAt, isFinal })

    it('returns the totals in the order of their intervals, of this organization and size alone', async () => {
      const organizationId = system.newId()
      const other = system.newId()
      const rows = [aRow({ tenantId: 'acme', errors: { AgentFailed: 2 }, costNanoUsd: 5 })]
      const starts = { minute: HOUR + 58 * minute, hour: DAY + 23 * hour, day: DAY }
      for (const interval of ['minute', 'hour', 'day'] as const) {
        const size = INTERVAL_MS[interval]
        const start = starts[interval]
        const totals = { interval, rows, readAt: 1, isFinal: false }
        for (const part of [4, 3, 2, 1, 0])
          await usage.put({ ...totals, organizationId, start: start + part * size })
        await usage.put({ ...totals, organizationId: other, start })
        const params = { organizationId, interval, from: start + size, to: start + 4 * size }
        expect(await read(params)).toEqual([1, 2, 3].map((part) => ({ start: start + part * size, rows })))
      }
      expect(await read({ organizationId, interval: 'day', from: DAY, to: DAY })).toEqual([])
    })

    it('replaces rows, also by fewer ones', async () => {
      const organizationId = system.newId()
      for (const [readAt, rows] of [manyRows(20_000), manyRows(9_000, 2), [aRow({ runs: 3 })]].entries()) {
        await put(organizationId, rows, readAt)
        expect(await rowsOf(organizationId)).toEqual(rows)
      }
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
      await put(organizationId, [aRow()], 1_000)
      // Also if what is not final was read later.
      await put(organizationId, [aRow({ runs: 2 })], 999, true)
      expect(await rowsOf(organizationId)).toEqual([aRow({ runs: 2 })])
      await put(organizationId, [aRow()], 2_000)
      await put(organizationId, [aRow()], 3_000, true)
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
            const totals = { rows: [aRow({ runs: part + 2 })], readAt: 1, isFinal: true }
            const at = start + part * INTERVAL_MS[interval]
            await usage.put({ organizationId, interval, start: at, ...totals })
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

  it('has a position that only moves forward', async () => {
    // Beyond the other tests.
    const start = DAY + 1_000 * INTERVAL_MS.day
    const at = (ms: number): UsagePosition => ({ minute: start + ms, hour: start, day: start })
    const next = { ...at(10), hour: start + hour }
    await usage.setPosition({ position: at(10) })
    // With the last one, another sweeper was faster with the minutes.
    for (const position of [at(9), { ...at(9), hour: start + hour }]) {
      await usage.setPosition({ position })
      expect(await usage.getPosition()).toEqual(at(10))
    }
    await usage.setPosition({ position: next })
    expect(await usage.getPosition()).toEqual(next)
  })
})
