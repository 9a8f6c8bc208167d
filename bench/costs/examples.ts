import { MAX_WAIT_DAYS } from '../../lib/core/limits.ts'
import type { Row } from '../report.ts'
import { addUsage, scaleUsage, storagePrice, sum, toBill, type Usage } from './prices.ts'
import { CLIENT, meanReading } from './reading.ts'
import { type Kind, type Load, readUsage, UNDER_LOAD, unitsOf, usageOf } from './usage.ts'

/** US dollars per month of what a stack with the default settings costs without load. */
const FIXED = {
  '29 custom metrics': 8.7,
  'sweeper: 43,200 invocations, 168 queries each': 0.86,
  'polling of four empty queues: 2.6 million requests': 1.04,
}

/** Only with the setting `monitoring`. */
const MONITORING = { 'dashboard and 21 alarms on 43 metrics (setting `monitoring`, off by default)': 7.3 }

const DAYS = 30
/** The days for which a run is stored with `executionRetentionDays=30`, and its steps and large payloads. */
const RETAINED_DAYS = { record: 30, checkpoints: 30 + 8 + MAX_WAIT_DAYS.default }
const PAYLOAD_BYTES = 4_000

/** So few that each runs alone, and that X-Ray traces all of them. */
const ALONE: Load = { runsPerInvocation: 1, tracedShare: 1 }

const EXAMPLES = [
  { name: '10,000 a day, sync', runsPerDay: 10_000, kind: 'sync', load: ALONE },
  { name: '10,000 a day, async model', runsPerDay: 10_000, kind: 'async model', load: ALONE },
  { name: '1,000 a second, sync', runsPerDay: 86_400_000, kind: 'sync', load: UNDER_LOAD },
  { name: '1,000 a second, async model', runsPerDay: 86_400_000, kind: 'async model', load: UNDER_LOAD },
] as const

/** What four services cost per month, with clients that wait for the results of asynchronous runs. */
export async function exampleRows(): Promise<Row[]> {
  const columns = await Promise.all(
    EXAMPLES.map(async ({ name, runsPerDay, kind, load }) => {
      const runs = runsPerDay * DAYS
      const { storedBytes, checkpointBytes } = await unitsOf(kind, PAYLOAD_BYTES)
      const storedByteDays =
        (storedBytes - checkpointBytes) * RETAINED_DAYS.record + checkpointBytes * RETAINED_DAYS.checkpoints
      const amounts = {
        ...toBill(scaleUsage(await withReads(kind, load), runs)),
        Storage: storagePrice(storedByteDays * runsPerDay),
        Fixed: sum(Object.values(FIXED)),
      }
      return [name, { ...amounts, Total: sum(Object.values(amounts)) }] as const
    }),
  )
  const items = Object.keys(columns[0]?.[1] ?? {}) as (keyof (typeof columns)[0][1])[]
  return items.map((item) => ({
    'US$ per month, 4 kB': item,
    ...Object.fromEntries(columns.map(([name, amounts]) => [name, toDollars(amounts[item])])),
  }))
}

/** With the reads of a client that waits, instead of a single one. */
async function withReads(kind: Kind, load: Load): Promise<Usage> {
  const usage = await usageOf(kind, PAYLOAD_BYTES, load)
  if (kind !== 'async model') return usage
  const reading = await meanReading(CLIENT, PAYLOAD_BYTES, load)
  const read = await readUsage({ payloadBytes: PAYLOAD_BYTES, load, waitMs: 0, statusReads: 0 })
  return addUsage(usage, reading.usage, scaleUsage(read, -1))
}

export const fixedRows = (): Row[] =>
  Object.entries({ ...FIXED, ...MONITORING }).map(([item, amount]) => ({
    'without load': item,
    'US$ per month': amount.toFixed(2),
  }))

const toDollars = (amount: number): string =>
  amount < 100 ? amount.toFixed(2) : Math.round(amount).toLocaleString('en-US')
