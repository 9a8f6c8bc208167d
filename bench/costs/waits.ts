import type { Row } from '../report.ts'
import { addUsage, scaleUsage, toBill, totalOf, type Usage } from './prices.ts'
import { SEND, toUsage, UNDER_LOAD, usageOf } from './usage.ts'

const PAYLOAD_BYTES = 100
const MILLION = 1e6

/** What ends a wait: a request, with the units of the table that it and the worker use beyond those of a sleep. */
const ENDS = {
  'for a time': null,
  'for a signal': { writeUnits: 1, readUnits: 5 },
  'for an approval': { writeUnits: 0, readUnits: 3 },
}

/** What a million suspensions cost, beyond the runs that are suspended. */
export async function waitRows(): Promise<Row[]> {
  const [sleeping, async] = await Promise.all(
    (['sleeping', 'async'] as const).map((kind) => usageOf(kind, PAYLOAD_BYTES, UNDER_LOAD)),
  )
  const sleep = addUsage(sleeping as Usage, scaleUsage(async as Usage, -1))
  const bills = Object.entries(ENDS).map(([name, end]) => {
    const bill = toBill(end ? addUsage(sleep, requestUsage(end)) : sleep)
    return [name, { ...bill, Total: totalOf(bill) }] as const
  })
  const items = Object.keys(bills[0]?.[1] ?? {}) as (keyof (typeof bills)[0][1])[]
  return items.map((item) => ({
    'US$ per million waits': item,
    ...Object.fromEntries(bills.map(([name, bill]) => [name, (bill[item] * MILLION).toFixed(2)])),
  }))
}

/** The request sends its message itself, instead of the sweeper with nine others. */
const requestUsage = (units: Pick<Usage, 'writeUnits' | 'readUnits'>): Usage => ({
  ...toUsage([SEND], UNDER_LOAD),
  ...units,
  queueRequests: 0.9,
})
