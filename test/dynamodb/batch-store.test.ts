import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { type Batch, firstLane, type LineInput } from '../../lib/core/batch.ts'
import { parseJson } from '../../lib/core/json/parse-json.ts'
import { batchStore } from '../../lib/dynamodb/batch-store.ts'
import { batchBlockKey, batchKey, laneKey } from '../../lib/dynamodb/table/keys.ts'
import { timerStore } from '../../lib/dynamodb/timer-store.ts'
import { system } from '../../lib/system.ts'
import { aBatch, anEndedTrial, linesOf } from '../support/batches/a-batch.ts'
import { collect } from '../support/data/collect.ts'
import { EMULATORS, race, readPages } from '../support/tables/emulators.ts'
import { itemsIn } from '../support/tables/items-in.ts'
import { emulatedTable } from '../support/tables/memory-table.ts'
import { FaultyWorker } from '../support/waiting/faulty-worker.ts'

const STOPPED = { code: 'BudgetExceeded', message: 'Too much.' }
const TOTALS = { succeeded: 2, failed: 1, cancelled: 0, costUsd: 0.000_001 }
const endedAt = '2026-11-25T12:00:00.000Z'

describe.each(EMULATORS)('batchStore on %s', async (emulator) => {
  // A separate table: `timersOf` reads the timers of all batches.
  const table = await emulatedTable(emulator)
  const store = batchStore(table)

  async function created(given = aBatch()): Promise<Batch> {
    const batch = await store.create(given)
    if (!batch) throw new Error('It exists.')
    return batch
  }
  const linesIn = async (batch: Batch): Promise<LineInput[]> => {
    const blocks = await Promise.all(batch.blocks.map((_, block) => store.readBlock({ batch, block })))
    return blocks.flat()
  }
  const ended = async (given = aBatch()) => {
    const batch = await created(given)
    await store.end({ batch, totals: TOTALS, endedAt })
    return batch
  }
  const itemsOf = async ({ id, blocks, lanes }: Batch) => {
    const partitions = [
      batchKey(id).pk,
      ...blocks.map((_, block) => batchBlockKey(id, block, 0).pk),
      ...Array.from({ length: lanes }, (_, lane) => laneKey(id, lane).pk),
    ]
    const found = [...new Set(partitions)].map((pk) => itemsIn(table, pk))
    return (await Promise.all(found)).flat()
  }
  const timersOf = async ({ id }: Pick<Batch, 'id'>) => {
    const due = (await collect(timerStore(table).read({ before: Number.MAX_SAFE_INTEGER }))).flat()
    return due.flatMap((each) => (each.kind === 'batch' && each.message.batchId === id ? each.openUntil : []))
  }

  it('returns what was stored, with all digits of its lines, and nothing to another organization', async () => {
    const input = parseJson('{"id":12345678901234567890,"text":"Müller\\n"}') as LineInput['input']
    const given = aBatch({
      lines: [{ customId: 'ü', input }, ...linesOf(2)],
      tenantId: 'acme',
      options: { useCache: false, model: undefined },
      maxCostUsd: 0.5,
    })
    const batch = await created(given)
    expect(await store.get(batch)).toEqual(batch)
    expect(batch).toEqual({ ...given.batch, blocks: [{ first: 0, chunks: 1 }] })
    expect(JSON.stringify(await linesIn(batch))).toBe(JSON.stringify(given.lines))
    expect(await store.get({ ...batch, organizationId: system.newId() })).toBeNull()
    expect(await store.create(given)).toBeNull()
    expect(await timersOf(batch)).toEqual([batch.openUntil])
  })

  it('has 100 lines in a block, or 250 kB, or one large line in several chunks', async () => {
    const large = randomBytes(600_000).toString('base64')
    const given = aBatch({
      lines: [...linesOf(250), ...linesOf(2, large), ...linesOf(3, 'x'.repeat(100_000))],
    })
    const batch = await created(given)
    expect(batch.blocks.map(({ first }) => first)).toEqual([0, 100, 200, 250, 251, 252, 254])
    expect(batch.blocks.flatMap(({ chunks }, index) => (chunks > 1 ? index : []))).toEqual([3, 4])
    expect(await linesIn(batch)).toEqual(given.lines)
  })

  it('lists those of an organization, newest first, also by agent and tenant', async () => {
    const organizationId = system.newId()
    const agents = [system.newId(), system.newId()] as const
    const all: Batch[] = []
    for (let number = 0; number < 12; number++) {
      const [agentId, tenantId] = [agents[number % 2] as string, number % 3 === 0 ? 'acme' : null]
      all.unshift(await created(aBatch({ organizationId, agentId, tenantId })))
    }
    const list = async (agentIds: string[] | null, tenantId: string | null) => {
      const scope = { organizationId, agentIds, tenantId }
      return (await readPages((page) => store.list({ ...scope, ...page }), 2, { mayBeEmpty: true })).items
    }
    expect(await list(null, null)).toEqual(all)
    expect(await list([agents[0]], null)).toEqual(all.filter(({ agentId }) => agentId === agents[0]))
    expect(await list(null, 'acme')).toEqual(all.filter(({ tenantId }) => tenantId === 'acme'))
    expect(await list([], null)).toEqual([])
  })

  it('has lanes that begin with their first line, and go on from each line once', async () => {
    const batch = await created(aBatch({ lines: 40, lanes: 20 }))
    const lanes = Array.from({ length: 20 }, (_, number) => firstLane(number, batch))
    expect(await store.listLanes({ batch })).toEqual(lanes)
    const lane = { ...firstLane(9, batch), ...TOTALS, line: 29, next: 49 }
    const first = await race((n) => store.putLane({ batch, lane: { ...lane, costUsd: n }, replaces: 9 }))
    expect(first.filter(Boolean)).toHaveLength(1)
    const stored = await store.getLane({ batch, number: 9 })
    expect(stored).toEqual({ ...lane, costUsd: first.indexOf(true) })
    const last = { ...stored, line: null }
    const second = await race(() => store.putLane({ batch, lane: last, replaces: 29 }))
    expect(second.filter(Boolean)).toHaveLength(1)
    expect(await store.putLane({ batch, lane, replaces: 9 })).toBe(false)
    expect((await store.listLanes({ batch }))[9]).toEqual(last)
  })

  it('is stopped once, and cancelled also after that, with the first reason', async () => {
    const batch = await created()
    expect(await store.stop({ batch, error: STOPPED, status: 'IN_PROGRESS' })).toBe(true)
    expect(await store.stop({ batch, error: STOPPED, status: 'IN_PROGRESS' })).toBe(false)
    const error = { code: 'Cancelled', message: 'On request.' }
    expect(await store.stop({ batch, error, status: 'CANCELLING' })).toBe(true)
    expect(await store.stop({ batch, error, status: 'CANCELLING' })).toBe(false)
    expect(await store.get(batch)).toEqual({ ...batch, status: 'CANCELLING', stopped: STOPPED })
  })

  it('ends once, and has no timer then', async () => {
    const batch = await created()
    await store.postpone({ id: batch.id, openUntil: 7 })
    expect(await timersOf(batch)).toEqual([7])
    const timeOf = (racer: number) => new Date(racer).toISOString()
    const ends = await race((racer) => store.end({ batch, totals: TOTALS, endedAt: timeOf(racer) }))
    expect(ends.filter(Boolean)).toHaveLength(1)
    await store.postpone({ id: batch.id, openUntil: 8 })
    const final = { totals: TOTALS, endedAt: timeOf(ends.indexOf(true)), openUntil: null }
    expect(await store.get(batch)).toEqual({ ...batch, status: 'ENDED', ...final })
    expect(await timersOf(batch)).toEqual([])
    expect(await store.stop({ batch, error: STOPPED, status: 'CANCELLING' })).toBe(false)
  })

  it('is entered into the outbox when it ends, if it is marked, and stays there', async () => {
    const batch = await created()
    await store.end({ batch, totals: TOTALS, endedAt, isMarked: true })
    await store.postpone({ id: batch.id, openUntil: 8 })
    const item = await table.get(batchKey(batch.id), { consistent: true })
    expect(item?.openShard).toMatch(/^OUTBOX#/)
    expect(item?.openUntil).toBe(Date.parse(endedAt))
    expect(await store.get(batch)).toMatchObject({ status: 'ENDED', openUntil: null })
    expect(await timersOf(batch)).toEqual([])
  })

  it('is hidden only after its end, and leaves nothing when it is removed', async () => {
    const given = aBatch({ lines: linesOf(250) })
    expect(await store.hide({ batch: await created(), now: 1 })).toBe(false)
    const batch = await ended(given)
    for (let number = 0; number < batch.lanes; number++)
      await store.putLane({ batch, lane: { ...firstLane(number, batch), line: null }, replaces: number })
    expect(await store.getHidden(batch)).toBeNull()
    await store.remove({ batch })
    expect(await linesIn(batch)).toEqual(given.lines)
    const { organizationId } = batch
    expect(await store.hide({ batch, now: 1 })).toBe(true)
    expect(await store.hide({ batch, now: 2 })).toBe(false)
    expect(await store.get(batch)).toBeNull()
    const page = { organizationId, agentIds: null, tenantId: null, limit: 10, after: null }
    expect(await store.list(page)).toEqual({ items: [], next: null })
    expect(await store.getHidden({ ...batch, organizationId: system.newId() })).toBeNull()
    expect(await timersOf(batch)).toEqual([1])
    const hidden = (await store.getHidden(batch)) as Batch
    await store.postpone({ id: batch.id, openUntil: 5 })
    expect(await timersOf(batch)).toEqual([5])
    await store.remove({ batch: hidden })
    expect(await itemsOf(batch)).toEqual([])
    expect(await store.getHidden(batch)).toBeNull()
    await store.postpone({ id: batch.id, openUntil: 6 })
    expect(await itemsOf(batch)).toEqual([])
  })

  it('leaves nothing of a trial for which another request had selected more lines', async () => {
    const trial = anEndedTrial({ organizationId: system.newId(), agentId: 'a', versionId: 'v' }, {})
    const dying = batchStore({
      ...table,
      put: (item, ...rest) =>
        item.hidden ? table.put(item, ...rest) : Promise.reject(new Error('The process died.')),
    })
    await expect(dying.create({ ...trial, lines: linesOf(250) })).rejects.toThrow('died')
    const winner = await created({ ...trial, lines: linesOf(1) })
    const all = { ...winner, blocks: Array.from({ length: 3 }, () => ({ first: 0, chunks: 1 })) }
    expect(await itemsOf(all)).toHaveLength(5)
    expect(await store.hide({ batch: winner, now: 1 })).toBe(true)
    await store.remove({ batch: (await store.getHidden(winner)) as Batch })
    expect(await itemsOf(all)).toEqual([])
  })

  /** Fails at this request of an operation, before or after it is carried out. */
  const failing = (at: number, kind: 'fail before' | 'fail after' | 'die after') => {
    let requests = 0
    const next = () => requests++
    const worker = new FaultyWorker({ next, before: async () => undefined, faults: [{ at, kind }] })
    return { store: batchStore(worker.tableOf(table)), requests: () => requests }
  }
  const KINDS = ['fail before', 'fail after', 'die after'] as const

  it('is complete or hidden, whichever request of its creation fails, and the next attempt completes it', async () => {
    for (const kind of KINDS)
      for (let at = 0; ; at++) {
        const given = aBatch({ lines: linesOf(150) })
        const faulty = failing(at, kind)
        const batch = await faulty.store.create(given).catch(() => null)
        const [seen, hidden] = [await store.get(given.batch), await store.getHidden(given.batch)]
        if (faulty.requests() <= at) {
          expect(seen).toEqual(batch)
          break
        }
        expect(seen && hidden).toBeNull()
        if (seen) expect(await linesIn(seen)).toEqual(given.lines)
        else if (hidden) expect(await timersOf(given.batch)).toHaveLength(1)
        const again = (await store.create(given)) ?? (await store.get(given.batch))
        expect(await linesIn(again as Batch)).toEqual(given.lines)
      }
  })

  it('is removed by the next attempt, whichever request fails; nobody completes it meanwhile', async () => {
    for (const kind of ['fail before', 'die after'] as const)
      for (let at = 0; ; at++) {
        const given = aBatch({ lines: linesOf(101), lanes: 1 })
        // Its creator is late: it writes the record after the batch was removed, or while it is.
        const { promise: isLate, resolve: finish } = Promise.withResolvers<void>()
        const put: typeof table.put = async (...args) => {
          if (!args[0].hidden) await isLate
          return table.put(...args)
        }
        const late = batchStore({ ...table, put }).create(given)
        await expect.poll(() => store.getHidden(given.batch), { interval: 5 }).not.toBeNull()
        const hidden = (await store.getHidden(given.batch)) as Batch
        const faulty = failing(at, kind)
        await faulty.store.remove({ batch: hidden }).catch(() => undefined)
        const isRemoved = faulty.requests() <= at
        if (at > 0 || kind !== 'fail before') {
          finish()
          expect(await late).toBeNull()
        }
        await store.remove({ batch: hidden })
        expect(await store.get(given.batch)).toBeNull()
        expect(await table.get(batchKey(hidden.id), { consistent: true })).toBeNull()
        finish()
        expect(await late).toBeNull()
        if (isRemoved) break
      }
  })
})
