import { afterAll, describe, expect, inject, it } from 'vitest'
import { ANONYMOUS } from '../../../lib/core/access.ts'
import type { Execution } from '../../../lib/core/execution.ts'
import type { QueuedExecution } from '../../../lib/core/ports/queues.ts'
import { openTable } from '../../../lib/dynamodb/table/table.ts'
import { newLease } from '../../../lib/engine/engine.ts'
import { approvalIdOfWait } from '../../../lib/engine/waiting/approvals.ts'
import { sendSignal } from '../../../lib/engine/waiting/send-signal.ts'
import { attempt } from '../../../lib/engine/worker/attempt.ts'
import { system } from '../../../lib/system.ts'
import { LOCAL_TABLE } from '../../../local/emulators/provision.ts'
import { engineOn, receive } from '../../support/engine/engine-on.ts'
import { executionOf, leased } from '../../support/engine/executions.ts'
import { aModelAgent } from '../../support/engine/model-agent.ts'
import { sharedTable } from '../../support/engine/organization.ts'
import { meterCapacity } from '../../support/proxy/observe.ts'
import { startProxy } from '../../support/proxy/start-proxy.ts'

const meter = meterCapacity()
const sent: QueuedExecution[] = []
let offsetMs = 0
const proxy = await startProxy(inject('dynamodb'), meter.behavior)
afterAll(() => proxy.stop())

const openEngine = () => ({
  ...engineOn(openTable({ TABLE_NAME: LOCAL_TABLE, DYNAMODB_ENDPOINT: proxy.url })),
  queue: { send: async (message: QueuedExecution) => void sent.push(message) },
  environment: { PUBLIC_URL: 'https://api.example.com' },
  system: { ...system, now: () => Date.now() + offsetMs },
})

const writeUnits = async (work: () => Promise<unknown>): Promise<number> => {
  meter.take()
  await work()
  return meter.take().writeUnits
}

type Answer = (execution: Execution) => Promise<unknown>

/** The write units and messages of a run of this code, which is answered if it waits. */
async function costOfRun(code: string, answer: Answer | null = null) {
  const engine = openEngine()
  const version = await aModelAgent(
    { code: true, slug: `cost-${system.newId()}`, outputSchema: { type: 'object' } },
    { code: `export default async (input, context) => { ${code}; return {} }`, table: sharedTable() },
  )
  const lease = newLease(engine)
  const execution = { ...executionOf(version, { input: { question: '?' } }), lease, attempts: 1 }
  sent.length = 0
  offsetMs = 0
  const units = await writeUnits(async () => {
    await engine.executions.create({ execution })
    await attempt(engine, leased(execution, lease.owner))
    if (!answer) return
    await answer(execution)
    await receive(engine, execution.id, true)
  })
  expect(await engine.executions.getStatus(execution)).toBe('SUCCESS')
  return { units, messages: sent.length }
}

/** Of what is more than the run without the wait, the answer included. */
async function costOf(wait: string, answer: Answer) {
  const plain = await costOfRun('')
  const waiting = await costOfRun(wait, answer)
  return { units: waiting.units - plain.units, messages: waiting.messages }
}

describe('suspending and resuming a run', () => {
  it.each([
    [3_600, 'no message of its own', 0],
    [60, 'the message that is its timer', 1],
  ])('for %i seconds costs 10 write units, and %s', async (seconds, _, messages) => {
    const pass = async () => {
      offsetMs += seconds * 1_000
    }
    expect(await costOf(`await context.sleep('nap', ${seconds})`, pass)).toEqual({ units: 10, messages })
  })

  it('for a signal costs 11 write units, and the message that resumes it', async () => {
    const send = ({ id, organizationId }: Execution) => {
      const reference = { executionId: id, access: { ...ANONYMOUS, organizationId } }
      return sendSignal(openEngine(), { ...reference, name: 'go', data: 1, idempotencyKey: 'key' })
    }
    expect(await costOf(`await context.waitForSignal('go')`, send)).toEqual({ units: 11, messages: 1 })
  })

  it('for an approval costs 10 write units: the decision is its result', async () => {
    const engine = openEngine()
    const at = new Date().toISOString()
    const value = { decision: 'approve', note: null, by: 'Ann', decidedAt: at, input: null }
    const callId = approvalIdOfWait('ask')
    const result = { callId, result: { ok: true as const, value }, startedAt: at, finishedAt: at }
    const decide = ({ id }: Execution) => engine.steps.appendResult({ executionId: id, number: 1, result })
    const ask = `await context.waitForApproval('ask', { title: 'May I?' })`
    expect(await costOf(ask, decide)).toEqual({ units: 10, messages: 0 })
  })
})

it('callback URLs cost no write unit in a run with a step: its lease is renewed once', async () => {
  const step = `await context.step('step', () => 1)`
  const urls = `await context.callbackUrl('a'); await context.callbackUrl('b')`
  const { units } = await costOfRun(step)
  expect((await costOfRun(`${urls}; ${step}`)).units).toBe(units)
  expect((await costOfRun(`${step}; ${urls}`)).units).toBe(units + 1)
})
