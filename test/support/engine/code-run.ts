import type { Version } from '../../../lib/core/agent.ts'
import type { Json } from '../../../lib/core/json/json.ts'
import { leaseTimes } from '../../../lib/core/lease-times.ts'
import type { QueuedExecution } from '../../../lib/core/ports/queues.ts'
import type { Engine } from '../../../lib/engine/engine.ts'
import { approvalIdOfWait } from '../../../lib/engine/waiting/approvals.ts'
import { system } from '../../../lib/system.ts'
import { engineTable } from '../tables/memory-table.ts'
import { engineOn, receive } from './engine-on.ts'
import { executionOf } from './executions.ts'
import { aModelAgent } from './model-agent.ts'

export const aTable = await engineTable()

/** A run of this code, with a clock that only the test moves, and the messages that were sent. */
export async function aRun(
  body: string,
  { agent, ...overrides }: Partial<Engine> & { agent?: Partial<Version> } = {},
) {
  let offsetMs = 0
  const sent: (QueuedExecution & { delayMs?: number })[] = []
  const engine: Engine = {
    ...engineOn(aTable),
    queue: { send: async (message) => void sent.push(message) },
    system: { ...system, now: () => Date.now() + offsetMs },
    times: leaseTimes(),
    ...overrides,
  }
  const code = `let runs = 0\nexport default async (input, context) => { runs++; ${body} }`
  const outputSchema = { type: 'object' }
  const version = await aModelAgent(
    { code: true, outputSchema, slug: `waits-${system.newId()}`, ...agent },
    { code, table: aTable },
  )
  const execution = executionOf(version, { input: { question: 'Why?' }, deadlineMs: 86_400_000 })
  await engine.executions.create({ execution })
  const { id } = execution
  return {
    ...{ id, engine, sent, execution },
    start: () => receive(engine, id),
    /** Resumes it after a time. */
    wake: (afterMs = 0) => {
      offsetMs += afterMs
      return receive(engine, id, true)
    },
    passTime: (ms: number) => {
      offsetMs += ms
    },
    stored: async () => {
      const found = await engine.executions.get(execution)
      if (!found) throw new Error('The execution does not exist.')
      return found
    },
    signal: (name: string, data: Json) => {
      const receivedAt = new Date(engine.system.now()).toISOString()
      const signal = { id: system.newId(), name, data, receivedAt, bytes: 1 }
      return engine.signals.put({ executionId: id, signal })
    },
    decide: async (name: string, decision: 'approve' | 'reject', input: Json = null) => {
      const at = new Date(engine.system.now()).toISOString()
      const step = (await engine.steps.read({ executionId: id })).find(
        (each) => each.step.kind === 'WAIT' && each.step.name === name,
      )
      const value: Json = { decision, note: 'ok', by: 'Ann', decidedAt: at, input }
      const result = { callId: approvalIdOfWait(name), result: { ok: true as const, value } }
      return engine.steps.appendResult({
        executionId: id,
        number: step?.step.number ?? 0,
        result: { ...result, startedAt: at, finishedAt: at },
      })
    },
  }
}
