import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import type { Execution } from '../../../lib/core/execution.ts'
import { CANCELLED } from '../../../lib/core/execution-errors.ts'
import { leaseTimes } from '../../../lib/core/lease-times.ts'
import { NO_USAGE } from '../../../lib/core/model-usage.ts'
import { openStores } from '../../../lib/dynamodb/open-stores.ts'
import type { Item, Table } from '../../../lib/dynamodb/table/table.ts'
import { runCleanups } from '../../../lib/engine/maintenance.ts'
import { system } from '../../../lib/system.ts'
import { anExecution, leased } from '../engine/executions.ts'
import { wrapTable } from '../tables/wrap-table.ts'
import { setCounted } from './tables.ts'

export const START = 1_800_000_000_000
const MINUTE_MS = 60_000
const PROGRESS = { steps: 1, usage: NO_USAGE, model: null }

/** Too large for an item, also when compressed. */
const large = () => ({ text: randomBytes(15_000).toString('base64') })
const small = () => ({ text: 'small' })

const ACTORS = [
  'create-again',
  'worker',
  'zombie',
  'cancel',
  'feedback',
  'other-feedback',
  'delete',
  'delete-again',
  'sender',
  'same-sender',
] as const
type Actor = (typeof ACTORS)[number]

/** Which actors take part, which payloads are large, and after how many requests an actor's process dies, if at all. */
export const deletions = fc.record({
  actors: fc.subarray([...ACTORS], { minLength: 1 }),
  isLarge: fc.boolean(),
  crashes: fc.dictionary(fc.constantFrom('create', ...ACTORS), fc.nat({ max: 12 }), { maxKeys: 3 }),
})
export type Deletion = typeof deletions extends fc.Arbitrary<infer T> ? T : never

/** One execution, and everyone who writes its items at the same time. */
export class DeletionScenario {
  readonly execution: Execution
  readonly cacheKey = system.newId()
  isDeleted = false
  private isCreated = false
  private readonly table: Table
  private readonly scheduled: Table
  private readonly params: Deletion
  private readonly payload: () => { text: string }

  /** @param scheduled the table as the actors see it */
  constructor(table: Table, scheduled: Table, params: Deletion) {
    this.table = table
    this.scheduled = scheduled
    this.params = params
    this.payload = params.isLarge ? large : small
    this.execution = anExecution({
      now: START,
      input: this.payload(),
      keys: [{ name: 'orderId', value: 'O-1' }],
      idempotencyId: system.newId(),
      cache: { key: this.cacheKey, ttlSeconds: null },
      lease: { owner: 'worker', expiresAt: START + leaseTimes().leaseMs },
    })
  }

  /** Creates the record, then lets all actors act at the same time. */
  async play(): Promise<void> {
    await this.act('create', (table) => this.create(table))
    await Promise.all(this.params.actors.map((actor) => this.act(actor, (table) => this.roles[actor](table))))
  }

  /** What a worker that lost its lease writes when the deletion is over, without a look at the record. */
  async writeLate(): Promise<void> {
    if (!this.isCreated) return
    await this.checkpoint(this.table, 'zombie', 2).catch(() => undefined)
    await this.finish(this.table, 'zombie')
    await this.keep(this.table)
  }

  /** Ends an execution that all processes left open, and runs the cleanups of the next minutes. */
  async sweep(from: number, to: number): Promise<void> {
    const { executions } = openStores(this.table)
    const { id, organizationId } = this.execution
    await executions.end({ organizationId, id, error: CANCELLED, finishedAt: iso(from) })
    for (let minute = from; minute <= to; minute++) {
      const now = START + minute * MINUTE_MS
      await setCounted(this.table, now)
      await runCleanups({ executions, system: { ...system, now: () => now } })
    }
  }

  private async act(actor: Actor | 'create', play: (table: Table) => Promise<unknown>): Promise<void> {
    const requests = this.params.crashes[actor] ?? Number.POSITIVE_INFINITY
    await play(dyingTable(this.scheduled, requests)).catch((error: unknown) => {
      if (!(error instanceof Died)) throw error
    })
  }

  private readonly roles: Record<Actor, (table: Table) => Promise<unknown>> = {
    'create-again': (table) => this.create(table),
    worker: (table) => this.work(table, 'worker'),
    zombie: (table) => this.work(table, 'zombie'),
    cancel: (table) => {
      const { id, organizationId } = this.execution
      return openStores(table).executions.end({ organizationId, id, error: CANCELLED, finishedAt: iso(0) })
    },
    feedback: (table) => this.giveFeedback(table),
    'other-feedback': (table) => this.giveFeedback(table),
    delete: (table) => this.delete(table),
    'delete-again': (table) => this.delete(table),
    sender: (table) => this.send(table),
    'same-sender': (table) => this.send(table),
  }

  private async create(table: Table): Promise<void> {
    if (await openStores(table).executions.create({ execution: this.execution })) this.isCreated = true
  }

  private async work(table: Table, owner: string): Promise<void> {
    const { executions, cache } = openStores(table)
    const { id } = this.execution
    if (!(await executions.get(this.execution))) return
    await cache.reserve({ key: this.cacheKey, executionId: id, replaces: null, now: START })
    const lease = { owner, expiresAt: START + leaseTimes().leaseMs }
    if (await executions.renew({ id, lease, progress: PROGRESS })) await this.checkpoint(table, owner, 1)
    const finished = await this.finish(table, owner)
    if (finished?.output)
      await cache.store({ key: this.cacheKey, executionId: id, output: finished.output, expiresAt: null })
  }

  private async checkpoint(table: Table, owner: string, number: number): Promise<void> {
    const { steps } = openStores(table)
    const times = { startedAt: iso(0), finishedAt: iso(0) }
    const executionId = this.execution.id
    const step = { number, kind: 'CODE' as const, name: `step-${number}`, value: this.payload(), ...times }
    await steps.append({ executionId, owner, step, progress: PROGRESS })
    const result = { callId: 'call', result: { ok: true as const, value: this.payload() }, ...times }
    await steps.appendResult({ executionId, number, result })
  }

  private finish(table: Table, owner: string) {
    const keys = [...this.execution.keys, { name: 'by', value: owner }]
    const outcome = { status: 'SUCCESS' as const, output: this.payload(), keys, ...PROGRESS }
    const execution = leased(this.execution, owner)
    return openStores(table).executions.finish({ execution, outcome, finishedAt: iso(0) })
  }

  /** A signal whose id its sender has chosen. */
  private async send(table: Table): Promise<void> {
    const { executions, signals } = openStores(table)
    if (!(await executions.getStatus(this.execution))) return
    await this.keep(table)
    await signals.forget({ executionId: this.execution.id, ids: ['signal'] })
  }

  private keep(table: Table) {
    const signal = { id: 'signal', name: 'go', data: this.payload(), receivedAt: iso(0), bytes: 1 }
    return openStores(table).signals.put({
      executionId: this.execution.id,
      signal: { ...signal, dataHash: 'hash' },
    })
  }

  private giveFeedback(table: Table) {
    const { id, organizationId } = this.execution
    const feedback = { rating: 1 as const, correctedOutput: this.payload(), note: null, updatedAt: iso(0) }
    return openStores(table).executions.giveFeedback({ organizationId, id, feedback, writer: system.newId() })
  }

  private async delete(table: Table): Promise<void> {
    const { id, organizationId } = this.execution
    const result = await openStores(table).executions.delete({ organizationId, id, now: START })
    if (result === 'deleted') this.isDeleted = true
  }
}

export class Died extends Error {}

/** A table whose process dies after a number of requests. */
export function dyingTable(table: Table, requests: number): Table {
  let sent = 0
  return wrapTable(
    table,
    (_, send) =>
      (...args) =>
        sent++ < requests ? send(...args) : Promise.reject(new Died()),
  )
}

const iso = (minute: number) => new Date(START + minute * MINUTE_MS).toISOString()

/** The names of the payloads that are stored and of those that items refer to. */
export function payloadNames(items: Item[]): { stored: Set<string>; referenced: Set<string> } {
  const stored = items.flatMap(({ sk, data }) =>
    data ? [String(sk).slice('PAYLOAD#'.length, String(sk).lastIndexOf('#'))] : [],
  )
  const references = items.flatMap((item) => Object.values(item) as ({ name?: string } | null)[])
  const referenced = references.flatMap((value) => (value?.name ? [value.name] : []))
  return { stored: new Set(stored), referenced: new Set(referenced) }
}
