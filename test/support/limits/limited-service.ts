import { v7 } from 'uuid'
import { UNLIMITED } from '../../../lib/core/access.ts'
import type { Version } from '../../../lib/core/agent.ts'
import { type Execution, isFinal, type LeasedExecution } from '../../../lib/core/execution.ts'
import { hashJson } from '../../../lib/core/json/hash-json.ts'
import type { Json } from '../../../lib/core/json/json.ts'
import { type Lease, leaseTimes } from '../../../lib/core/lease-times.ts'
import { LimitExceeded } from '../../../lib/core/limit-errors.ts'
import { NO_USAGE } from '../../../lib/core/model-usage.ts'
import type { DelayedExecution, QueueMessage } from '../../../lib/core/ports/queues.ts'
import type { System } from '../../../lib/core/ports/system.ts'
import { type LimitSubject, NO_LIMITS, type UsageLimits } from '../../../lib/core/usage-limits.ts'
import { openStores } from '../../../lib/dynamodb/open-stores.ts'
import type { Table } from '../../../lib/dynamodb/table/table.ts'
import { afterEnd } from '../../../lib/engine/end-execution.ts'
import { cancelExecution } from '../../../lib/engine/executions/change-execution.ts'
import { sweep } from '../../../lib/engine/maintenance.ts'
import { accept, enqueue, type SubmitEngine } from '../../../lib/engine/submit/accept.ts'
import { newSentTimers, sweepTimers } from '../../../lib/engine/waiting/sweep-timers.ts'
import { wake } from '../../../lib/engine/waiting/wake.ts'
import { system } from '../../../lib/system.ts'
import { NO_DELIVERIES } from '../engine/engine-on.ts'
import { runOptions } from '../engine/executions.ts'

const TIMES = leaseTimes()
const YEAR_MS = 365 * 86_400_000

export type Submission = {
  tenantId?: string | null
  isSync?: boolean
  /** An idempotency key. */
  key?: string
}

/**
 * An organization with limits. What accepts, runs and ends executions is the service's own; agents, models and time are
 * up to the test.
 */
export class LimitedService {
  readonly organizationId = system.newId()
  readonly agentId = system.newId()
  readonly stores: ReturnType<typeof openStores>
  messages: DelayedExecution[] = []
  /** In the order in which workers took their leases. */
  readonly started: string[] = []
  readonly running = new Map<string, LeasedExecution>()
  private readonly table: Table
  private offsetMs = 0
  private readonly sent = newSentTimers()

  constructor(table: Table) {
    this.table = table
    this.stores = openStores(table)
  }

  readonly system: System = {
    now: () => Date.now() + this.offsetMs,
    newId: () => v7({ msecs: this.system.now() }),
  }

  pass(ms: number): void {
    this.offsetMs += ms
  }

  /** Other organizations of the table have tests of their own. */
  private keep(messages: (QueueMessage & { delayMs?: number })[]): void {
    const own = messages.filter(({ organizationId }) => organizationId === this.organizationId)
    this.messages.push(...(own as DelayedExecution[]))
  }

  readonly queue = {
    send: async (message: DelayedExecution) => this.keep([message]),
    sendBatch: async (messages: (QueueMessage & { delayMs?: number })[]) => this.keep(messages),
  }

  tenant = (id = 'acme'): LimitSubject => ({ kind: 'tenant', id })
  agent = (id = this.agentId): LimitSubject => ({ kind: 'agent', id })

  limit(subject: LimitSubject, limits: Partial<UsageLimits>): Promise<void> {
    const stored = { ...NO_LIMITS, ...limits, updatedAt: new Date().toISOString() }
    return this.stores.limits.put({ organizationId: this.organizationId, subject, limits: stored })
  }

  removeLimits(subject: LimitSubject): Promise<unknown> {
    return this.stores.limits.delete({ organizationId: this.organizationId, subject })
  }

  spend(subject: LimitSubject, costUsd: number): Promise<unknown> {
    const { organizationId, stores, system } = this
    return stores.limits.addSpent({ organizationId, subject, at: system.now(), costUsd })
  }

  /** The engine of a process. */
  engine(table: Table = this.table): SubmitEngine {
    return {
      ...openStores(table),
      queue: this.queue,
      system: this.system,
      times: TIMES,
      admit: (_id, record) => record(),
      syncDeadlineMs: 1_000,
    }
  }

  /** Accepts a run as `submitAsync` and `submitSync` do. */
  async submit(
    { tenantId = 'acme', isSync = false, key }: Submission = {},
    engine = this.engine(),
  ): Promise<Execution> {
    const { organizationId, agentId } = this
    const ids = { id: agentId, agentId, organizationId }
    const version = { ...ids, status: 'PUBLISHED', code: true, tools: [] as Json[] } as Version
    const lease = isSync ? this.lease() : null
    const idempotency = key === undefined ? null : { key, requestHash: hashJson(key) }
    const request = { version, input: {}, tenantId, options: runOptions(), cache: null, idempotency }
    const { execution, isNew } = await accept(engine, request, lease)
    if (isNew && lease) this.begin(execution as LeasedExecution)
    else if (isNew) await enqueue(engine, execution)
    return execution
  }

  /** The same, or the limit that is reached. */
  trySubmit(submission: Submission, engine?: SubmitEngine): Promise<Execution | LimitExceeded> {
    return this.submit(submission, engine).catch((error: unknown) => {
      if (error instanceof LimitExceeded) return error
      throw error
    })
  }

  /** Of a worker that never dies. */
  private lease = (): Lease => ({ owner: system.newId(), expiresAt: this.system.now() + YEAR_MS })

  private begin(execution: LeasedExecution): void {
    this.started.push(execution.id)
    this.running.set(execution.id, execution)
  }

  /** Receives all messages, those that are sent meanwhile included. Runs begin, and go on until the test ends them. */
  async deliver(engine = this.engine()): Promise<void> {
    for (let next = this.messages.shift(); next; next = this.messages.shift())
      await this.receive(next, engine)
  }

  async receive({ executionId: id }: DelayedExecution, engine = this.engine()): Promise<void> {
    const lease = this.lease()
    const claimed = await engine.executions.claim({ id, lease, now: this.system.now() })
    const taken = claimed === 'suspended' ? await wake(engine, id, lease) : claimed
    if (typeof taken !== 'string' && 'lease' in taken) this.begin(taken)
  }

  /** The worker of a run ends it. If it dies before, another one has the run. */
  async end(id: string, engine = this.engine()): Promise<void> {
    const execution = this.running.get(id)
    if (!execution) return
    const output = { answer: 'Done.' }
    const outcome = { status: 'SUCCESS' as const, output, steps: 0, usage: NO_USAGE, model: null }
    const finishedAt = new Date(this.system.now()).toISOString()
    const finishing = engine.executions.finish({ execution, outcome, finishedAt })
    const finished = await finishing.finally(() => this.forgetEnded(id))
    if (finished) await afterEnd(engine, finished)
  }

  private async forgetEnded(id: string): Promise<void> {
    if (isFinal(await this.read(id))) this.running.delete(id)
  }

  /** All executions. Other workers take over those whose workers died. */
  async takeOver(): Promise<string[]> {
    const page = { agentId: null, status: null, tenantId: null, limit: 100, after: null }
    const { items } = await this.stores.executions.list({ organizationId: this.organizationId, ...page })
    for (const execution of items) {
      const isAbandoned = execution.lease !== null && !isFinal(execution) && !this.running.has(execution.id)
      if (isAbandoned) this.begin(execution as LeasedExecution)
    }
    return items.map(({ id }) => id)
  }

  async cancel(id: string, engine = this.engine()): Promise<void> {
    const access = { ...UNLIMITED, organizationId: this.organizationId, tokenId: this.organizationId }
    const cancelling = cancelExecution(engine, { access, executionId: id })
    await cancelling.finally(() => this.forgetEnded(id))
  }

  /** Time passes, and the sweeper sends what is due. */
  async deliverAfter(ms: number): Promise<void> {
    this.pass(ms)
    await this.sweep()
    await this.deliver()
  }

  /** What the sweeper does every minute. */
  private async sweep(): Promise<void> {
    const { stores, queue, system, sent } = this
    const params = { ...stores, queue, system, times: TIMES }
    await sweep(params)
    await sweepTimers({ ...params, ...NO_DELIVERIES, sent })
  }

  async read(id: string): Promise<Execution> {
    const execution = await this.stores.executions.get({ organizationId: this.organizationId, id })
    if (!execution) throw new Error(`The execution ${id} does not exist.`)
    return execution
  }

  /** Lets everything that was accepted run and end, however long it takes. Returns the ids of what is left. */
  async settle(ids: string[]): Promise<string[]> {
    let left = ids
    for (let i = 0; i < 40 && left.length > 0; i++) {
      await this.deliverAfter(0)
      for (const id of [...this.running.keys()]) {
        await this.end(id)
        await this.deliver()
      }
      const executions = await Promise.all(
        left.map((id) => this.stores.executions.get({ organizationId: this.organizationId, id })),
      )
      left = executions.flatMap((execution) => (execution && !isFinal(execution) ? execution.id : []))
      if (left.length > 0) this.pass(5 * 60_000)
    }
    return left
  }

  slots(subject: LimitSubject): Promise<number> {
    return this.stores.limits.countSlots({ organizationId: this.organizationId, subject })
  }

  async queued(subject: LimitSubject): Promise<string[]> {
    const { organizationId } = this
    const runs = await this.stores.limits.listQueue({ organizationId, subject, limit: 100 })
    return runs.map(({ executionId }) => executionId)
  }
}
