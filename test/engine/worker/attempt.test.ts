import { describe, expect, it, vi } from 'vitest'
import { CANCELLED, NO_USAGE } from '../../../lib/core/execution.ts'
import { FINAL_ANSWER, type ModelResponse } from '../../../lib/core/model.ts'
import { endExecution } from '../../../lib/engine/end-execution.ts'
import { attempt } from '../../../lib/engine/worker/attempt.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { openModel } from '../../../lib/models/open-model.ts'
import { engineOn } from '../../support/engine/engine-on.ts'
import { executionOf, leased } from '../../support/engine/executions.ts'
import { newOrganization, sharedTable } from '../../support/engine/organization.ts'
import { aMessage, lookup, startScriptedEngine } from '../../support/engine/scripted-engine.ts'

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

  it('ends a run of a model whose output exceeds the limit of payloads', async () => {
    const { execution, stored } = await queued([], await aToolAgent())
    const input = { answer: 'x'.repeat(8_000_000) }
    const respond = async (): Promise<ModelResponse> => ({
      messages: [],
      text: '',
      toolCalls: [{ id: 'c', name: FINAL_ANSWER, input, error: null }],
      usage: NO_USAGE,
      stopReason: 'tool-calls',
    })
    const open: typeof openModel = async (...params) => ({ ...(await openModel(...params)), respond })
    await processMessage({ ...engine, openModel: open }, execution.id, aMessage())
    const message = 'The output has 8000013 bytes; the limit is 6000000.'
    const { error, output, steps, attempts } = await stored()
    expect({ error, steps, attempts, hasOutput: output !== null }).toEqual({
      error: { code: 'OutputTooLarge', message },
      ...{ steps: 1, attempts: 1, hasOutput: false },
    })
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
})
