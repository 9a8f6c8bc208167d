import { describe, expect, it } from 'vitest'
import {
  ALL_CALLS,
  type LimitedBy,
  simulateWaiting,
  WAITING_SCENARIOS,
} from '../../../../bench/keys/waiting.ts'

/** 5,000 callers of one organization, in an account with a concurrency of 1,000. */
describe.each(WAITING_SCENARIOS)('5,000 callers that repeat $name', (scenario) => {
  it('stop the calls of another organization, if nothing is reserved', async () => {
    expect((await simulateWaiting(scenario, 'nothing')).refused).toBeGreaterThan(0.9)
  })

  it('stop few of them while processes meet the callers, and none later', async () => {
    const { refused, refusedLater, occupied } = await simulateWaiting(scenario, 'setting')
    expect(refused).toBeLessThan(0.05)
    expect(refusedLater).toBe(0)
    expect(occupied).toBeGreaterThan(0.05)
    expect(occupied).toBeLessThan(0.5)
  })
})

/** With queued runs and deliveries for 120 processes. */
describe('a new account, whose quota is 10', () => {
  const SEEDS = [1, 2, 3, 4, 5]
  const later = async (limitedBy: LimitedBy) => {
    const results = await Promise.all(SEEDS.map((seed) => simulateWaiting(ALL_CALLS, limitedBy, 10, seed)))
    return results.reduce((sum, { refusedLater }) => sum + refusedLater, 0) / SEEDS.length
  }

  it('is stopped by them, without a limit', async () => {
    expect(await later('nothing')).toBe(1)
  })

  it.each(['sweeper', 'setting'] as const)(
    'completes most calls of others, with the quota from: %s',
    async (by) => {
      expect(await later(by)).toBeLessThan(0.5)
    },
  )
})
