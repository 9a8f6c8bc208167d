import { expect, inject, it, onTestFailed } from 'vitest'
import {
  CANCELLED,
  cachedExecution,
  type ExecutionSummary,
  newExecution,
  type Usage,
} from '../../../lib/core/execution.ts'
import { FOLD_DELAY_MS } from '../../../lib/core/limits.ts'
import {
  DIMENSION_FIELDS,
  INTERVAL_MS,
  startOf,
  USAGE_DIMENSIONS,
  type UsageDimension,
  type UsageInterval,
  type UsageRow,
} from '../../../lib/core/usage.ts'
import { type ExecutionItem, toSummary } from '../../../lib/dynamodb/executions/execution-item.ts'
import { openStores } from '../../../lib/dynamodb/open-stores.ts'
import { executionKey, type Key } from '../../../lib/dynamodb/table/keys.ts'
import type { Table } from '../../../lib/dynamodb/table/table.ts'
import { endExecution } from '../../../lib/engine/end-execution.ts'
import { runCleanups } from '../../../lib/engine/maintenance.ts'
import { foldUsage, newFoldMemory } from '../../../lib/engine/usage/fold.ts'
import { system } from '../../../lib/system.ts'
import { seededRandom } from '../../support/data/random.ts'
import { readSeed, TEST_SEED } from '../../support/data/seed.ts'
import { leased, runOptions } from '../../support/engine/executions.ts'
import { memoryTable } from '../../support/tables/memory-table.ts'
import { sumUsage } from '../../support/usage/memory-usage.ts'

const RUNS = inject('isNightly') ? 5_000 : 400
const seed = readSeed()
const random = seededRandom(seed, 'usage')
const AT_ONCE = 16
/** The share of processes that die at one of their first requests, before it is executed or after. */
const DEATHS = 0.25
const REQUESTS = 8
const ORGANIZATIONS = [system.newId(), system.newId()]
const KEYS = {
  tenantId: [null, 'acme', 'globex', '#'],
  agentId: ['translate', 'summarize', 'plan'],
  versionId: ['1', '2'],
  model: ['openai/a', 'local/unpriced'],
  tokenId: [null, 'ci', 'app'],
} as const

class Died extends Error {}
const keyOf = ({ pk, sk }: Record<string, unknown>) => ({ pk, sk }) as Key
const chance = (share: number) => random.next() < share
const pick = <T>(values: readonly T[]): T => random.pick(values as [T, ...T[]])

/** One organization's executions, and what kills, cancels and deletes them. Only the scenario moves its clock. */
class Scenario {
  /** Twenty minutes before a day ends. */
  now = Date.parse('2026-11-25T23:40:00Z')
  /** The records that a deletion has replaced, by id. */
  readonly deleted = new Map<string, ExecutionSummary>()
  readonly ids: { organizationId: string; id: string }[] = []
  readonly counts = { died: 0, cancelled: 0, attempts: 0, children: 0, cached: 0 }
  readonly table: Table
  private readonly memory = newFoldMemory()

  constructor(table: Table) {
    this.table = {
      ...table,
      // Whatever a tombstone replaces is read before.
      put: async (item, ...params) => {
        const replaced = item.deleted ? await table.get(keyOf(item), { consistent: true }) : null
        const isWritten = await table.put(item, ...params)
        if (isWritten && replaced?.finishedAt)
          this.deleted.set(String(replaced.id), toSummary(replaced as unknown as ExecutionItem))
        return isWritten
      },
    }
  }

  readonly clock = { now: () => (this.now += Math.ceil(random.next() * 40)), newId: system.newId }

  /** Repeats what a process does until one of them survives it. */
  async untilDone<T>(act: (stores: ReturnType<typeof openStores>) => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await act(openStores(this.mortal()))
      } catch (error) {
        if (!(error instanceof Died)) throw error
        this.counts.died++
      }
    }
  }

  private mortal(): Table {
    let left = chance(DEATHS) ? Math.floor(random.next() * REQUESTS) : Number.POSITIVE_INFINITY
    const isExecuted = chance(0.5)
    const send =
      <P extends unknown[], R>(request: (...params: P) => Promise<R>) =>
      async (...params: P): Promise<R> => {
        // Requests of different processes are carried out in any order.
        for (let turns = random.between(0, 3); turns > 0; turns--) await new Promise(setImmediate)
        if (left-- > 0) return request(...params)
        if (isExecuted && left === -1) await request(...params)
        throw new Died()
      }
    const { get, put, update, query, getMany, delete: remove, writeMany } = this.table
    return {
      ...this.table,
      get: send(get),
      put: send(put),
      update: send(update),
      query: send(query),
      getMany: send(getMany),
      delete: send(remove),
      writeMany: send(writeMany),
    }
  }

  async run(parent?: ExecutionSummary): Promise<ExecutionSummary | null> {
    const organizationId = parent?.organizationId ?? pick(ORGANIZATIONS)
    const id = system.newId()
    const { model: models, ...names } = KEYS
    const keys = Object.fromEntries(
      Object.entries(names).map(([name, values]) => [name, pick<unknown>(values)]),
    )
    const given = {
      ...(keys as Pick<ExecutionSummary, 'tenantId' | 'agentId' | 'versionId' | 'tokenId'>),
      ...{ id, organizationId, input: {}, options: runOptions(), deadlineMs: INTERVAL_MS.day },
      ...(parent && { parent: { executionId: parent.id, callers: [] } }),
    }
    this.ids.push({ organizationId, id })
    if (parent) this.counts.children++
    if (chance(0.15)) {
      this.counts.cached++
      const execution = cachedExecution({ ...given, now: this.clock.now() }, system.newId(), {})
      await this.untilDone(({ executions }) => executions.create({ execution }))
    } else {
      const execution = newExecution({ ...given, now: this.clock.now(), lease: null })
      await this.untilDone(({ executions }) => executions.create({ execution }))
      const cancels = chance(0.15) ? this.cancel(organizationId, id) : null
      await this.work({ organizationId, id, model: pick(models), isParent: !parent && chance(0.15) })
      await cancels
    }
    if (chance(0.3)) await this.delete(organizationId, id)
    return openStores(this.table).executions.getSummary({ organizationId, id })
  }

  private async cancel(organizationId: string, id: string) {
    for (let turns = random.next() * 20; turns > 0; turns--) await new Promise(setImmediate)
    this.counts.cancelled++
    await this.untilDone((stores) =>
      endExecution({ ...stores, system: this.clock }, { organizationId, id, error: CANCELLED }),
    )
  }

  private delete = (organizationId: string, id: string) =>
    this.untilDone(({ executions }) => executions.delete({ organizationId, id, now: this.clock.now() }))

  /** Workers, one after the other, until the run has ended. */
  private work({
    id,
    model,
    isParent,
    ...owned
  }: {
    organizationId: string
    id: string
    model: string
    isParent: boolean
  }) {
    return this.untilDone(async ({ executions, steps }) => {
      this.counts.attempts++
      const now = this.clock.now()
      const lease = { owner: system.newId(), expiresAt: now }
      const claimed = await executions.claim({ id, lease, now: now + 1 })
      if (typeof claimed === 'string') {
        if (claimed === 'held') throw new Died()
        return
      }
      const used = (): Usage => ({
        inputTokens: Math.ceil(random.next() * 1_000),
        outputTokens: Math.ceil(random.next() * 100),
        ...(chance(0.5) && { cachedInputTokens: 5 }),
        ...(model !== 'local/unpriced' && { costUsd: Math.ceil(random.next() * 1e7) / 1e9 }),
      })
      let progress = (await steps.getProgress({ executionId: id })) ?? { steps: 0, usage: used(), model }
      if (chance(0.1)) await executions.renew({ id, lease, lostUsage: used() })
      for (let count = Math.floor(random.next() * 3); count > 0; count--) {
        const number = progress.steps + 1
        const usage = used()
        progress = { ...progress, steps: number, usage }
        const times = { startedAt: new Date(now).toISOString(), finishedAt: new Date(now).toISOString() }
        const step = { number, kind: 'CODE' as const, name: 'step', value: {}, ...times }
        if (!(await steps.append({ executionId: id, owner: lease.owner, step, progress }))) return
        if (chance(0.3)) await executions.renew({ id, lease, progress })
      }
      if (isParent) {
        const child = await this.run(claimed)
        if (child) progress = { ...progress, childUsage: child.usage }
      }
      const finishedAt = new Date(this.clock.now()).toISOString()
      const outcome = chance(0.8)
        ? { status: 'SUCCESS' as const, output: {}, ...progress }
        : {
            status: 'ERROR' as const,
            error: { code: pick(['AgentFailed', 'TimedOut']), message: '' },
            ...progress,
          }
      const execution = leased({ ...claimed, ...owned }, lease.owner)
      await executions.finish({ execution, outcome, finishedAt, staysListed: chance(0.1) })
    })
  }

  /** A run of the sweeper, and one beside it that may die. */
  async sweep() {
    const at = this.now
    const fixed = { now: () => at, newId: system.newId }
    await this.untilDone(({ usage }) => foldUsage({ usage, system: fixed, memory: this.memory }))
    await runCleanups({ executions: openStores(this.table).executions, system: fixed })
  }

  /** All records, those that were deleted included. */
  async records(): Promise<ExecutionSummary[]> {
    const items = await this.table.getMany(
      this.ids.map(({ id }) => executionKey(id)),
      { consistent: true },
    )
    const stored = items
      .filter(({ deleted }) => !deleted)
      .map((item) => toSummary(item as unknown as ExecutionItem))
    return [...stored, ...this.deleted.values()]
  }
}

/** The sum over records, which shares no code with the one that is tested. */
function sumRecords(records: ExecutionSummary[], dimensions: readonly UsageDimension[]) {
  const groups = Map.groupBy(records, (record) =>
    JSON.stringify(dimensions.map((dimension) => record[DIMENSION_FIELDS[dimension]])),
  )
  return Object.fromEntries(
    [...groups].map(([group, members]) => {
      const sum = (value: (record: ExecutionSummary) => number | undefined) =>
        members.reduce((total, member) => total + (value(member) ?? 0), 0)
      const nano = (usage: Usage | null) => Math.round((usage?.costUsd ?? 0) * 1e9)
      const codes = Map.groupBy(
        members.flatMap(({ error }) => error?.code ?? []),
        (code) => code,
      )
      return [
        group,
        {
          runs: members.length,
          cacheHits: members.filter(({ cached }) => cached).length,
          errors: Object.fromEntries([...codes].map(([code, all]) => [code, all.length])),
          inputTokens: sum(({ usage }) => usage.inputTokens),
          outputTokens: sum(({ usage }) => usage.outputTokens),
          cachedInputTokens: sum(({ usage }) => usage.cachedInputTokens),
          costNanoUsd: sum(({ usage }) => nano(usage)),
          childCostNanoUsd: sum(({ childUsage }) => nano(childUsage)),
          runTimeMs: sum(({ startedAt, finishedAt, waitedMs }) =>
            startedAt ? Math.max(Date.parse(finishedAt ?? '') - Date.parse(startedAt) - waitedMs, 0) : 0,
          ),
        },
      ]
    }),
  )
}

/** The same of stored totals. */
const sumTotals = (rows: UsageRow[], dimensions: readonly UsageDimension[]) =>
  Object.fromEntries(
    sumUsage(rows, dimensions).map((row) => [
      JSON.stringify(dimensions.map((dimension) => row[DIMENSION_FIELDS[dimension]])),
      Object.fromEntries(COMPARED.map((name) => [name, row[name]])),
    ]),
  )
const COMPARED = [
  ...['runs', 'cacheHits', 'errors', 'inputTokens', 'outputTokens', 'cachedInputTokens'],
  ...['costNanoUsd', 'childCostNanoUsd', 'runTimeMs'],
] as (keyof UsageRow)[]

/** Every subset. */
const GROUPINGS = Array.from({ length: 2 ** USAGE_DIMENSIONS.length }, (_, bits) =>
  USAGE_DIMENSIONS.filter((__, index) => bits & (2 ** index)),
)

it('usage is the sum over the executions, whatever is killed, cancelled, retried and deleted', async () => {
  onTestFailed(() => console.error(`Repeat it with ${TEST_SEED}=${seed}.`))
  const scenario = new Scenario(memoryTable())
  while (scenario.ids.length < RUNS) {
    await Promise.all(Array.from({ length: AT_ONCE }, () => scenario.run()))
    // Sweeps meet nobody who writes: the clock moves on while they fold.
    await scenario.sweep()
    if (chance(0.1)) scenario.now += INTERVAL_MS.minute * random.next() * 9
  }
  const { executions, usage } = openStores(scenario.table)
  // What is deleted with its parent may have been open, and what no worker has ended is cancelled.
  for (const key of scenario.ids)
    await endExecution(
      { ...openStores(scenario.table), system: scenario.clock },
      { ...key, error: CANCELLED },
    )
  const open = await executions.findExisting({ ids: scenario.ids.map(({ id }) => id), orRefused: false })
  expect(open.size).toBeGreaterThan(RUNS / 2)
  scenario.now = startOf('day', scenario.now) + 2 * INTERVAL_MS.day + FOLD_DELAY_MS
  const records = await scenario.records()
  // Deleted ones are gone by the time of the last sweeps.
  while (((await usage.getPosition())?.day ?? 0) < startOf('day', scenario.now)) await scenario.sweep()
  for (let sweeps = 0; sweeps < 10; sweeps++) {
    scenario.now += 10 * INTERVAL_MS.minute
    await scenario.sweep()
  }

  expect(records).toHaveLength(scenario.ids.length)
  expect(scenario.deleted.size).toBeGreaterThan(RUNS / 10)
  for (const count of Object.values(scenario.counts)) expect(count).toBeGreaterThan(RUNS / 20)

  for (const organizationId of ORGANIZATIONS) {
    const own = records.filter((record) => record.organizationId === organizationId)
    for (const interval of ['minute', 'hour', 'day'] as UsageInterval[]) {
      const rows: UsageRow[] = []
      const from = Date.parse('2026-11-25T00:00:00Z')
      for await (const totals of usage.read({ organizationId, interval, from, to: scenario.now })) {
        rows.push(...totals.rows)
        const { start } = totals
        const within = own.filter(
          ({ finishedAt }) => startOf(interval, Date.parse(finishedAt ?? '')) === start,
        )
        expect(sumTotals(totals.rows, [])).toEqual(sumRecords(within, []))
      }
      for (const dimensions of GROUPINGS)
        expect(sumTotals(rows, dimensions)).toEqual(sumRecords(own, dimensions))
    }
  }
})
