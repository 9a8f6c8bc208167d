import { UNLIMITED } from '../../../lib/core/access.ts'
import type { Execution } from '../../../lib/core/execution.ts'
import { leaseTimes } from '../../../lib/core/lease-times.ts'
import { DEADLINE_MS } from '../../../lib/core/limits.ts'
import type { NewExecution } from '../../../lib/core/new-execution.ts'
import type { QueuedExecution } from '../../../lib/core/ports/queues.ts'
import type { Table } from '../../../lib/dynamodb/table/table.ts'
import { timerStore } from '../../../lib/dynamodb/timer-store.ts'
import type { Engine } from '../../../lib/engine/engine.ts'
import { runCleanups, sweep } from '../../../lib/engine/maintenance.ts'
import { newSentTimers, sweepTimers } from '../../../lib/engine/waiting/sweep-timers.ts'
import { system } from '../../../lib/system.ts'
import { setCounted } from '../lifecycle/tables.ts'
import type { ScriptedModel } from '../scripted-model/start-scripted-model.ts'
import type { Script, ScriptedCall } from '../scripted-model/turn.ts'
import { engineOn, NO_DELIVERIES, receive } from './engine-on.ts'
import { executionOf } from './executions.ts'
import { aModelAgent, finalAnswer } from './model-agent.ts'

export const HOUR_MS = 3_600_000

/** A code agent that waits for an hour, between two steps. */
export const SLEEPS = `
  const before = await context.step('before', () => 1)
  await context.sleep('nap', 3600)
  await context.step('after', () => 2)
  return { answer: 'Slept ' + before }`

export const ask = (name: string, id?: string): ScriptedCall => ({
  ...(id && { id }),
  name,
  input: { question: 'Well?' },
})

/** The execution, for a token that may do everything. */
export const referenceTo = ({ id, organizationId }: Execution) => ({
  executionId: id,
  access: { ...UNLIMITED, organizationId, tokenId: system.newId() },
})

type Sent = QueuedExecution & { delayMs?: number }
type Family = { table: Table; scripted: ScriptedModel }

/**
 * Agents of one organization that call each other, on an engine whose clock only the test moves, and whose messages are
 * received when the test says so.
 */
export function aFamily({ table, scripted }: Family) {
  const organizationId = system.newId()
  let offsetMs = 0
  let sent: Sent[] = []
  const queue = {
    send: async (message: Sent) => void sent.push(message),
    sendBatch: async (messages: Sent[]) => void sent.push(...messages),
  }
  const engine = {
    ...engineOn(table),
    queue,
    system: { ...system, now: () => Date.now() + offsetMs },
    times: leaseTimes(),
    environment: scripted.environmentFor(),
  } satisfies Engine
  const receiveOn = ({ executionId, wakes }: Partial<Sent> & { executionId: string }, on: Engine = engine) =>
    receive(on, executionId, wakes)

  /** One run of the sweeper. */
  async function sweepOn({
    executions,
    steps,
  }: Pick<Engine, 'executions' | 'steps'> = engine): Promise<void> {
    const { system, times } = engine
    const params = { executions, steps, queue, system, times }
    await setCounted(table, system.now())
    await runCleanups(params)
    await sweepTimers({ ...params, timers: timerStore(table), ...NO_DELIVERIES, sent: newSentTimers() })
    await sweep(params)
  }

  return {
    ...{ engine, organizationId, receive: receiveOn },
    /** Those that nobody has received. */
    sent: () => sent,
    passTime: (ms: number) => {
      offsetMs += ms
    },

    codeAgent: (slug: string, body: string = SLEEPS) =>
      aModelAgent(
        { organizationId, slug, code: true },
        { table, code: `export default async (input, context) => { ${body} }` },
      ),

    /** A model agent that follows the script, with tools that have the names of these agents. */
    async modelAgent(slug: string, script: Script, tools: (string | object)[], overrides: object = {}) {
      const name = `${slug}-${system.newId()}`
      scripted.script(name, script)
      const model = scripted.modelFor('openai-compatible', name)
      const given = tools.map((tool) => (typeof tool === 'string' ? { name: tool, agent: tool } : tool))
      const version = await aModelAgent(
        { organizationId, slug, model, tools: given, ...overrides },
        { table },
      )
      return { version, requests: scripted.requests(name) }
    },

    async create(version: Parameters<typeof executionOf>[0], overrides: Partial<NewExecution> = {}) {
      const now = engine.system.now()
      const given = { input: { question: 'Why?' }, now, deadlineMs: DEADLINE_MS, ...overrides }
      const execution = executionOf(version, given)
      await engine.executions.create({ execution })
      return execution
    },

    async read({ id }: Pick<Execution, 'id'>): Promise<Execution> {
      const found = await engine.executions.get({ organizationId, id })
      if (!found) throw new Error(`The execution ${id} does not exist.`)
      return found
    },

    /** The children of an execution, in the order of their agents' slugs. */
    async childrenOf({ id }: Pick<Execution, 'id'>): Promise<Execution[]> {
      const page = { organizationId, agentId: null, status: null, tenantId: null, limit: 100, after: null }
      const { items } = await engine.executions.list(page)
      return items.filter((each) => each.parentExecutionId === id)
    },

    /** Receives messages, those that are sent meanwhile included, until there is none. Returns how many there were. */
    async deliver(on: Engine = engine): Promise<number> {
      let received = 0
      for (let next = sent.shift(); next; next = sent.shift()) {
        received++
        await receiveOn(next, on)
      }
      return received
    },

    dropMessages: () => {
      sent = []
    },

    sweep: sweepOn,

    /** Passes the days for which the store keeps events that nobody delivers. */
    async expireEvents(): Promise<void> {
      for (const minutes of [10, 10, 10, 10, 7 * 24 * 60, 10]) {
        offsetMs += minutes * 60_000
        await sweepOn()
      }
    },
  }
}

/** The turns of a model that calls these tools at once, and then answers. */
export const asksOnce = (calls: ScriptedCall[], answer = 'Done.'): Script => [
  { calls },
  { calls: [finalAnswer({ answer })] },
]
