import { describe, expect, inject, it } from 'vitest'
import { seededRandom } from '../../support/data/random.ts'
import { readSeed, TEST_SEED } from '../../support/data/seed.ts'
import { BROKEN } from '../../support/notifications/an-outbox.ts'
import { ENDINGS, type Ending, FaultyOutbox } from '../../support/notifications/faulty-outbox.ts'
import { memoryTable } from '../../support/tables/memory-table.ts'
import { type Fault, faultKindsOf } from '../../support/waiting/faulty-worker.ts'

/** All failures in the night, otherwise this many of each ending. */
const SHARE = inject('isNightly') ? Number.POSITIVE_INFINITY : 8
const seed = readSeed()
/** The others differ from these only in what comes before the delivery. */
const WITH_RETRIES: Ending[] = ['ends', 'waits']
/** What a run or a batch does until it has settled; later requests are those of a sweeper with nothing to do. */
const positionsOf = (ending: Ending) => (ending === 'batch ends' ? 16 : 24)

async function play(ending: Ending, faults: Fault[], isBroken: boolean) {
  const outbox = new FaultyOutbox(memoryTable(), faults, isBroken ? [BROKEN] : [])
  const problems = await outbox.play(ending)
  const note = JSON.stringify({ ending, faults, isBroken, [TEST_SEED]: seed })
  return { requests: outbox.requests, problems: problems.map((problem) => `${problem} ${note}`) }
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
