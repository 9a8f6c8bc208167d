import { expect, inject, it } from 'vitest'
import { payloadOf } from '../../../bench/keys/payloads.ts'
import { OUTBOX_SHARDS } from '../../../lib/dynamodb/table/keys.ts'
import { system } from '../../../lib/system.ts'
import { meteredOutbox } from '../../support/notifications/metered-outbox.ts'

const RUNS = 5_000
const AT_ONCE = 25
const PAYLOAD = payloadOf(4_000)
/** `withOutbox` and `deliverEvents` are those of different processes. */
const PROCESSES = 2
const ORGANIZATIONS = [system.newId(), system.newId()]
/** For which a process uses what it has read of the webhooks of an organization. */
const CACHED_MS = 30_000

type Options = Parameters<typeof meteredOutbox>[1] & { runs?: number }

/** What so many runs and their deliveries use, and how often the webhooks of an organization were read. */
async function measure({ runs = RUNS, ...options }: Options) {
  const outbox = await meteredOutbox(inject('dynamodb'), { ...options, organizationIds: ORGANIZATIONS })
  try {
    const startedAt = performance.now()
    for (let done = 0; done < runs; done += AT_ONCE) {
      const batch = Array.from({ length: AT_ONCE }, (_, index) =>
        outbox.run(PAYLOAD, ORGANIZATIONS[index % ORGANIZATIONS.length]),
      )
      await Promise.all(batch)
      await outbox.deliver()
    }
    const { writeUnits, messages, destinationReads } = outbox.take()
    const periods = Math.ceil((performance.now() - startedAt) / CACHED_MS)
    return { writeUnits: writeUnits / runs, messages: messages / runs, destinationReads, periods }
  } finally {
    await outbox.stop()
  }
}

it('costs the sweeper no write while it is empty', async () => {
  const outbox = await meteredOutbox(inject('dynamodb'))
  await outbox.sweep()
  const { readUnits, writeUnits } = outbox.take()
  // The position, and a query of each partition.
  expect({ readUnits, writeUnits }).toEqual({ readUnits: 1 + OUTBOX_SHARDS / 2, writeUnits: 0 })
  await outbox.stop()
})

it('costs a run 3 write units, and 2 for each destination; without destinations nothing', async () => {
  const plain = await measure({ isPlain: true, runs: RUNS / 10 })
  expect(plain).toMatchObject({ messages: 0, destinationReads: 0 })

  const without = await measure({})
  const { writeUnits, messages } = plain
  expect(without).toMatchObject({ writeUnits, messages })
  // Nothing is delivered.
  expect(without.destinationReads).toBeLessThanOrEqual(ORGANIZATIONS.length * without.periods)

  const two = await measure({ webhooks: 2 })
  expect(two.messages).toBe(1)
  expect(two.writeUnits - writeUnits).toBeLessThanOrEqual(3 + 2 * 2)
  expect(two.destinationReads).toBeLessThanOrEqual(PROCESSES * ORGANIZATIONS.length * two.periods)
})
