import { promoteVersion, retireVersion } from '../../../lib/agents/lifecycle/change-agent.ts'
import type { Version } from '../../../lib/core/agent.ts'
import type { Execution } from '../../../lib/core/execution.ts'
import { agentIdOf } from '../../../lib/core/ids.ts'
import { failedExecution } from '../../../lib/core/new-execution.ts'
import type { AgentStore } from '../../../lib/core/ports/agents.ts'
import type { UsageStore } from '../../../lib/core/ports/usage.ts'
import { INTERVAL_MS } from '../../../lib/core/usage.ts'
import { openStores } from '../../../lib/dynamodb/open-stores.ts'
import type { Table } from '../../../lib/dynamodb/table/table.ts'
import {
  endRollout,
  type GivenRollout,
  getRollout,
  putRollout,
} from '../../../lib/engine/rollouts/change-rollout.ts'
import { newRolloutMemory } from '../../../lib/engine/rollouts/compare-rollouts.ts'
import { watchRollouts } from '../../../lib/engine/rollouts/watch-rollouts.ts'
import { foldUsage, newFoldMemory } from '../../../lib/engine/usage/fold.ts'
import { system } from '../../../lib/system.ts'
import { anExecution, runOptions } from '../engine/executions.ts'
import { anOutbox } from '../notifications/an-outbox.ts'
import { wrapTable } from '../tables/wrap-table.ts'

/** A request of a process, before or after which it dies. */
export type Death = { request: number; isAfter: boolean }

export class Died extends Error {}

/** A table of a process that dies. `requests`: how many it has sent. */
export function mortalTable(table: Table, death: Death | null) {
  const process = { requests: 0, isDead: false }
  const mortal = wrapTable(table, (_, send) => async (...args) => {
    const request = process.requests++
    const dies = () => {
      process.isDead = true
      throw new Died()
    }
    if (process.isDead || (request === death?.request && !death.isAfter)) return dies()
    const result = await send(...args)
    return request === death?.request ? dies() : result
  })
  return { process, table: mortal }
}

type EndRollout = AgentStore['endRollout']

const { minute: MINUTE } = INTERVAL_MS

/** An agent with two versions, a webhook, the sweeper, and a clock. In a table of its own: sweeps read all of it. */
export class RolloutRun {
  readonly outbox: ReturnType<typeof anOutbox>
  readonly current: Version
  readonly next: Version
  readonly table: Table
  readonly memory = { fold: newFoldMemory(), rollouts: newRolloutMemory() }

  private constructor(table: Table, startedAt: number) {
    this.table = table
    this.outbox = anOutbox(table, { startedAt })
    const { organizationId } = this.outbox
    const slug = 'rolled-out'
    this.current = aVersion({ organizationId, slug })
    this.next = aVersion({ organizationId, slug, status: 'DRAFT' })
  }

  static async create(table: Table, startedAt: number): Promise<RolloutRun> {
    const run = new RolloutRun(table, startedAt)
    const { agents } = openStores(table)
    for (const version of [run.current, run.next]) await agents.publish({ version, code: null })
    return run
  }

  get now(): number {
    return this.outbox.now()
  }

  private clock = () => ({ ...system, now: () => this.now })

  referenceOn(table: Table) {
    const { organizationId, slug } = this.current
    return { store: openStores(table).agents, organizationId, idOrSlug: slug }
  }

  start(given: Partial<GivenRollout> = {}, table = this.table) {
    const all = { versionId: this.next.id, percent: 10, ...given }
    return putRollout({ ...this.referenceOn(table), system: this.clock(), given: all })
  }

  promote = (versionId = this.next.id, table = this.table) =>
    promoteVersion({ by: { by: 'author' }, ...this.referenceOn(table), system, versionId })
  retire = (versionId = this.next.id) =>
    retireVersion({ ...this.referenceOn(this.table), versionId }, new Date().toISOString())
  /** Ends the rollout with a store whose `endRollout` does more. */
  endWith = (end: (endRollout: EndRollout, ...params: Parameters<EndRollout>) => ReturnType<EndRollout>) => {
    const { store, ...reference } = this.referenceOn(this.table)
    return endRollout({
      ...reference,
      store: { ...store, endRollout: (params) => end(store.endRollout, params) },
    })
  }
  stop = (table = this.table) => endRollout(this.referenceOn(table))
  rollout = () => getRollout(this.referenceOn(this.table))
  getVersion = (id = this.next.id) => openStores(this.table).agents.getVersion({ ...this.current, id })
  agent = async () => {
    const { organizationId, agentId: id } = this.current
    const agent = await openStores(this.table).agents.get({ organizationId, id })
    if (!agent) throw new Error('There is no agent.')
    return agent
  }

  /**
   * Executions of a version that end now, or have ended at `at`. `every`: of how many one fails, 0 for none. Null: the
   * price is unknown.
   */
  async end(
    version: Version,
    count: number,
    {
      every = 0,
      code = 'AgentFailed',
      costUsd = 0,
      at = this.now,
      ...more
    }: { every?: number; code?: string; costUsd?: number | null; at?: number } & Partial<Execution> = {},
  ) {
    const { executions } = openStores(this.table)
    const { organizationId, agentId, id: versionId } = version
    for (let i = 0; i < count; i++) {
      const ids = { id: system.newId(), organizationId, agentId, versionId, tenantId: null }
      const { input } = anExecution()
      const given = { ...ids, input, options: runOptions(), now: at, deadlineMs: 1 }
      const usage = { inputTokens: 1, outputTokens: 1, ...(costUsd !== null && { costUsd }) }
      const failed = { ...failedExecution(given, { code, message: 'It failed.' }), steps: 1, usage, ...more }
      const succeeded = { status: 'SUCCESS' as const, output: {}, error: null }
      const isFailed = every > 0 && i % every === 0
      await executions.create({ execution: isFailed ? failed : { ...failed, ...succeeded } })
    }
  }

  /** Runs of a scorer that end now, and say this about runs of a version. */
  async score(version: Version, scores: number[], scorer = 'faithful') {
    const { executions } = openStores(this.table)
    const { organizationId, agentId, id: versionId } = version
    const scored = { executionId: system.newId(), production: { agentId, versionId, scorer } }
    for (const score of scores) {
      const execution = anExecution({ organizationId, scored, now: this.now })
      const finishedAt = new Date(this.now).toISOString()
      const ended = { status: 'SUCCESS' as const, output: { score }, finishedAt, openUntil: null }
      await executions.create({ execution: { ...execution, ...ended } })
    }
  }

  /** A sweep by a process of its own, or by one with this memory: the fold, then, on `table`, the look at rollouts. */
  async sweep({
    table = this.table,
    memory = { fold: newFoldMemory(), rollouts: newRolloutMemory() },
    usage = openStores(table).usage,
    tell = this.outbox.on(table).tellAborted,
  }: {
    table?: Table
    memory?: RolloutRun['memory']
    usage?: UsageStore
    tell?: Parameters<typeof watchRollouts>[0]['tell']
  } = {}) {
    const stores = openStores(table)
    const clock = this.clock()
    await foldUsage({ usage: openStores(this.table).usage, system: clock, memory: memory.fold })
    await watchRollouts({ ...stores, usage, system: clock, tell, memory: memory.rollouts })
  }

  /** Messages and sweeps of a while. */
  async settle(minutes = 12) {
    for (let minute = 0; minute < minutes; minute++) {
      await this.outbox.deliver()
      this.outbox.pass(MINUTE)
      await this.sweep()
      await this.outbox.sweep()
    }
    await this.outbox.deliver()
  }

  /** What was sent to webhooks. */
  events = () => this.outbox.sent.filter(({ type }) => type === 'rollout.aborted')
}

export function aVersion(overrides: Partial<Version> & Pick<Version, 'organizationId' | 'slug'>): Version {
  const text = { text: { type: 'string', description: 'Any text.' } }
  const id = system.newId()
  return {
    id,
    agentId: agentIdOf(overrides.organizationId, overrides.slug),
    status: 'PUBLISHED',
    title: 'Rolled out',
    description: null,
    createdAt: new Date().toISOString(),
    createdBy: system.newId(),
    inputSchema: text,
    outputSchema: text,
    model: null,
    tools: [],
    code: false,
    env: [],
    instructions: '',
    execution: { useCache: false, cacheTtlSeconds: null, timeoutSeconds: null },
    digest: id,
    documentHash: id,
    ...overrides,
  }
}
