import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it, vi } from 'vitest'
import { CANCELLED } from '../../../lib/core/execution.ts'
import { deadlineIn } from '../../../lib/engine/checkpoints/deadline.ts'
import { endExecution } from '../../../lib/engine/end-execution.ts'
import { attempt } from '../../../lib/engine/worker/attempt.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { engineOn } from '../../support/engine/engine-on.ts'
import { executionOf, leased } from '../../support/engine/executions.ts'
import { aModelAgent, httpTool, startToolServer } from '../../support/engine/model-agent.ts'
import { newOrganization, sharedTable } from '../../support/engine/organization.ts'
import { answer, lookup, startScriptedEngine } from '../../support/engine/scripted-engine.ts'

const { engine, aToolAgent, queued } = await startScriptedEngine()
const { executions } = engine

describe('attempt', () => {
  it('ends a run whose result the database rejects, with the cause', async () => {
    const version = await (await newOrganization()).publish('echo')
    const table = sharedTable()
    const oversized = 'x'.repeat(500_000)
    const executions = engineOn({
      ...table,
      update: (key, { set, ...change }) =>
        table.update(key, { ...change, set: { ...set, ...(set?.output !== undefined && { oversized }) } }),
    }).executions
    const lease = { owner: 'me', expiresAt: Date.now() + 60_000 }
    const execution = leased(executionOf(version, { lease }), 'me')
    await executions.create({ execution })
    const result = await attempt({ ...engineOn(table), executions }, execution, { version })
    expect(result).toMatchObject({
      kind: 'completed',
      execution: { status: 'ERROR', error: { message: expect.stringContaining('size') } },
    })
  })

  it.each([
    { by: 'nobody else', owner: undefined, kind: 'completed' },
    { by: 'another worker', owner: 'another', kind: 'lost' },
  ])('begins with a lease that expired while it was written, and is held by $by: $kind', async (given) => {
    const version = await (await newOrganization()).publish('echo')
    const lease = { owner: 'me', expiresAt: Date.now() - 1 }
    const execution = leased(executionOf(version, { input: { text: 'a' }, lease }), 'me')
    await executions.create({ execution })
    const { id, organizationId } = execution
    const { owner } = given
    if (owner)
      await executions.claim({ id, lease: { owner, expiresAt: Date.now() + 60_000 }, now: Date.now() })
    expect((await attempt(engine, execution, { version })).kind).toBe(given.kind)
    expect((await executions.get({ organizationId, id }))?.status).toBe(owner ? 'IN_PROGRESS' : 'SUCCESS')
  })

  it('writes no tool result after the run was cancelled', async () => {
    const server = await startToolServer(async (_, response) => {
      await sleep(1_500)
      response.end('{}')
    })
    const version = await aModelAgent({ tools: [httpTool(server, 'look_up', '/things/{id}')] })
    const { execution } = await queued((_, index) => (index === 0 ? lookup : answer), version)
    const running = processMessage(engine, execution.id)
    const { id, organizationId } = execution
    const steps = () => engine.steps.read({ executionId: id })
    await vi.waitFor(async () => expect(await steps()).toHaveLength(1))
    expect(await endExecution(engine, { organizationId, id, error: CANCELLED })).toMatchObject({ steps: 1 })
    await running
    expect((await steps())[0]?.results.size).toBe(0)
    await server.stop()
  })

  it('writes no further step after the run was cancelled, and counts all that it wrote', async () => {
    const { execution, modelRequests } = await queued(() => lookup, await aToolAgent())
    const running = processMessage(engine, execution.id)
    await vi.waitFor(() => expect(modelRequests()).toBeGreaterThan(3))
    const { id, organizationId } = execution
    const cancelled = await endExecution(engine, { organizationId, id, error: CANCELLED })
    const steps = await engine.steps.read({ executionId: id })
    expect(cancelled).toMatchObject({ status: 'ERROR', steps: steps.length, model: expect.any(String) })
    expect(cancelled?.usage.inputTokens).toBe(10 * steps.length)
    await running
    expect(await engine.steps.read({ executionId: id })).toHaveLength(steps.length)
  })

  it('retains no outputs of runs that ended, until the deadline of their worker', async () => {
    const version = await (await newOrganization()).publish('echo')
    const outputs: WeakRef<object>[] = []
    const executions: typeof engine.executions = {
      ...engine.executions,
      finish: (params) => {
        if (params.outcome.status === 'SUCCESS') outputs.push(new WeakRef(params.outcome.output))
        return engine.executions.finish(params)
      },
    }
    const deadline = deadlineIn(600_000)
    const RUNS = 12
    for (let i = 0; i < RUNS; i++) {
      const execution = executionOf(version, { input: { text: 'a' } })
      await executions.create({ execution })
      await processMessage({ ...engine, executions }, execution.id, { deadline })
    }
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    // V8, and each warm thread, may keep what they returned last.
    await vi.waitFor(
      () => {
        collect()
        expect(outputs.filter((output) => output.deref()).length).toBeLessThanOrEqual(RUNS / 4)
      },
      { timeout: 40_000, interval: 500 },
    )
    expect(deadline.stop.aborted).toBe(false)
    deadline.clear()
  })
})
