import { describe, expect, it } from 'vitest'
import { leaseTimes } from '../../../lib/core/lease-times.ts'
import { RETRY_BACKOFF_MS } from '../../../lib/core/limits.ts'
import { type Model, ModelError, type ModelRequest } from '../../../lib/core/model.ts'
import { respondWithRetry } from '../../../lib/engine/model-agent/respond-with-retry.ts'
import { system } from '../../../lib/system.ts'

const request = { signal: new AbortController().signal } as ModelRequest

type Setup = {
  isUnreachable?: boolean
  hasAlternative?: boolean
  leftMs?: number
  retryAfterMs?: number
  isTransient?: boolean
}

const journal = { addLostResponse: () => Promise.reject(new Error('Nothing has arrived.')) }

/** A hundredth of the service's times: 600 ms of retries instead of 60 s. */
const TIMES = leaseTimes(undefined, RETRY_BACKOFF_MS / 100)

/** How often, and for how long, a model is asked that never responds. */
async function outage({
  hasAlternative = false,
  leftMs = 2_700,
  retryAfterMs,
  isTransient = true,
  isUnreachable = false,
}: Setup = {}) {
  const startedAt = system.now()
  const times: number[] = []
  const respond = async () => {
    times.push(system.now() - startedAt)
    throw new ModelError('HTTP 529', { isTransient, isUnreachable, retryAfterMs: retryAfterMs ?? null })
  }
  const limits = {
    system,
    times: TIMES,
    endsAt: startedAt + leftMs,
    hasAlternative,
    journal,
    budget: null,
    limits: null,
  }
  const responding = respondWithRetry({ respond } as unknown as Model, request, limits)
  await expect(responding).rejects.toThrow(ModelError)
  return { requests: times.length, lastAt: times.at(-1) ?? 0 }
}

/** Timers can be late on a machine with other work. */
const LATE_MS = 100

describe('respondWithRetry', () => {
  it('retries for almost a minute while somebody waits', async () => {
    expect(leaseTimes().retryWindowMs).toBe(60_000)
    const { requests, lastAt } = await outage()
    expect(lastAt).toBeGreaterThan(400)
    expect(lastAt).toBeLessThanOrEqual(600 + LATE_MS)
    expect(requests).toBeLessThan(20)
  })

  it.each([500, 100, 0])('with %i ms left retries for half of that at most', async (leftMs) => {
    const { lastAt } = await outage({ leftMs })
    expect(lastAt).toBeLessThanOrEqual(leftMs / 2 + LATE_MS)
    expect(lastAt).toBeGreaterThanOrEqual(leftMs / 10)
  })

  it('retries three times where something else can continue', async () => {
    const { requests, lastAt } = await outage({ hasAlternative: true })
    expect(requests).toBe(4)
    expect(lastAt).toBeLessThanOrEqual(70 + LATE_MS)
  })

  it('retries three times if the model cannot be reached', async () => {
    expect(await outage({ isUnreachable: true })).toMatchObject({ requests: 4 })
  })

  it('waits for Retry-After, if it is no longer than the time for retries', async () => {
    expect(await outage({ retryAfterMs: 400 })).toMatchObject({ requests: 2 })
    expect(await outage({ retryAfterMs: 610 })).toMatchObject({ requests: 1 })
    expect(await outage({ retryAfterMs: 400, hasAlternative: true })).toMatchObject({ requests: 1 })
  })

  it('does not retry a permanent error', async () => {
    expect(await outage({ isTransient: false })).toMatchObject({ requests: 1 })
  })
})
