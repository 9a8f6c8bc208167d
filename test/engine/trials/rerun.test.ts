import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Access } from '../../../lib/core/access.ts'
import type { Version } from '../../../lib/core/agent.ts'
import { ExecutionInProgress, InputSchemaMismatch } from '../../../lib/core/errors.ts'
import type { Execution } from '../../../lib/core/execution.ts'
import { admission } from '../../../lib/engine/submit/admission.ts'
import { type RerunOptions, rerunExecution } from '../../../lib/engine/trials/rerun.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { answer, lookup, startScriptedEngine } from '../../support/engine/scripted-engine.ts'

const scripted = await startScriptedEngine()
const { engine, server, aToolAgent } = scripted
const submit = { ...engine, admit: admission(engine, 1_000), syncDeadlineMs: 10_000 }

// Overrides are checked with the environment of the process.
beforeAll(() => {
  for (const [name, value] of Object.entries(engine.environment)) vi.stubEnv(name, value)
})
afterAll(() => void vi.unstubAllEnvs())

const accessTo = ({ organizationId }: Version): Access => ({
  organizationId,
  tokenId: '',
  scopes: null,
  agents: null,
  tenantId: null,
  rate: null,
})

const start = (version: Version, { id }: Pick<Execution, 'id'>, options: RerunOptions = {}) =>
  rerunExecution(submit, {
    access: accessTo(version),
    executionId: id,
    options,
    idempotencyKey: undefined,
  })

/** The end of a rerun. */
async function rerun(version: Version, original: Pick<Execution, 'id'>, options: RerunOptions = {}) {
  const execution = await start(version, original, options)
  await processMessage(engine, execution.id)
  return (await engine.executions.get(execution)) as Execution
}

/** A run whose model calls a tool and answers, of a model that can do so again. */
async function aRun(version: Version) {
  const { execution, requests } = await scripted.runScript(
    (_, index) => (index % 2 === 0 ? lookup : answer),
    { version },
  )
  expect(execution.status).toBe('SUCCESS')
  return { original: execution, requests }
}

describe('rerunExecution', () => {
  it('asks the model and calls the tools again by default', async () => {
    const version = await aToolAgent()
    const { original, requests } = await aRun(version)
    const calls = server.calls.length
    const again = await rerun(version, original)
    expect(again).toMatchObject({
      status: 'SUCCESS',
      source: 'API',
      replay: { executionId: original.id, isTrial: false },
      judgement: null,
      options: { model: original.options.model },
    })
    expect([requests.length, server.calls.length - calls]).toEqual([4, 1])
  })

  it('takes from the original what is recorded, and the rest is live', async () => {
    const version = await aToolAgent()
    const { original, requests } = await aRun(version)
    const calls = server.calls.length
    const recorded: RerunOptions = { models: 'recorded', tools: { default: 'recorded' } }
    expect(await rerun(version, original, recorded)).toMatchObject({
      source: 'TRIAL',
      judgement: { verdict: 'SAME' },
      steps: 2,
    })
    expect(requests).toHaveLength(2)
    expect(await rerun(version, original, { tools: { default: 'recorded' } })).toMatchObject({
      judgement: { verdict: 'SAME' },
    })
    expect(requests).toHaveLength(4)
    expect(server.calls.length).toBe(calls)
    // The script of the model begins again: it calls the tool, then answers.
    expect(await rerun(version, original, { fromStep: 2 })).toMatchObject({ source: 'TRIAL', steps: 3 })
    expect([requests.length - 4, server.calls.length - calls]).toEqual([2, 1])
  })

  it('is refused from a step on that the original does not reach', async () => {
    const version = await aToolAgent()
    const { original } = await aRun(version)
    await expect(start(version, original, { fromStep: 4 })).rejects.toThrow('/fromStep must be from 1 to 3')
    expect(await start(version, original, { fromStep: 3 })).toMatchObject({ status: 'IN_PROGRESS' })
  })

  it('is refused for tools that the version does not have', async () => {
    const version = await aToolAgent()
    const { original } = await aRun(version)
    for (const source of ['recorded', 'live'] as const)
      await expect(start(version, original, { tools: { nothing: source } })).rejects.toThrow(
        InputSchemaMismatch,
      )
  })

  it('needs a final original for what is recorded', async () => {
    const version = await aToolAgent()
    const { execution } = await scripted.queued(() => answer, version)
    await expect(start(version, execution, { models: 'recorded' })).rejects.toThrow(ExecutionInProgress)
    expect(await start(version, execution)).toMatchObject({ status: 'IN_PROGRESS' })
  })

  it('ends if the original is deleted before it begins', async () => {
    const version = await aToolAgent()
    const { original } = await aRun(version)
    const execution = await start(version, original, { models: 'recorded' })
    await engine.executions.delete({ ...original, now: Date.now() })
    await processMessage(engine, execution.id)
    expect(await engine.executions.get(execution)).toMatchObject({
      status: 'ERROR',
      error: { code: 'ExecutionNotFound' },
      judgement: null,
    })
  })
})
