import { describe, expect, it, vi } from 'vitest'
import { archiveAgent } from '../../../lib/agents/lifecycle/change-agent.ts'
import type { Version } from '../../../lib/core/agent.ts'
import { Unavailable } from '../../../lib/core/errors.ts'
import type { LeasedExecution } from '../../../lib/core/execution.ts'
import { CANCELLED } from '../../../lib/core/execution-errors.ts'
import { leaseTimes } from '../../../lib/core/lease-times.ts'
import { MAX_ATTEMPTS } from '../../../lib/core/limits.ts'
import type { ToolResult } from '../../../lib/core/model.ts'
import type { RecordedStep } from '../../../lib/core/step.ts'
import { endExecution } from '../../../lib/engine/end-execution.ts'
import type { Engine } from '../../../lib/engine/engine.ts'
import { childId } from '../../../lib/engine/model-agent/call-key.ts'
import { subAgents } from '../../../lib/engine/model-agent/sub-agents.ts'
import { attempt } from '../../../lib/engine/worker/attempt.ts'
import { system } from '../../../lib/system.ts'
import type { ToolDocument } from '../../../lib/tools/document/tool-fields.ts'
import { openTools } from '../../../lib/tools/open-tools.ts'
import { engineOn } from '../../support/engine/engine-on.ts'
import { anExecution, executionOf, modelStep, toolCall } from '../../support/engine/executions.ts'
import { aModelAgent } from '../../support/engine/model-agent.ts'
import { engineTable } from '../../support/tables/memory-table.ts'

const engine = engineOn(await engineTable())
const SLUG = 'helper'
const input = { question: 'Well?' }

async function aHelper(answer: string, organizationId = system.newId()) {
  const code = `export default () => ({ answer: ${JSON.stringify(answer)} })`
  return aModelAgent({ organizationId, slug: SLUG, code: true }, { code })
}

const archive = (organizationId: string) =>
  archiveAgent({ store: engine.agents, organizationId, idOrSlug: SLUG }, new Date().toISOString())

type Options = { on?: Engine; signal?: AbortSignal; recorded?: RecordedStep[]; version?: Version }

/** The agents that a new execution can call. */
async function openAgents(
  organizationId: string,
  { on = engine, signal = new AbortController().signal, recorded = [], version }: Options = {},
) {
  const parent = anExecution({ organizationId })
  await engine.executions.create({ execution: parent })
  const attempts: LeasedExecution[] = []
  const agents = subAgents(on, parent, {
    attempt: (...params) => {
      attempts.push(params[1])
      return attempt(...params)
    },
    budget: null,
    endsAt: Number.POSITIVE_INFINITY,
    version: version ?? (await aModelAgent({ organizationId })),
    journal: { recorded },
    files: [],
  })
  const run = (idempotencyKey: string) => agents.runAgent({ slug: SLUG, input, idempotencyKey, signal })
  return { parent, agents, run, attempts }
}

/** The call `call` of an agent that another worker has begun, and its lease. */
async function begun(ms: number, options: Options = {}) {
  const version = await aHelper('A')
  const { organizationId } = version
  const { parent, run, ...opened } = await openAgents(organizationId, { on: quick, ...options })
  const id = childId(parent, 'call')
  const lease = { owner: 'another', expiresAt: Date.now() + ms }
  const called = { executionId: parent.id, callers: [parent.agentId] }
  await engine.executions.create({ execution: executionOf(version, { id, input, parent: called, lease }) })
  const stored = () => engine.executions.get({ organizationId, id })
  return { ...opened, parent, run: () => run('call'), organizationId, id, lease, stored }
}

/** Leases and heartbeats of a worker that has not much time; it looks for free children every 0.5 s. */
const quick: Engine = { ...engine, times: leaseTimes(3_000, 20) }

/** An engine that tells when it has begun to wait for a child. */
function watched() {
  let looks = 0
  const getState: Engine['executions']['getState'] = (params) => {
    looks++
    return engine.executions.getState(params)
  }
  return {
    engine: { ...quick, executions: { ...engine.executions, getState } },
    begun: () => vi.waitUntil(() => looks > 1),
  }
}

const unavailable = () => Promise.reject(new Unavailable(new Error('no answer')))

/** Calls the tool `ask` of the version as the loop does. */
async function callTool(version: Version, agents: Awaited<ReturnType<typeof openAgents>>['agents']) {
  const tools = await openTools(version.tools as ToolDocument[], { environment: {}, ...agents })
  const call = { id: 'call', name: 'ask', input, error: null }
  return tools.call(call, { idempotencyKey: 'call', signal: new AbortController().signal })
}

/** A parent's response with this many calls of the agent, with ids from 1, and results of the first ones. */
function aStep(number: number, calls: number, results: ToolResult[] = []): RecordedStep {
  const at = new Date().toISOString()
  const made = Array.from({ length: calls }, (_, i) => toolCall(`call-${i + 1}`, 'ask', input))
  const resultOf = (result: ToolResult, i: number) => {
    const callId = `call-${i + 1}`
    return [callId, { callId, result, startedAt: at, finishedAt: at }] as const
  }
  return { step: modelStep({ number, calls: made }), results: new Map(results.map(resultOf)) }
}

describe('subAgents', () => {
  it('describe an archived agent, and fail its calls without an execution', async () => {
    const { organizationId, agentId } = await aHelper('A')
    await archive(organizationId)
    const { agents, run } = await openAgents(organizationId)
    expect(await agents.describeAgent(SLUG)).toMatchObject({ description: 'Answers questions.' })
    expect(await run('call')).toMatchObject({ ok: false, error: 'The agent helper is archived.' })
    const filter = { organizationId, agentId, status: null, tenantId: null, limit: 10, after: null }
    expect((await engine.executions.list(filter)).items).toEqual([])
  })

  it.each([
    ['while another version is current', () => undefined],
    ['of an agent that is archived by now', archive],
  ])('continue a call that began before on its version, %s', async (_, change) => {
    const { run, organizationId, stored } = await begun(0)
    const { versionId } = (await stored()) ?? {}
    await aHelper('B', organizationId)
    await change(organizationId)
    expect(await run()).toMatchObject({ ok: true, value: { answer: 'A' } })
    expect(await stored()).toMatchObject({ versionId, status: 'SUCCESS' })
  })

  it('take a child over whose worker died', async () => {
    const { run, lease, attempts } = await begun(1_000)
    expect(await run()).toMatchObject({ ok: true, value: { answer: 'A' } })
    expect(attempts).toHaveLength(1)
    expect(Date.parse(attempts[0]?.startedAt ?? '')).toBeLessThan(lease.expiresAt)
    expect(attempts[0]?.lease.owner).not.toBe(lease.owner)
  })

  it('take a child over that another worker releases while the parent waits', async () => {
    const looks = watched()
    const { run, id, lease, stored } = await begun(3_600_000, { on: looks.engine })
    const later = Date.now() + 3_600_000
    const result = run()
    await looks.begun()
    expect(await stored()).toMatchObject({ status: 'IN_PROGRESS', attempts: 1 })
    await engine.executions.release({ id, owner: lease.owner, until: later, error: null })
    expect(await result).toMatchObject({ ok: true, value: { answer: 'A' } })
    expect(await stored()).toMatchObject({ status: 'SUCCESS', attempts: 2 })
  })

  it('leave a child alone whose retry is not due yet', async () => {
    const { run, id, lease, attempts } = await begun(60_000)
    const dueAt = Date.now() + 2_000
    const until = dueAt + (quick.times?.graceMs ?? 0)
    const error = { code: 'ModelUnavailable', message: 'Overloaded.' }
    await engine.executions.release({ id, owner: lease.owner, until, error })
    expect(await run()).toMatchObject({ ok: true, value: { answer: 'A' } })
    expect(attempts.map((execution) => execution.lease.expiresAt - 3_000 >= dueAt)).toEqual([true])
  })

  it('end a child whose attempts are used up, and one whose version no longer exists', async () => {
    const getCode = vi.fn(engine.agents.getCode)
    const exhausted = await begun(0, { on: { ...quick, agents: { ...engine.agents, getCode } } })
    for (let n = 0; n < MAX_ATTEMPTS; n++) {
      const now = Date.now() + n * 10
      await engine.executions.claim({ id: exhausted.id, lease: { owner: `${n}`, expiresAt: now + 1 }, now })
    }
    expect(await exhausted.run()).toMatchObject({
      ok: false,
      error: expect.stringContaining(`${MAX_ATTEMPTS} attempts failed without progress`),
    })
    const getVersion = async () => null
    const forgotten = await begun(0, { on: { ...quick, agents: { ...engine.agents, getVersion, getCode } } })
    await aHelper('B', forgotten.organizationId)
    expect(await forgotten.run()).toMatchObject({
      ok: false,
      error: 'The agent helper failed: The version of the execution no longer exists.',
    })
    expect(getCode).not.toHaveBeenCalled()
    expect((await exhausted.stored())?.error?.code).toBe('AttemptsExhausted')
    expect((await forgotten.stored())?.error?.code).toBe('VersionNotFound')
  })

  it('return when the child they wait for is cancelled or deleted, and stop waiting with their parent', async () => {
    const waiting = async () => {
      const [{ engine: on, begun: hasBegun }, stop] = [watched(), new AbortController()]
      const { run, ...child } = await begun(3_600_000, { on, signal: stop.signal })
      const result = run()
      await hasBegun()
      return { ...child, stop, result }
    }
    const cancelled = await waiting()
    await endExecution(engine, { ...cancelled, error: CANCELLED })
    const error = expect.stringContaining(CANCELLED.message)
    expect(await cancelled.result).toMatchObject({ ok: false, error })

    const stopped = await waiting()
    stopped.stop.abort(new Error('stopped'))
    await expect(stopped.result).rejects.toThrow('stopped')
    expect((await stopped.stored())?.status).toBe('IN_PROGRESS')

    const orphaned = await waiting()
    const finishedAt = new Date().toISOString()
    await engine.executions.end({ ...orphaned.parent, error: CANCELLED, finishedAt })
    orphaned.stop.abort(new Error('cancelled'))
    await expect(orphaned.result).rejects.toThrow('cancelled')
    expect((await orphaned.stored())?.error).toEqual(CANCELLED)
    for (const { attempts } of [cancelled, stopped, orphaned]) expect(attempts).toEqual([])
  })

  it('do not report a failure when the database does not answer, at any request', async () => {
    const { organizationId } = await aHelper('A')
    const version = await aModelAgent({ organizationId, tools: [{ name: 'ask', agent: SLUG }] })
    const failing = ['create', 'getSummary', 'claim', 'getState'] as const
    for (const name of failing) {
      const on = { ...quick, executions: { ...engine.executions, [name]: unavailable } }
      const { agents } = await begun(name === 'getState' ? 3_600_000 : 0, { on })
      await expect(callTool(version, agents), name).rejects.toBeInstanceOf(Unavailable)
    }
  })

  it('start as many executions in one run as its document allows, whatever an earlier worker has started', async () => {
    const { organizationId } = await aHelper('A')
    const execution = { useCache: false, cacheTtlSeconds: null, timeoutSeconds: null, maxChildren: 4 }
    const tools = [{ name: 'ask', agent: SLUG }]
    const version = await aModelAgent({ organizationId, tools, execution })
    const refused: ToolResult = { ok: false, error: 'invalid' }
    const started: ToolResult = { ok: true, value: {}, executionId: 'x' }
    const recorded = [aStep(1, 2, [started, refused]), aStep(2, 5)]
    const { parent, run } = await openAgents(organizationId, { version, recorded })
    const results = await Promise.all([1, 2, 3, 4, 5].map((n) => run(`${parent.id}-2-call-${n}`)))
    expect(results.map(({ ok }) => ok)).toEqual([true, true, true, false, false])
    const error =
      'This run has started 4 executions of other agents, which is its limit (execution.maxChildren).'
    expect(results[4]).toEqual({ ok: false, error })
  })

  it('name the execution of a call that timed out, which counts towards the limit', async () => {
    const code = 'export default () => new Promise((resolve) => setTimeout(resolve, 60_000))'
    const { organizationId } = await aModelAgent({ slug: SLUG, code: true }, { code })
    const ask = { name: 'ask', agent: SLUG, timeoutSeconds: 1 }
    const version = await aModelAgent({ organizationId, tools: [ask] })
    const { parent, agents } = await openAgents(organizationId, { version })
    const executionId = childId(parent, 'call')
    const error = 'The call timed out after 1 s.'
    expect(await callTool(version, agents)).toEqual({ ok: false, error, executionId })
    expect((await engine.executions.get({ organizationId, id: executionId }))?.error).toEqual(CANCELLED)
  })
})
