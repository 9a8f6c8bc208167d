import { describe, expect, inject, it } from 'vitest'
import { payloadOf } from '../../../bench/keys/payloads.ts'
import { OUTBOX_SHARDS } from '../../../lib/dynamodb/table/keys.ts'
import { system } from '../../../lib/system.ts'
import { seededRandom } from '../../support/data/random.ts'
import { readSeed, TEST_SEED } from '../../support/data/seed.ts'
import { ENDINGS, type Ending, playOutbox } from '../../support/notifications/faulty-outbox.ts'
import { meteredOutbox } from '../../support/notifications/metered-outbox.ts'
import { type Fault, faultKindsOf } from '../../support/waiting/faulty-worker.ts'

/** All failures in the night, otherwise this many of each ending. */
const SHARE = inject('isNightly') ? Number.POSITIVE_INFINITY : 8

const seed = readSeed()

/** The others differ from these only in what comes before the delivery. */
const WITH_RETRIES: Ending[] = ['ends', 'waits']

/** What a run or a batch does until it has settled; later requests are those of a sweeper with nothing to do. */
const positionsOf = (ending: Ending) => (ending === 'batch ends' ? 16 : 24)

async function play(ending: Ending, faults: Fault[], isBroken: boolean) {
  const { requests, problems } = await playOutbox(ending, faults, isBroken)
  const note = JSON.stringify({ ending, faults, isBroken, [TEST_SEED]: seed })
  return { requests, problems: problems.map((problem) => `${problem} ${note}`) }
}

describe.each(ENDINGS)('a run or a batch with a webhook: %s', (ending) => {
  it.each(WITH_RETRIES.includes(ending) ? [false, true] : [false])(
    'is reported, whichever request fails; the receiver fails at first: %s',
    async (isBroken) => {
      const { requests, problems } = await play(ending, [], isBroken)
      expect(problems).toEqual([])
      const faults = requests
        .slice(0, positionsOf(ending))
        .flatMap((method, at) => faultKindsOf(method).map((kind) => ({ at, kind })))
      const found: string[] = []
      for (const fault of seededRandom(seed, `${ending} ${isBroken}`).shuffle(faults).slice(0, SHARE))
        found.push(...(await play(ending, [fault], isBroken)).problems)
      expect(found).toEqual([])
    },
  )
})

const RUNS = 25

const AT_ONCE = 25

/** `withOutbox` and `deliverEvents` are those of different processes. */
const PROCESSES = 2

const ORGANIZATIONS = [system.newId(), system.newId()]

/** For which a process uses what it has read of the webhooks of an organization. */
const CACHED_MS = 30_000

type Options = Parameters<typeof meteredOutbox>[1] & { bytes: number }

/** What so many runs and their deliveries use, and how often the webhooks of an organization were read. */
async function measure({ bytes, ...options }: Options) {
  const outbox = await meteredOutbox(inject('dynamodb'), { ...options, organizationIds: ORGANIZATIONS })
  const payload = payloadOf(bytes)
  try {
    const startedAt = performance.now()
    for (let done = 0; done < RUNS; done += AT_ONCE) {
      const batch = Array.from({ length: AT_ONCE }, (_, index) =>
        outbox.run(payload, ORGANIZATIONS[index % ORGANIZATIONS.length]),
      )
      await Promise.all(batch)
      await outbox.deliver()
    }
    const { writeUnits, messages, destinationReads } = outbox.take()
    const periods = Math.ceil((performance.now() - startedAt) / CACHED_MS)
    return { writeUnits: writeUnits / RUNS, messages: messages / RUNS, destinationReads, periods }
  } finally {
    await outbox.stop()
  }
}

describe('outbox units', () => {
  it('costs the sweeper no write while it is empty', async () => {
    const outbox = await meteredOutbox(inject('dynamodb'))
    await outbox.sweep()
    const { readUnits, writeUnits } = outbox.take()
    // The position, and a query of each partition.
    expect({ readUnits, writeUnits }).toEqual({ readUnits: 1 + OUTBOX_SHARDS / 2, writeUnits: 0 })
    await outbox.stop()
  })

  it.each([100, 15_000])(
    'costs a run with %i bytes 3 write units, and 2 for each destination; without destinations nothing',
    async (bytes) => {
      const plain = await measure({ bytes, isPlain: true })
      expect(plain).toMatchObject({ messages: 0, destinationReads: 0 })

      const without = await measure({ bytes })
      const { writeUnits, messages } = plain
      expect(without).toMatchObject({ writeUnits, messages })
      // Nothing is delivered.
      expect(without.destinationReads).toBeLessThanOrEqual(ORGANIZATIONS.length * without.periods)

      const two = await measure({ bytes, webhooks: 2 })
      expect(two.messages).toBe(1)
      expect(two.writeUnits - writeUnits).toBeLessThanOrEqual(3 + 2 * 2)
      expect(two.destinationReads).toBeLessThanOrEqual(PROCESSES * ORGANIZATIONS.length * two.periods)
    },
  )
})
