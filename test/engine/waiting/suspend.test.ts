import { describe, expect, it } from 'vitest'
import { Unavailable } from '../../../lib/core/errors.ts'
import { DEADLINE_MS } from '../../../lib/core/limits.ts'
import { openWaitLimits, suspensionLimit } from '../../../lib/engine/waiting/suspend.ts'

/** Processes that share a clock and the number of suspended executions. */
function aService(max: number) {
  const state = { suspended: 0, counts: 0, now: 0, fault: false }
  let seed = 1
  const random = () => {
    seed = (seed * 16_807) % 2_147_483_647
    return seed / 2_147_483_647
  }
  const countSuspended = async () => {
    state.counts++
    if (state.fault) throw new Unavailable(new Error('throttled'))
    return state.suspended
  }
  const system = { now: () => state.now }
  const process = () => {
    const maySuspend = suspensionLimit({ executions: { countSuspended }, system }, max, random)
    return async (organizationId = 'own') => {
      const may = await maySuspend(organizationId)
      if (may) state.suspended++
      return may
    }
  }
  return { state, process }
}

describe('suspensionLimit', () => {
  it('holds exactly for a small limit, and again after one was resumed', async () => {
    const { state, process } = aService(3)
    const suspend = process()
    for (const isAllowed of [true, true, true, false]) expect(await suspend()).toBe(isAllowed)
    state.suspended--
    expect(await suspend()).toBe(false)
    state.now += 30_000
    expect([await suspend(), await suspend()]).toEqual([true, false])
  })

  it('counts one in 100 suspensions at the default limit, and a full organization twice a minute', async () => {
    const { state, process } = aService(100_000)
    const suspend = process()
    for (let i = 0; i < 10_000; i++) await suspend()
    expect(Math.abs(state.counts - 100)).toBeLessThan(50)
    state.suspended = 100_000
    while (await suspend());
    state.counts = 0
    for (let second = 0; second < 60; second++) {
      state.now += 1_000
      await suspend()
    }
    expect(state.counts).toBe(2)
  })

  it('is exceeded by a fifth at most by 200 processes', async () => {
    const max = 100_000
    const { state, process } = aService(max)
    const processes = Array.from({ length: 200 }, process)
    state.suspended = max - 1_000
    for (let round = 0; round < 1_500; round++) for (const suspend of processes) await suspend()
    expect(state.suspended).toBeGreaterThanOrEqual(max)
    expect(state.suspended).toBeLessThanOrEqual(max * 1.25)
  })

  it('is that of each organization, and fails when they cannot be counted', async () => {
    const { state, process } = aService(1)
    const suspend = process()
    expect([await suspend('a'), await suspend('a')]).toEqual([true, false])
    state.suspended = 0
    expect(await suspend('b')).toBe(true)
    state.fault = true
    await expect(suspend('b')).rejects.toThrow(Unavailable)
  })
})

describe('openWaitLimits', () => {
  const stores = { executions: { countSuspended: async () => 1 }, system: { now: () => 0 } }

  it('reads the environment, and names an invalid variable', async () => {
    const limits = openWaitLimits(stores, { MAX_WAIT_DAYS: '2', MAX_SUSPENDED_EXECUTIONS: '1' })
    expect(limits.maxWaitMs).toBe(2 * DEADLINE_MS)
    expect(await limits.maySuspend('own')).toBe(false)
    expect(openWaitLimits(stores, {}).maxWaitMs).toBe(30 * DEADLINE_MS)
    expect(() => openWaitLimits(stores, { MAX_WAIT_DAYS: 'a month' })).toThrow('MAX_WAIT_DAYS is "a month"')
  })
})
