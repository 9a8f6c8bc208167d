import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { CANCELLED } from '../../../lib/core/execution.ts'
import { attempt } from '../../../lib/engine/worker/attempt.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { engineOn } from '../../support/engine.ts'
import { anExecution, leased } from '../../support/executions.ts'
import { aModelAgent, httpTool, startToolServer } from '../../support/model-agent.ts'
import { newOrganization, sharedTable } from '../../support/organization.ts'
import { answer, lookup, startTestEngine } from '../../support/test-engine.ts'

const { engine, queued, stop } = await startTestEngine()
afterAll(stop)

describe('attempt', () => {
  it('ends a run whose result the database rejects, with the cause', async () => {
    const version = await (await newOrganization()).publish('echo')
    const { organizationId, agentId, id: versionId } = version
    const table = sharedTable()
    const oversized = 'x'.repeat(500_000)
    const executions = engineOn({
      ...table,
      update: (key, { set, ...change }) =>
        table.update(key, { ...change, set: { ...set, ...(set?.output !== undefined && { oversized }) } }),
    }).executions
    const lease = { owner: 'me', expiresAt: Date.now() + 60_000 }
    const execution = leased(anExecution({ organizationId, agentId, versionId, lease }), 'me')
    await executions.create({ execution })
    const result = await attempt({ ...engineOn(table), executions }, execution, version)
    expect(result).toMatchObject({
      kind: 'completed',
      execution: { status: 'ERROR', error: { message: expect.stringContaining('size') } },
    })
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
    await vi.waitFor(async () => expect(await steps()).toHaveLength(1), { timeout: 20_000 })
    const finishedAt = new Date().toISOString()
    expect(await engine.executions.end({ organizationId, id, error: CANCELLED, finishedAt })).not.toBeNull()
    await running
    expect((await steps())[0]?.results.size).toBe(0)
    await server.stop()
  })
})
