import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { leaseTimes } from '../../../lib/core/lease-times.ts'
import type { QueueMessage } from '../../../lib/core/ports/queues.ts'
import type { Timer, TimerStore } from '../../../lib/core/ports/waits.ts'
import type { Wait } from '../../../lib/core/wait.ts'
import { openStores } from '../../../lib/dynamodb/open-stores.ts'
import { newSentTimers, sweepTimers } from '../../../lib/engine/waiting/sweep-timers.ts'
import { system } from '../../../lib/system.ts'
import { aBatch, linesOf } from '../../support/batches/a-batch.ts'
import { NO_DELIVERIES } from '../../support/engine/engine-on.ts'
import { anExecution } from '../../support/engine/executions.ts'
import { ownTable } from '../../support/tables/memory-table.ts'

const MINUTE = 60_000
const START = 1_800_000_000_000

/** A table of its own, on which a clock moves that only the test sets, and sweepers of one process each. */
async function aService() {
  const stores = openStores(await ownTable())
  let now = START
  const sent: (QueueMessage & { delayMs?: number })[] = []
  let [open, maxOpen] = [0, 0]
  const sizes: number[] = []
  let faults = 0
  const queue = {
    send: async () => expect.fail('Messages are sent in batches.'),
    sendBatch: async (messages: typeof sent) => {
      maxOpen = Math.max(maxOpen, ++open)
      await setImmediate()
      open--
      if (faults-- > 0) throw new Error('rejected')
      sizes.push(messages.length)
      sent.push(...messages)
    },
  }
  /** Returns the messages of one sweep, which begins where the last one of its process ended. */
  const sweeper = (times = leaseTimes(), timers: TimerStore = stores.timers) => {
    const process = { ...NO_DELIVERIES, queue, system: { ...system, now: () => now }, sent: newSentTimers() }
    return async () => {
      sent.length = 0
      await sweepTimers({ ...stores, ...process, timers, times })
      return sent.map(({ delayMs, ...message }) => ({
        ...('executionId' in message ? { executionId: message.executionId } : message),
        delayMs,
      }))
    }
  }
  return {
    ...stores,
    sizes,
    maxOpen: () => maxOpen,
    sweeper,
    failBatches: (count: number) => {
      faults = count
    },
    pass: (ms: number) => {
      now += ms
    },
    /** Suspends an execution until so long after the start. */
    async suspended(afterMs: number, { deadlineMs = 60 * MINUTE } = {}) {
      const lease = { owner: 'me', expiresAt: START + MINUTE }
      const execution = anExecution({ organizationId: system.newId(), now: START, lease })
      await stores.executions.create({ execution })
      const until = START + afterMs
      const iso = new Date(until).toISOString()
      const waits: Wait[] = [{ kind: 'sleep', name: 'nap', since: iso, until: iso, step: 1 }]
      const suspension = { at: START, until, waits }
      const deadlineAt = until + deadlineMs
      await stores.executions.suspend({ execution, owner: 'me', suspension, openUntil: until, deadlineAt })
      return execution
    },
  }
}

describe('sweepTimers', () => {
  it('sends each timer once within two minutes of its time, in batches, the earliest first', async () => {
    const service = await aService()
    const delays = Array.from({ length: 25 }, (_, index) => (40 - index) * 2_000)
    const due = await Promise.all(
      delays.map(async (delayMs) => ({ executionId: (await service.suspended(delayMs)).id, delayMs })),
    )
    await service.suspended(3 * MINUTE)
    const sweep = service.sweeper()
    expect(await sweep()).toEqual(due.toReversed())
    expect(service.sizes).toEqual([10, 10, 5])
    service.pass(MINUTE)
    expect(await sweep()).toEqual([])
    service.pass(MINUTE)
    expect(await sweep()).toHaveLength(1)
  })

  it('looks ahead no further than a message can be delayed, however long the lease is', async () => {
    const service = await aService()
    await service.suspended(14 * MINUTE)
    await service.suspended(16 * MINUTE)
    const sweep = service.sweeper(leaseTimes(60 * MINUTE))
    expect(await sweep()).toMatchObject([{ delayMs: 14 * MINUTE }])
    service.pass(2 * MINUTE)
    expect(await sweep()).toMatchObject([{ delayMs: 14 * MINUTE }])
  })

  it('sends those of a request again that failed, and all of them in another process', async () => {
    const service = await aService()
    await Promise.all(Array.from({ length: 15 }, () => service.suspended(MINUTE)))
    service.failBatches(1)
    const sweep = service.sweeper()
    await expect(sweep()).rejects.toThrow('1 requests for timers failed. First error: rejected')
    expect(await sweep()).toHaveLength(10)
    expect(await service.sweeper()()).toHaveLength(15)
  })

  it('sends a late timer at once, once more three minutes after its time, and then less and less often', async () => {
    const service = await aService()
    const { id: executionId } = await service.suspended(0)
    const sweep = service.sweeper()
    service.pass(2 * MINUTE)
    expect([await sweep(), await sweep()]).toEqual([[{ executionId, delayMs: 0 }], []])
    service.pass(1.1 * MINUTE)
    expect(await sweep()).toEqual([{ executionId, delayMs: 0 }])
    expect(await service.sweeper()()).toEqual([])
    // As long after it as the run was old, when the time of its check comes.
    const arrivals: number[] = []
    for (let minute = 1; minute <= 4; minute++) {
      service.pass(MINUTE)
      arrivals.push(...(await sweep()).map(({ delayMs = 0 }) => minute * MINUTE + delayMs))
    }
    expect(arrivals).toEqual([3.1 * MINUTE])
  })

  it('sends messages of batches, which are moved again and again, each time; late ones as those of executions', async () => {
    const service = await aService()
    const { batch } = aBatch({ openUntil: START + MINUTE })
    await service.batches.create({ batch, lines: linesOf(1) })
    const message = { batchId: batch.id, organizationId: batch.organizationId }
    const sweep = service.sweeper()
    for (let minute = 0; minute < 4; minute++) {
      expect([await sweep(), await sweep()]).toEqual([[{ ...message, delayMs: MINUTE }], []])
      service.pass(MINUTE)
      await service.batches.postpone({ id: batch.id, openUntil: START + (minute + 2) * MINUTE })
    }
    service.pass(5 * MINUTE)
    expect([await sweep(), await sweep()]).toEqual([[{ ...message, delayMs: 0 }], []])
    const stored = await service.batches.get(batch)
    expect(stored?.openUntil).toBeGreaterThan(START + 9 * MINUTE)
  })

  it('sends thousands of firings of a minute in batches, 50 at the same time', async () => {
    const service = await aService()
    const organizationId = system.newId()
    const timers = Array.from({ length: 2_000 }, (_, number): Timer => {
      const message = { organizationId, agentId: system.newId(), schedule: `s${number}`, at: START }
      return { kind: 'schedule', openUntil: START + MINUTE, message }
    })
    const read = async function* () {
      yield timers
    }
    const sweep = service.sweeper(leaseTimes(), { read, postpone: async () => false })
    expect(await sweep()).toEqual(timers.map(({ message }) => ({ ...message, delayMs: MINUTE })))
    expect(service.sizes).toHaveLength(200)
    expect(service.maxOpen()).toBe(50)
    expect(await sweep()).toEqual([])
  })

  it('ends an execution that is past its deadline', async () => {
    const service = await aService()
    const execution = await service.suspended(0, { deadlineMs: MINUTE })
    service.pass(2 * MINUTE)
    expect(await service.sweeper()()).toEqual([])
    const ended = { status: 'ERROR', error: { code: 'DeadlineExceeded' } }
    expect(await service.executions.get(execution)).toMatchObject(ended)
  })
})
