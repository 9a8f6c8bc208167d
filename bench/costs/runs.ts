import type { Row } from '../report.ts'
import { storagePrice, toBill, totalOf } from './prices.ts'
import { CLIENT, meanReading } from './reading.ts'
import { type Kind, readUsage, UNDER_LOAD, unitsOf, usageOf } from './usage.ts'

const COLUMNS: Record<string, Kind> = {
  sync: 'sync',
  cached: 'cached',
  async: 'async',
  'sync model, 20 s': 'sync model',
  'async model, 20 s': 'async model',
}

const MILLION = 1e6

/** What a million runs with payloads of this size take under load, by service. */
export async function runRows(payloadBytes: number): Promise<Row[]> {
  const columns = await Promise.all(
    Object.entries(COLUMNS).map(async ([name, kind]) => [name, await columnOf(kind, payloadBytes)] as const),
  )
  const items = Object.keys(columns[0]?.[1] ?? {})
  return items.map((item) => ({
    [`US$ per million runs, ${payloadBytes / 1000} kB`]: item,
    ...Object.fromEntries(columns.map(([name, column]) => [name, column[item] ?? ''])),
  }))
}

async function columnOf(kind: Kind, payloadBytes: number): Promise<Record<string, string>> {
  const bill = toBill(await usageOf(kind, payloadBytes, UNDER_LOAD))
  const { storedBytes } = await unitsOf(kind, payloadBytes)
  const reading = kind === 'async model' ? await furtherReads(payloadBytes) : 0
  const amounts = {
    ...bill,
    Total: totalOf(bill),
    'Further reads until the end': reading,
    'Storage per month': storagePrice(storedBytes),
  }
  return {
    ...Object.fromEntries(
      Object.entries(amounts).map(([item, amount]) => [item, (amount * MILLION).toFixed(2)]),
    ),
    'Stored bytes of a run': Math.round(storedBytes).toLocaleString('en-US'),
  }
}

/** What a client that waits for a model run takes beyond the one read that is part of the run. */
async function furtherReads(payloadBytes: number): Promise<number> {
  const { usage } = await meanReading(CLIENT, payloadBytes, UNDER_LOAD)
  const read = await readUsage({ payloadBytes, load: UNDER_LOAD, waitMs: 0, statusReads: 0 })
  return totalOf(toBill(usage)) - totalOf(toBill(read))
}
