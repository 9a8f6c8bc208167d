import type { Row } from '../report.ts'
import { addUsage, perMillion, scaleUsage, toBill, totalOf, type Usage } from './prices.ts'
import { SEND, toUsage, UNDER_LOAD, usageOf } from './usage.ts'

const PAYLOAD_BYTES = 100

/** What ends a wait: a request, with the units of the table that it and the worker use beyond those of a sleep. */
const ENDS = {
  'for a time': null,
  'for a signal': { writeUnits: 1, readUnits: 5 },
  'for an approval': { writeUnits: 0, readUnits: 3 },
}

/** What a million suspensions cost, beyond the runs that are suspended. */
export async function waitRows(): Promise<Row[]> {
  const [sleeping, async] = await Promise.all([
    usageOf('sleeping', PAYLOAD_BYTES, UNDER_LOAD),
    usageOf('async', PAYLOAD_BYTES, UNDER_LOAD),
  ])
  const sleep = addUsage(sleeping, scaleUsage(async, -1))
  return Object.entries(ENDS).map(([name, end]) => {
    const usage = end ? addUsage(sleep, requestUsage(end)) : sleep
    return {
      'a wait': name,
      'write units': usage.writeUnits,
      'read units': usage.readUnits,
      'US$ per million': perMillion(totalOf(toBill(usage))),
    }
  })
}

/** The request sends its message itself, instead of the sweeper with nine others. */
const requestUsage = (units: Pick<Usage, 'writeUnits' | 'readUnits'>): Usage => ({
  ...toUsage([SEND], UNDER_LOAD),
  ...units,
  queueRequests: 0.9,
})
