import { MAX_WAIT_DAYS } from '../../lib/core/limits.ts'
import type { Row } from '../report.ts'
import { addUsage, scaleUsage, storagePrice, sum, toBill, totalOf, type Usage } from './prices.ts'
import { CLIENT, meanReading } from './reading.ts'
import { ALONE, type Kind, type Load, readUsage, UNDER_LOAD, unitsOf, usageOf } from './usage.ts'

/** US dollars per month of what a stack with the default settings costs without load. */
const FIXED = {
  '30 custom metrics': 9,
  'sweeper: 43,200 invocations, 232 queries each': 1.03,
  'polling of four empty queues: 2.6 million requests': 1.04,
}

/** Unless the setting `monitoring` is off. */
const MONITORING = { 'dashboard and 22 alarms on 46 metrics (none with `monitoring=false`)': 7.6 }

const DAYS = 30
/** The days for which a run is stored with `executionRetentionDays=30`, and its steps and large payloads. */
const RETAINED_DAYS = { record: 30, checkpoints: 30 + 8 + MAX_WAIT_DAYS.default }
const PAYLOAD_BYTES = 4_000

/** So few runs that X-Ray traces all of them. */
const FEW: Load = { ...ALONE, tracedShare: 1 }

const EXAMPLES = [
  { load: FEW, rate: '10,000 runs a day', runsPerDay: 10_000 },
  { load: UNDER_LOAD, rate: '1,000 runs a second', runsPerDay: 86_400_000 },
]

/** What services cost per month, with clients that wait for the results of asynchronous runs. */
export function exampleRows(): Promise<Row[]> {
  return Promise.all(
    EXAMPLES.map(async ({ rate, ...example }) => ({
      'US$ per month, 4 kB': rate,
      sync: Math.round(await monthOf('sync', example)).toLocaleString('en-US'),
      'async model': Math.round(await monthOf('async model', example)).toLocaleString('en-US'),
    })),
  )
}

async function monthOf(kind: Kind, { runsPerDay, load }: { runsPerDay: number; load: Load }) {
  const { storedBytes, checkpointBytes } = await unitsOf(kind, PAYLOAD_BYTES)
  const byteDays =
    (storedBytes - checkpointBytes) * RETAINED_DAYS.record + checkpointBytes * RETAINED_DAYS.checkpoints
  const runs = totalOf(toBill(scaleUsage(await withReads(kind, load), runsPerDay * DAYS)))
  return runs + storagePrice(byteDays * runsPerDay) + sum(Object.values(FIXED))
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
