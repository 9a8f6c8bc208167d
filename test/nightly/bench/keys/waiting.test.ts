import { describe, expect, it } from 'vitest'
import { simulateWaiting, WAITING_SCENARIOS } from '../../../../bench/keys/waiting.ts'

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
