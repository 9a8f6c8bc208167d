import { beforeAll, describe, expect, inject, it } from 'vitest'
import { openTable } from '../../../lib/dynamodb/table/table.ts'
import { system } from '../../../lib/system.ts'
import { provisionTable } from '../../../local/emulators/provision.ts'
import { BROKEN } from '../../support/notifications/an-outbox.ts'
import { ENDINGS, type Ending, FaultyOutbox } from '../../support/notifications/faulty-outbox.ts'
import { type Fault, faultKindsOf } from '../../support/waiting/faulty-worker.ts'

const name = `outbox-faults-${system.newId()}`
const table = openTable({ TABLE_NAME: name, DYNAMODB_ENDPOINT: inject('dynamodb') })
beforeAll(() => provisionTable(inject('dynamodb'), name))

/** On a machine that does a lot else. */
const LIMIT_MS = 600_000
/** The others differ from these only in what comes before the delivery. */
const WITH_RETRIES: Ending[] = ['ends', 'waits']
/** What a run or a batch does until it has settled; later requests are those of a sweeper with nothing to do. */
const positionsOf = (ending: Ending) => (ending === 'batch ends' ? 16 : 24)

async function play(ending: Ending, faults: Fault[], isBroken: boolean) {
  const outbox = new FaultyOutbox(table, faults, isBroken ? [BROKEN] : [])
  const problems = await outbox.play(ending)
  return {
    requests: outbox.requests,
    problems: problems.map((problem) => `${problem} ${JSON.stringify({ ending, faults, isBroken })}`),
  }
}

describe.each(ENDINGS)('a run or a batch with a webhook: %s', (ending) => {
  it.each(WITH_RETRIES.includes(ending) ? [false, true] : [false])(
    'is reported, whichever request fails; the receiver fails at first: %s',
    async (isBroken) => {
      const { requests, problems } = await play(ending, [], isBroken)
      expect(problems).toEqual([])
      const found: string[] = []
      for (const [at, method] of requests.slice(0, positionsOf(ending)).entries())
        for (const kind of faultKindsOf(method))
          found.push(...(await play(ending, [{ at, kind }], isBroken)).problems)
      expect(found).toEqual([])
    },
    LIMIT_MS,
  )
})
