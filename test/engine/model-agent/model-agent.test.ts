import { describe, expect, inject, it } from 'vitest'
import type { LeasedExecution } from '../../../lib/core/execution.ts'
import { CANCELLED } from '../../../lib/core/execution-errors.ts'
import { selects } from '../../../lib/core/rollout.ts'
import { subAgents } from '../../../lib/engine/model-agent/sub-agents.ts'
import { runInProcess } from '../../../lib/engine/submit/submit.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { system } from '../../../lib/system.ts'
import { engineOn } from '../../support/engine/engine-on.ts'
import { anExecution, executionOf, runOptions } from '../../support/engine/executions.ts'
import { aModelAgent, finalAnswer, httpTool } from '../../support/engine/model-agent.ts'
import { answer, lookup, startScriptedEngine } from '../../support/engine/scripted-engine.ts'
import { aVersion, RolloutRun } from '../../support/rollouts/rollout-run.ts'
import { dataOf, resultsOf } from '../../support/scripted-model/recorded-request.ts'
import { SCRIPTED_PROVIDERS } from '../../support/scripted-model/start-scripted-model.ts'
import { engineTable } from '../../support/tables/memory-table.ts'

const { engine, runScript, scriptModel, server } = await startScriptedEngine()

describe.each(SCRIPTED_PROVIDERS)('a model agent on %s', (provider) => {
  it('takes three steps, with two parallel tool calls in the first', async () => {
    const version = await aModelAgent({
      tools: [httpTool(server, 'get_order', '/orders/{id}'), httpTool(server, 'get_user', '/users/{id}')],
    })
    const call = (name: string, id: string) => ({ name, input: { id } })
    const script = [
      { text: 'Let me look.', calls: [call('get_order', 'o1'), call('get_user', 'u1')] },
      { calls: [call('get_user', 'u2')] },
      answer,
    ]
    const { execution, steps, requests, done } = await runScript(script, { version, provider })
    done()
    expect(execution).toMatchObject({
      ...{ status: 'SUCCESS', output: { answer: 'Because.' }, steps: 3 },
      usage: { inputTokens: 30, outputTokens: 15 },
    })
    expect(execution.model).toContain(provider)
    expect(requests[0]?.instructions).toContain('Answer the question.')
    expect(requests[0]?.tools.map(({ name }) => name)).toEqual(['get_order', 'get_user', 'final_answer'])
    const paths = resultsOf(requests[2]).map((output) => JSON.parse(dataOf(output)).path)
    expect(paths).toEqual(['/orders/o1', '/users/u1', '/users/u2'])
    expect(steps[0]?.step).toMatchObject({ kind: 'MODEL', text: 'Let me look.' })
    expect(steps.map(({ results }) => results.size)).toEqual([2, 1, 0])
  })
})

it('a wrong answer ends the run in ERROR OutputSchemaMismatch after two failed repairs', async () => {
  const bad = { calls: [finalAnswer({ answer: 42, other: 1 })] }
  const { execution, done } = await runScript([bad, bad, bad], { version: await aModelAgent() })
  done()
  const message = 'The model returned 3 results; none matches the output schema.'
  const error = { code: 'OutputSchemaMismatch', message }
  expect(execution).toMatchObject({ status: 'ERROR', steps: 3, error })
  expect(execution.error?.errors).toContainEqual(expect.objectContaining({ path: '/answer' }))
})

it.each(inject('isNightly') ? [1, 2, 100, 500] : [1, 2, 20])(
  'maxAgentSteps of %i limits the model responses to that number',
  async (maxAgentSteps) => {
    const version = await aModelAgent({ tools: [httpTool(server, 'look_up', '/ok/{id}')] })
    const { execution, requests } = await runScript(() => lookup, { version, maxAgentSteps })
    expect(requests).toHaveLength(maxAgentSteps)
    const error = { code: 'MaxAgentStepsExceeded' }
    expect(execution).toMatchObject({ status: 'ERROR', steps: maxAgentSteps, error })
  },
  120_000,
)

it('a run without a model names the environment variable to set', async () => {
  const version = await aModelAgent()
  const request = { version, input: {}, tenantId: null, options: runOptions() }
  const execution = await runInProcess({ ...engine, environment: {} }, request)
  const message = expect.stringContaining('DEFAULT_MODEL')
  expect(execution.error).toMatchObject({ code: 'ModelNotConfigured', message })
})

describe('an agent as a tool', () => {
  it('runs as a separate execution whose record names its parent', async () => {
    const organizationId = system.newId()
    const { model } = scriptModel([{ calls: [finalAnswer({ answer: 'From below.' })] }])
    await aModelAgent({ organizationId, slug: 'helper', model })
    const tools = [{ name: 'ask_helper', agent: 'helper' }]
    const version = await aModelAgent({ organizationId, slug: 'boss', tools })
    const input = { question: 'Well?' }
    const script = [{ calls: [{ name: 'ask_helper', input }] }, answer]
    const { execution, requests, done } = await runScript(script, { version })
    done()
    expect(execution).toMatchObject({ status: 'SUCCESS', source: 'API', parentExecutionId: null })
    expect(resultsOf(requests[1])).toEqual([expect.stringContaining('From below.')])
    const page = { organizationId, agentId: null, status: null, tenantId: null, limit: 10, after: null }
    const { items } = await engine.executions.list(page)
    expect(items.find(({ id }) => id !== execution.id)).toMatchObject({
      ...{ status: 'SUCCESS', source: 'AGENT', parentExecutionId: execution.id, input },
      // Its parent in the trace is the span of the call.
      traceparent: expect.stringMatching(`^00-${execution.id.replaceAll('-', '')}-[0-9a-f]{16}-01$`),
    })
  })

  it('is cancelled by the next worker if its parent was cancelled after both lost theirs', async () => {
    const version = await aModelAgent({ code: true }, { code: 'export default () => ({ answer: "no" })' })
    const parent = anExecution({ organizationId: version.organizationId })
    const child = executionOf(version, {
      input: { question: 'Why?' },
      parent: { executionId: parent.id, callers: [parent.agentId] },
    })
    for (const execution of [parent, child]) await engine.executions.create({ execution })
    await engine.executions.end({ ...parent, error: CANCELLED, finishedAt: new Date().toISOString() })
    expect(await processMessage(engine, child.id)).toBe('processed')
    expect(await engine.executions.get(child)).toMatchObject({ status: 'ERROR', error: CANCELLED })
  })
})

describe('rollouts of sub-agents', () => {
  it('all calls of an agent in a run get the version that the tenant selects, or the execution that calls it', async () => {
    const run = await RolloutRun.create(await engineTable(), Date.now())
    const { organizationId, slug } = run.current
    await run.start({ percent: 50 })
    const found = new Set<string>()
    for (let n = 0; n < 10; n++) {
      const tenantId = n % 2 ? `tenant-${n}` : null
      const parent = { ...anExecution({ organizationId, tenantId }), deadlineAt: Date.now() + 60_000 }
      const children: LeasedExecution[] = []
      const agents = subAgents(engineOn(run.table), parent, {
        attempt: async (_, execution) => {
          children.push(execution)
          return { kind: 'completed', execution: { ...execution, status: 'SUCCESS', output: {} } }
        },
        budget: null,
        endsAt: Date.now() + 60_000,
        version: aVersion({ organizationId, slug: 'caller' }),
        journal: { recorded: [] },
        files: [],
      })
      const { signal } = new AbortController()
      for (const idempotencyKey of [system.newId(), system.newId()])
        await agents.runAgent({ slug, input: { text: 'x' }, idempotencyKey, signal })
      const rollout = { versionId: run.next.id, percent: 50, key: 'tenant' as const }
      const [{ id: versionId }, selectedBy] = selects(rollout, { tenantId, executionId: parent.id })
        ? [run.next, 'ROLLOUT']
        : [run.current, 'CURRENT']
      expect(children).toMatchObject(Array(2).fill({ versionId, selectedBy }))
      found.add(selectedBy)
    }
    expect(found.size).toBe(2)
  })
})
