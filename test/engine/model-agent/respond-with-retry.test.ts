import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Unavailable } from '../../../lib/core/errors.ts'
import { leaseTimes, RETRY_BACKOFF_MS } from '../../../lib/core/lease-times.ts'
import { MAX_ATTEMPTS } from '../../../lib/core/limits.ts'
import { type Model, ModelError, type ModelRequest } from '../../../lib/core/model.ts'
import { respondWithRetry } from '../../../lib/engine/model-agent/respond-with-retry.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { aMessage, answer, lookup, startScriptedEngine } from '../../support/engine/scripted-engine.ts'

const request = { signal: new AbortController().signal } as ModelRequest

type Details = Partial<ConstructorParameters<typeof ModelError>[1]>
type Setup = Details & { hasAlternative?: boolean; leftMs?: number }

const journal = { addLostResponse: () => Promise.reject(new Error('Nothing has arrived.')) }

/** A hundredth of the service's times: 600 ms of retries instead of 60 s. */
const TIMES = leaseTimes(undefined, RETRY_BACKOFF_MS / 100)

/** How often, and for how long, a model is asked that never responds. */
async function outage({ hasAlternative = false, leftMs = 2_700, ...details }: Setup = {}) {
  const startedAt = Date.now()
  const times: number[] = []
  const respond = async () => {
    times.push(Date.now() - startedAt)
    throw new ModelError('HTTP 529', { isTransient: true, ...details })
  }
  const limits = {
    system: { now: () => Date.now() },
    times: TIMES,
    endsAt: startedAt + leftMs,
    hasAlternative,
    journal,
    budget: null,
    limits: null,
    live: { begin: () => undefined, add: () => undefined, fail: () => undefined },
    number: 1,
  }
  const responding = respondWithRetry({ respond } as unknown as Model, request, limits)
  const ended = expect(responding).rejects.toThrow(ModelError)
  if (vi.isFakeTimers()) await vi.runAllTimersAsync()
  await ended
  return { requests: times.length, lastAt: times.at(-1) ?? 0 }
}

describe('respondWithRetry', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }))
  afterEach(() => void vi.useRealTimers())

  it('retries for almost a minute while somebody waits', async () => {
    expect(leaseTimes().retryWindowMs).toBe(60_000)
    const { requests, lastAt } = await outage()
    expect(lastAt).toBeGreaterThan(400)
    expect(lastAt).toBeLessThanOrEqual(600)
    expect(requests).toBeLessThan(20)
  })

  it.each([500, 100, 0])('with %i ms left retries for half of that at most', async (leftMs) => {
    const { lastAt } = await outage({ leftMs })
    expect(lastAt).toBeLessThanOrEqual(leftMs / 2)
    expect(lastAt).toBeGreaterThanOrEqual(leftMs / 10)
  })

  it.each([
    ['three times where something else can continue', { hasAlternative: true }, 4],
    ['three times if the model cannot be reached', { isUnreachable: true }, 4],
    ['no permanent error', { isTransient: false }, 1],
  ])('retries %s', async (_, setup, count) => {
    const { requests, lastAt } = await outage(setup)
    expect(requests).toBe(count)
    expect(lastAt).toBeLessThanOrEqual(70)
  })

  it('waits for Retry-After, if it is no longer than the time for retries', async () => {
    vi.useRealTimers()
    expect(await outage({ retryAfterMs: 400 })).toMatchObject({ requests: 2 })
    expect(await outage({ retryAfterMs: 610 })).toMatchObject({ requests: 1 })
    expect(await outage({ retryAfterMs: 400, hasAlternative: true })).toMatchObject({ requests: 1 })
  })
})

const { engine, aToolAgent, queued, deadLetter } = await startScriptedEngine()

describe('a retryable error', () => {
  const down = { status: 503, message: 'Overloaded.' }

  it('redelivers the message with a growing delay until the run succeeds', async () => {
    const { execution, stored } = await queued((_, index) => (index < 8 ? down : answer))
    const waits: number[] = []
    for (const message of [aMessage(1), aMessage(2)]) {
      const result = await processMessage(engine, execution.id, message)
      waits.push(typeof result === 'string' ? 0 : result.retryInMs)
      expect(message.sent).toEqual([])
    }
    const [first = 0, second = 0] = waits
    const { backoffMs } = leaseTimes()
    expect(first).toBeGreaterThanOrEqual(0.75 * backoffMs)
    expect(first).toBeLessThanOrEqual(1.25 * backoffMs)
    expect(second).toBeGreaterThanOrEqual(3 * 0.75 * backoffMs)
    const released = await stored()
    const lastError = { code: 'ModelUnavailable', step: 1 }
    expect(released).toMatchObject({ status: 'IN_PROGRESS', lease: null, lastError })
    // The sweeper must not send another message before this one is redelivered.
    expect(released.openUntil).toBeGreaterThan(Date.now() + second)
    expect(await processMessage(engine, execution.id, aMessage(3))).toBe('processed')
    expect(await stored()).toMatchObject({ status: 'SUCCESS', lastError: null })
  })

  it('delays the retry by Retry-After', async () => {
    const headers = { 'retry-after': '300' }
    const { execution, modelRequests } = await queued([{ ...down, status: 429, headers }])
    const result = await processMessage(engine, execution.id, aMessage(1))
    expect(result).toEqual({ retryInMs: 300_000 })
    expect(modelRequests()).toBe(1)
  })

  it('after progress sends a new message with a new receive count', async () => {
    const version = await aToolAgent()
    const { execution, stored } = await queued((_, index) => (index === 0 ? lookup : down), version)
    const { message, sent } = aMessage(MAX_ATTEMPTS)
    expect(await processMessage(engine, execution.id, { message })).toBe('processed')
    expect(sent).toHaveLength(1)
    expect(sent[0]?.delayMs).toBeGreaterThan(0)
    expect(await stored()).toMatchObject({ attemptsSinceProgress: 0, lastError: { step: 2 } })
  })

  it('that persists ends the execution with its last attempt', async () => {
    const { execution, stored, modelRequests } = await queued(() => down)
    for (let count = 1; count < MAX_ATTEMPTS; count++)
      expect(await processMessage(engine, execution.id, aMessage(count))).toHaveProperty('retryInMs')
    expect(await processMessage(engine, execution.id, aMessage(MAX_ATTEMPTS))).toBe('processed')
    const error = { code: 'ModelUnavailable', step: 1, message: expect.stringContaining('Overloaded.') }
    expect(await stored()).toMatchObject({ status: 'ERROR', error })
    expect(modelRequests()).toBe(4 * MAX_ATTEMPTS)
    expect(await deadLetter(execution)).toBe('ignored')
  })

  it('of the database requeues the run however often it happens', async () => {
    const { execution, stored } = await queued((_, n) => (n === 0 ? lookup : answer), await aToolAgent())
    const appendResult = () => Promise.reject(new Unavailable(new Error('throttled')))
    const failing = { ...engine, steps: { ...engine.steps, appendResult } }
    for (let n = 0; n <= MAX_ATTEMPTS; n++) {
      const message = aMessage(1)
      expect(await processMessage(failing, execution.id, message)).toBe('processed')
      expect(message.sent).toMatchObject([{ executionId: execution.id, delayMs: expect.any(Number) }])
    }
    expect(await stored()).toMatchObject({ status: 'IN_PROGRESS', lease: null, attemptsSinceProgress: 0 })
    expect(await processMessage(engine, execution.id, aMessage(1))).toBe('processed')
    expect(await stored()).toMatchObject({ status: 'SUCCESS' })
  })
})
