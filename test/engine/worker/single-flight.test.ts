import { describe, expect, it, vi } from 'vitest'
import type { NewExecution } from '../../../lib/core/new-execution.ts'
import type { Engine } from '../../../lib/engine/engine.ts'
import { giveFeedback } from '../../../lib/engine/learning/feedback.ts'
import { runInProcess } from '../../../lib/engine/submit/submit.ts'
import { attempt } from '../../../lib/engine/worker/attempt.ts'
import { system } from '../../../lib/system.ts'
import { engineOn } from '../../support/engine/engine-on.ts'
import { executionOf, leased, modelStep, NO_PROGRESS, runOptions } from '../../support/engine/executions.ts'
import { aModelAgent } from '../../support/engine/model-agent.ts'
import { publishFixture } from '../../support/engine/organization.ts'
import { engineTable } from '../../support/tables/memory-table.ts'

const MINUTE_MS = 60_000
const INPUT = { text: 'x' }
const ONE_STEP = runOptions({ maxAgentSteps: 1 })
const LEASE = { owner: 'leader', expiresAt: Date.now() + 3_600_000 }
const version = await publishFixture('echo')

/** Runs the agent with a cache entry that lives for a minute. */
async function runAt(minute: number, key: string, overrides: Partial<Engine> = {}) {
  const engine = {
    ...engineOn(await engineTable()),
    system: { ...system, now: () => Date.now() + minute * MINUTE_MS },
    ...overrides,
  }
  const cache = { key, ttlSeconds: 60 }
  return runInProcess(engine, { version, input: INPUT, tenantId: null, options: ONE_STEP, cache })
}

/** A run in progress whose result others with the key wait for. */
async function aLeader(key: string) {
  const engine = engineOn(await engineTable())
  const cache = { key, ttlSeconds: null }
  const leader = executionOf(version, { input: INPUT, options: ONE_STEP, lease: LEASE, cache })
  await engine.executions.create({ execution: leader })
  await engine.cache.reserve({ key, executionId: leader.id, replaces: null, now: Date.now() })
  const finish = (outcome: Parameters<typeof engine.executions.finish>[0]['outcome']) => {
    const finishedAt = new Date().toISOString()
    return engine.executions.finish({ execution: leased(leader, LEASE.owner), outcome, finishedAt })
  }
  /** A run that waits for the leader. */
  async function aFollower(overrides: Partial<NewExecution>) {
    const execution = executionOf(version, { input: INPUT, deadlineMs: 600_000, cache, ...overrides })
    await engine.executions.create({ execution })
    return execution
  }
  return { engine, leader, finish, aFollower }
}

describe('reuseResult', () => {
  it('reuses a result that could not be stored, for no longer than its cache entry would have lived', async () => {
    const key = system.newId()
    const { cache } = engineOn(await engineTable())
    const failing = { ...cache, store: () => Promise.reject(new Error('no response')) }
    const first = await runAt(0, key, { cache: failing })
    expect(first).toMatchObject({ status: 'SUCCESS', cached: false })
    expect(await runAt(0, key)).toMatchObject({ cached: true, cachedExecutionId: first.id })
    const second = await runAt(2, key)
    expect(second).toMatchObject({ status: 'SUCCESS', cached: false })
    expect(await runAt(2, key)).toMatchObject({ cached: true, cachedExecutionId: second.id })
  })

  it.each([
    ['the result', false],
    ['a copy of it', true],
  ])('does not take a result from its record when %s is rejected while it waits', async (_, isCopy) => {
    const key = system.newId()
    const { engine, leader, finish } = await aLeader(key)
    let looks = 0
    const getState: Engine['executions']['getState'] = async (params) => {
      looks++
      // The follower learns of the end only after the rejection.
      return hasRejected
        ? engine.executions.getState(params)
        : { status: 'IN_PROGRESS' as const, suspendedAt: null }
    }
    let hasRejected = false
    const following = runAt(0, key, { executions: { ...engine.executions, getState } })
    await vi.waitUntil(() => looks > 0)
    await finish({ status: 'SUCCESS', output: { text: 'wrong' }, ...NO_PROGRESS })
    const rated = isCopy ? await runAt(0, key) : leader
    expect(rated.cachedExecutionId).toBe(isCopy ? leader.id : null)
    const feedback = { rating: -1 as const, correctedOutput: null, note: null }
    const { organizationId } = version
    await giveFeedback(engine, { organizationId, id: rated.id, feedback, isReview: true })
    hasRejected = true
    expect(await following).toMatchObject({ cached: false, output: { text: 'x' } })
  })

  it('does not take a result that used all steps of its run', async () => {
    const key = system.newId()
    const { finish } = await aLeader(key)
    const progress = { ...NO_PROGRESS, model: 'openai/gpt-5', steps: 1 }
    await finish({ status: 'SUCCESS', output: { text: 'forced' }, ...progress })
    expect(await runAt(0, key)).toMatchObject({ cached: false, output: { text: 'x' } })
  })
})

describe('the time limit of a run that waits for another one', () => {
  const aLease = () => ({ owner: 'follower', expiresAt: Date.now() + 60_000 })
  const SECONDS_AGO = () => Date.now() - 10_000
  const limited = () => ({ ...version, execution: { ...version.execution, timeoutSeconds: 5 } })
  const failed = { status: 'ERROR' as const, error: { code: 'AgentFailed', message: 'It failed.' } }

  it('begins when the other one has failed, for a run that waits in its worker', async () => {
    const key = system.newId()
    const { engine, finish, aFollower } = await aLeader(key)
    const execution = leased(await aFollower({ now: SECONDS_AGO(), lease: aLease() }), 'follower')
    let looks = 0
    const getState: Engine['executions']['getState'] = (status) => {
      looks++
      return engine.executions.getState(status)
    }
    const looking = { ...engine, executions: { ...engine.executions, getState } }
    const waiting = attempt(looking, execution, { version: limited() })
    await vi.waitUntil(() => looks > 1)
    const failedAt = Date.now()
    await finish(failed)
    expect(await waiting).toMatchObject({ kind: 'completed', execution: { status: 'SUCCESS' } })
    const stored = await engine.executions.get(execution)
    expect(Date.parse(stored?.startedAt ?? '')).toBeGreaterThanOrEqual(failedAt)
  })

  it('begins with the next claim, for a run that is requeued while it waits', async () => {
    const key = system.newId()
    const { engine, finish, aFollower } = await aLeader(key)
    const execution = await aFollower({ now: SECONDS_AGO() })
    const claimAt = async (now: number) => {
      const lease = { owner: system.newId(), expiresAt: Date.now() + 60_000 }
      const claimed = await engine.executions.claim({ id: execution.id, lease, now })
      if (typeof claimed === 'string') throw new Error(claimed)
      return claimed
    }
    const first = await claimAt(SECONDS_AGO())
    const waiting = await attempt(engine, first, { version: limited(), retry: { mode: 'requeue' } })
    expect(waiting).toMatchObject({ kind: 'released', hasFailed: false })
    expect(await engine.executions.get(execution)).toMatchObject({ startedAt: null, lease: null })
    await finish(failed)
    const second = await claimAt(Date.now())
    expect(second.startedAt).not.toBe(first.startedAt)
    const result = await attempt(engine, second, { version: limited(), retry: { mode: 'requeue' } })
    expect(result).toMatchObject({ kind: 'completed', execution: { status: 'SUCCESS' } })
  })

  it('ends the wait with its worker', async () => {
    const key = system.newId()
    const { engine, aFollower } = await aLeader(key)
    const execution = leased(await aFollower({ lease: aLease() }), 'follower')
    const stop = new AbortController()
    const getState: Engine['executions']['getState'] = () => {
      stop.abort()
      // The database does not answer either.
      return new Promise(() => undefined)
    }
    const stopping = { ...engine, executions: { ...engine.executions, getState } }
    const deadline = { drain: stop.signal, stop: stop.signal }
    const result = await attempt(stopping, execution, { version: limited(), deadline })
    expect(result).toMatchObject({ kind: 'released' })
    // The wait of a run that another worker continues is no more its own than before.
    const left = { startedAt: null, attemptsSinceProgress: 0 }
    expect(await engine.executions.get(execution)).toMatchObject(left)
  })
})

describe('storeResult', () => {
  it.each([
    [1, 1, false],
    [2, 2, false],
    [1, 2, true],
  ])(
    'after %i of %i steps: stores the result: %s, also if another worker ends the run',
    async (used, maxAgentSteps, isStored) => {
      const key = system.newId()
      const engine = engineOn(await engineTable())
      const agent = await aModelAgent()
      const options = runOptions({ maxAgentSteps, model: 'openai-compatible/none' })
      const cache = { key, ttlSeconds: null }
      const lease = { owner: 'dead', expiresAt: Date.now() - 1 }
      const execution = executionOf(agent, { options, cache, lease })
      await engine.executions.create({ execution })
      for (let number = 1; number <= used; number++) {
        const text = number === used ? '{"answer":"Because."}' : 'Not yet.'
        const step = modelStep({ number, text, stopReason: 'stop' })
        await engine.steps.append({ executionId: execution.id, owner: 'dead', step, progress: NO_PROGRESS })
      }
      const taken = { owner: system.newId(), expiresAt: Date.now() + 60_000 }
      const claimed = await engine.executions.claim({ id: execution.id, lease: taken, now: Date.now() })
      if (typeof claimed === 'string') throw new Error(claimed)
      const environment = { OPENAI_COMPATIBLE_BASE_URL: 'http://127.0.0.1:9/v1' }
      const result = await attempt({ ...engine, environment }, claimed, { version: agent })
      expect(result).toMatchObject({ kind: 'completed', execution: { status: 'SUCCESS', steps: used } })
      const entry = await engine.cache.get({ key, now: Date.now() })
      expect(entry).toEqual(isStored ? { executionId: execution.id, output: { answer: 'Because.' } } : null)
    },
  )
})
