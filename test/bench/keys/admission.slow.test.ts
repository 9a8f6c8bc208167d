import { describe, expect, it } from 'vitest'
import { BURSTS, STEADY, simulateAdmission } from '../../../bench/keys/admission.ts'

/** 200 processes, one organization, a cap of 1,000. */
describe('admission with 200 processes', () => {
  it.each(BURSTS)('exceeds the cap by at most 20 %: $name', async (scenario) => {
    const { maxOpen, minOpenAtRejection } = await simulateAdmission(scenario)
    expect(maxOpen).toBeGreaterThan(0.95)
    expect(maxOpen).toBeLessThanOrEqual(1.2)
    expect(minOpenAtRejection).toBeGreaterThanOrEqual(0.8)
  })

  it.each(STEADY)('counts at most once in ten runs and rejects none: $name', async (scenario) => {
    const { queriesPerRun, minOpenAtRejection } = await simulateAdmission(scenario)
    expect(queriesPerRun).toBeLessThanOrEqual(0.1)
    expect(minOpenAtRejection).toBeNull()
  })
})
