import { describe, expect, it } from 'vitest'
import { createClock } from '../../bench/keys/virtual-clock.ts'
import type { HeldRequest, OpenRequests } from '../../lib/core/ports/access.ts'
import { FREE_MS, occupiedProcesses, WINDOW_MS } from '../../lib/limits/occupied-processes.ts'
import { countingRates } from './counting-rates.ts'

/** Processes of a function that share a table, on a clock of their own. */
function setUp(max = 2) {
  const clock = { ...createClock(), random: () => 0.5 }
  const { rates, countProcess } = countingRates()
  return {
    newProcess: () => occupiedProcesses({ rates, functionName: 'f', max, clock }),
    hold: (process: OpenRequests, organizationId = 'A') =>
      process.hold('wait', { organizationId, tokenId: 't' }),
    advance: (ms: number) => clock.run(clock.now() + ms),
    writes: () => countProcess.mock.calls.length,
  }
}

const REFUSED =
  'Your organization has as many open requests as it may at the same time: they occupy 2 processes.'

describe('occupiedProcesses', () => {
  it('writes nothing for requests that are shorter than the free time', async () => {
    const { newProcess, hold, advance, writes } = setUp()
    const process = newProcess()
    const { release } = await hold(process)
    await advance(FREE_MS - 1)
    release()
    release()
    await advance(10 * WINDOW_MS)
    expect(writes()).toBe(0)
  })

  it('writes once per window for a request that stays open, and nothing after it', async () => {
    const { newProcess, hold, advance, writes } = setUp()
    const { full, release } = await hold(newProcess())
    await advance(10 * WINDOW_MS)
    expect(full.aborted).toBe(false)
    // The next window is counted in advance.
    expect(writes()).toBe(11)
    release()
    await advance(10 * WINDOW_MS)
    expect(writes()).toBe(11)
  })

  it('ends the requests above the maximum, and never one that began before them', async () => {
    const { newProcess, hold, advance } = setUp()
    const held: HeldRequest[] = []
    for (let n = 0; n < 5; n++) {
      held.push(await hold(newProcess()))
      await advance(10)
    }
    await advance(FREE_MS)
    const ended = () => held.map(({ full }) => full.aborted)
    expect(ended()).toEqual([false, false, true, true, true])
    for (const { release } of held.slice(2)) release()
    for (let n = 0; n < 20; n++) {
      const late = await hold(newProcess())
      await advance(WINDOW_MS)
      expect([late.full.aborted, ...ended().slice(0, 2)]).toEqual([true, false, false])
      late.release()
    }
  })

  it('refuses further requests in a process that had no room, until there is room', async () => {
    const { newProcess, hold, advance, writes } = setUp()
    const process = newProcess()
    const others = [await hold(newProcess()), await hold(newProcess())]
    await advance(1)
    const { full, release } = await hold(process)
    await advance(FREE_MS)
    expect(full.aborted).toBe(true)
    release()
    const before = writes()
    for (let n = 0; n < 100; n++) await expect(hold(process)).rejects.toThrow(REFUSED)
    expect(writes()).toBe(before)
    // In the next window, it asks first.
    await advance(WINDOW_MS - FREE_MS)
    await expect(hold(process)).rejects.toThrow(REFUSED)
    for (const other of others) other.release()
    await advance(2 * WINDOW_MS)
    expect((await hold(process)).full.aborted).toBe(false)
  })

  it('adds up requests that are short: many of them are no way around the maximum', async () => {
    const { newProcess, hold, advance } = setUp()
    const processes = Array.from({ length: 10 }, newProcess)
    const refused = new Set<OpenRequests>()
    for (let n = 0; n < 100; n++) {
      const held = await Promise.all(
        processes.map((process) => hold(process).catch(() => void refused.add(process))),
      )
      await advance(500)
      for (const each of held) if (each) each.release()
    }
    expect(refused.size).toBe(8)
  })

  it('does not count what an organization uses for less than half of the time', async () => {
    const { newProcess, hold, advance, writes } = setUp(1)
    const process = newProcess()
    for (let n = 0; n < 100; n++) {
      const { release } = await hold(process)
      await advance(450)
      release()
      await advance(550)
    }
    expect(writes()).toBe(0)
  })

  it('limits each organization by itself', async () => {
    const { newProcess, hold, advance } = setUp()
    const held = await Promise.all(
      ['A', 'A', 'A', 'B', 'C', 'C'].map((organizationId) => hold(newProcess(), organizationId)),
    )
    await advance(3 * WINDOW_MS)
    expect(held.map(({ full }) => full.aborted)).toEqual([false, false, true, false, false, false])
  })
})
