import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Unavailable } from '../../../lib/core/errors.ts'
import { leaseTimes } from '../../../lib/core/lease-times.ts'
import { MAX_ATTEMPTS } from '../../../lib/core/limits.ts'
import { NEVER } from '../../../lib/engine/checkpoints/deadline.ts'
import type { Engine } from '../../../lib/engine/engine.ts'
import { submitSync } from '../../../lib/engine/submit/submit.ts'
import { attempt } from '../../../lib/engine/worker/attempt.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { logger } from '../../../lib/logger.ts'
import { system } from '../../../lib/system.ts'
import { executionOf, leased, runOptions } from '../../support/engine/executions.ts'
import { aModelAgent } from '../../support/engine/model-agent.ts'
import { aMessage, answer, lookup, startScriptedEngine } from '../../support/engine/scripted-engine.ts'
import { json, serve } from '../../tools/serve.ts'

const { engine, aToolAgent, queued, deadLetter } = await startScriptedEngine()
beforeEach(() => void vi.spyOn(logger, 'error').mockImplementation(() => undefined))
afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
})

const SECRET = 'input-of-a-client'
const throttled = () => Promise.reject(new Unavailable(new Error('throttled')))
/** A defect, or an SDK error that is not retryable. */
const broken = () => Promise.reject(new TypeError(`Cannot read ${SECRET}.`))

const withStores = ({ executions = {}, steps = {}, agents = {} }: Record<string, object>): Engine => ({
  ...engine,
  agents: { ...engine.agents, ...agents },
  executions: { ...engine.executions, ...executions },
  steps: { ...engine.steps, ...steps },
})

const aCodeAgent = (env: string[] = []) =>
  aModelAgent({ code: true, env }, { code: 'export default () => ({ answer: "x" })' })

/** An engine whose worker dies at its nth step: nothing of it is stored from then on. */
function mortal(dyingStep: number): Engine {
  let steps = 0
  const mayStep = () => ++steps < dyingStep
  const unlessDead =
    <P, R>(operation: (params: P) => Promise<R>, isAlive = () => steps < dyingStep) =>
    (params: P) =>
      isAlive() ? operation(params) : Promise.reject(new Error('The worker is dead.'))
  const { renew, release, finish } = engine.executions
  const { append, appendResult } = engine.steps
  return withStores({
    steps: { append: unlessDead(append, mayStep), appendResult: unlessDead(appendResult) },
    executions: { renew: unlessDead(renew), release: unlessDead(release), finish: unlessDead(finish) },
  })
}

/** Processes the execution with workers that die at their nth step, one after the other. */
async function processMortally(id: string, { workers, dyingStep }: { workers: number; dyingStep: number }) {
  const times = leaseTimes(1_000)
  for (let n = 0; n < workers; n++) {
    const clock = { ...system, now: () => Date.now() + n * 2 * times.leaseMs }
    await processMessage({ ...mortal(dyingStep), times, system: clock }, id, aMessage())
  }
}

describe('a worker that dies', () => {
  it('while it stores its first step is counted each time, so that the run is given up', async () => {
    const { execution, stored, modelRequests } = await queued(() => answer)
    await processMortally(execution.id, { workers: 2 * MAX_ATTEMPTS, dyingStep: 1 })
    expect(modelRequests()).toBe(MAX_ATTEMPTS)
    expect(await stored()).toMatchObject({ status: 'ERROR', error: { code: 'AttemptsExhausted' } })
  })

  it('after each step, before a heartbeat, does not end the run', async () => {
    const workers = 2 * MAX_ATTEMPTS
    const { execution, stored } = await queued(() => lookup, await aToolAgent())
    await processMortally(execution.id, { workers, dyingStep: 2 })
    expect((await stored()).attemptsSinceProgress).toBeLessThanOrEqual(2)
    expect(await engine.steps.read({ executionId: execution.id })).toHaveLength(workers)
  })
})

describe('a final write that keeps failing', () => {
  it('is given up when the time of the worker is up, although the lease can be renewed', async () => {
    const { execution, stored } = await queued([answer])
    const time = new AbortController()
    let writes = 0
    const finish = () => {
      if (++writes === 2) time.abort()
      return throttled()
    }
    const deadline = { drain: NEVER, stop: time.signal }
    const { message, sent } = aMessage()
    await processMessage(withStores({ executions: { finish } }), execution.id, { message, deadline })
    expect(writes).toBeLessThanOrEqual(3)
    expect(sent).toHaveLength(1)
    expect(await stored()).toMatchObject({ lease: null, steps: 1, lostSteps: [], attemptsSinceProgress: 0 })
    // The output is in the journal, so that no response is requested again.
    expect(await processMessage(engine, execution.id, aMessage())).toBe('processed')
    expect(await stored()).toMatchObject({ status: 'SUCCESS', usage: { inputTokens: 10 } })
  })

  it('counts for a code agent, whose result has to be computed again', async () => {
    const { execution, stored } = await queued([], await aCodeAgent())
    const failing = { ...withStores({ executions: { finish: throttled } }), times: leaseTimes(600) }
    for (let n = 1; n <= MAX_ATTEMPTS; n++) {
      expect(await processMessage(failing, execution.id, aMessage(n))).toHaveProperty('retryInMs')
      expect((await stored()).attemptsSinceProgress).toBe(n)
    }
    expect(await deadLetter(execution)).toBe('ended')
    expect((await stored()).error).toMatchObject({ code: 'OutputNotStored' })
  })
})

describe('an unexpected exception', () => {
  it('releases a queued run counted, with an error that is safe to show, and logs the cause', async () => {
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
    vi.stubEnv('METRICS_NAMESPACE', 'test')
    const { execution, stored } = await queued([])
    const opening = { ...withStores({ steps: { read: broken } }), openModel: broken as never }
    expect(await processMessage(opening, execution.id, aMessage())).toHaveProperty('retryInMs')
    expect(write.mock.calls.join()).toContain('"ServerErrors":1')
    const { lease, attemptsSinceProgress, lastError } = await stored()
    expect({ lease, attemptsSinceProgress }).toEqual({ lease: null, attemptsSinceProgress: 1 })
    expect(lastError).toMatchObject({ code: 'InternalError', message: expect.stringContaining('TypeError') })
    expect(JSON.stringify(lastError)).not.toContain(SECRET)
    const cause = expect.objectContaining({ name: 'TypeError' })
    const logged = expect.objectContaining({ executionId: execution.id, cause })
    expect(logger.error).toHaveBeenCalledWith('attempt failed', logged)
  })

  it('ends a synchronous run, whose caller gets the record', async () => {
    const version = await aModelAgent()
    const submit = {
      ...engine,
      environment: { DEFAULT_MODEL: 'openai/x' },
      openModel: broken as never,
      queue: aMessage().queue,
      idempotency: {} as never,
      admit: <T>(_: string, record: () => Promise<T>) => record(),
      syncDeadlineMs: 60_000,
    }
    const request = { version, input: { question: '?' }, tenantId: null, options: runOptions() }
    const { execution: ended } = await submitSync(submit, request)
    expect(ended).toMatchObject({ status: 'ERROR', lease: null, error: { code: 'InternalError' } })
    expect(JSON.stringify(ended.error)).not.toContain(SECRET)
  })

  it('of the final write does not strand the run either', async () => {
    const { execution, stored } = await queued([answer])
    const failing = withStores({ executions: { finish: broken } })
    expect(await processMessage(failing, execution.id, aMessage())).toBe('processed')
    const lastError = { code: 'InternalError' }
    expect(await stored()).toMatchObject({ status: 'IN_PROGRESS', lease: null, lastError })
  })

  it('of Parameter Store is retried for a code agent, and names the secret', async () => {
    const throttling = { __type: 'ThrottlingException', message: 'Rate exceeded.' }
    const store = await serve((response) => json(response, throttling, 400))
    const credentials = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' }
    const aws = { AWS_ENDPOINT_URL_SSM: store.url, AWS_REGION: 'eu-central-1', ...credentials }
    for (const [name, value] of Object.entries(aws)) vi.stubEnv(name, value)
    const onAws = { ...engine, environment: { SECRETS_PREFIX: '/aes/secrets' } }
    const version = await aCodeAgent(['SHOP_KEY'])
    const { execution, stored } = await queued([], version)
    expect(await processMessage(onAws, execution.id, aMessage())).toHaveProperty('retryInMs')
    const message = 'Could not read the secret SHOP_KEY (ThrottlingException).'
    const lastError = { code: 'ToolUnavailable', message }
    expect(await stored()).toMatchObject({ lease: null, attemptsSinceProgress: 1, lastError })
    const lease = { owner: 'me', expiresAt: Date.now() + 60_000 }
    const own = executionOf(version, { lease })
    await engine.executions.create({ execution: own })
    const inline = await attempt(onAws, leased(own, 'me'), { version })
    expect(inline).toMatchObject({ kind: 'completed', execution: { error: lastError } })
  })
})

describe('an error after the claim', () => {
  it.each<[string, Record<string, object>]>([
    ['of the version', { agents: { getVersion: throttled } }],
    ['of the parent', { executions: { getStatus: throttled } }],
    ['of the journal', { steps: { read: throttled, getProgress: throttled } }],
  ])('%s releases the lease, and the message comes back later and later', async (_, stores) => {
    const { execution, stored } = await queuedChild()
    const { leaseMs, backoffMs } = leaseTimes()
    const delays: number[] = []
    for (let n = 1; n <= 3; n++) {
      const { message, sent } = aMessage()
      // The cache of versions is per agent store.
      const result = await processMessage(withStores({ agents: {}, ...stores }), execution.id, { message })
      delays.push(typeof result === 'string' ? (sent[0]?.delayMs ?? 0) : result.retryInMs)
      expect(await stored()).toMatchObject({ status: 'IN_PROGRESS', lease: null, outages: n })
    }
    expect(delays[0]).toBeLessThan(leaseMs / 4)
    expect(delays[0]).toBeGreaterThan(backoffMs / 2)
    expect(delays[2]).toBeGreaterThan(4 * (delays[0] ?? 0))
    expect((await stored()).attemptsSinceProgress).toBe(0)
  })

  it('gives the lease back although the execution could not be read with the claim', async () => {
    const { execution, stored } = await queued([])
    const claim: typeof engine.executions.claim = async (params) => {
      await engine.executions.claim(params)
      return throttled()
    }
    const result = await processMessage(withStores({ executions: { claim } }), execution.id, aMessage())
    expect(result).toHaveProperty('retryInMs')
    expect(await stored()).toMatchObject({ lease: null, attempts: 1, attemptsSinceProgress: 0, outages: 1 })
  })

  /** A queued call of an agent, whose journal has been read before. */
  async function queuedChild() {
    const version = await aModelAgent()
    const parent = executionOf(version)
    await engine.executions.create({ execution: parent })
    const run = await queued([], version, { parent: { executionId: parent.id, callers: [] } })
    const { id } = run.execution
    const now = Date.now()
    const lease = { owner: system.newId(), expiresAt: now + 60_000 }
    await engine.executions.claim({ id, lease, now })
    const uncounted = { until: now, error: null, isCounted: false }
    await engine.executions.release({ id, owner: lease.owner, ...uncounted })
    return run
  }
})
