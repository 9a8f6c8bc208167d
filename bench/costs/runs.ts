import type { Row } from '../report.ts'
import { perMillion, storagePrice, toBill, totalOf } from './prices.ts'
import { type Kind, UNDER_LOAD, unitsOf, usageOf } from './usage.ts'

const KINDS: Kind[] = ['sync', 'cached', 'async', 'sync model', 'async model']

/** What a million runs take under load: by service for the first size of their payloads, in all for the others. */
export async function runRows([first, ...others]: readonly [number, ...number[]]): Promise<Row[]> {
  const columns = await Promise.all(
    KINDS.map(async (kind): Promise<Record<string, number>> => {
      const bill = toBill(await usageOf(kind, first, UNDER_LOAD))
      const totals = await Promise.all(
        others.map(async (bytes) => {
          const total = totalOf(toBill(await usageOf(kind, bytes, UNDER_LOAD)))
          return [`Total with ${bytes / 1000} kB`, total] as const
        }),
      )
      return {
        ...bill,
        Total: totalOf(bill),
        ...Object.fromEntries(totals),
        'Storage per month': storagePrice((await unitsOf(kind, first)).storedBytes),
      }
    }),
  )
  return Object.keys(columns[0] ?? {}).map((item) => ({
    'US$ per million runs': item,
    ...Object.fromEntries(KINDS.map((kind, index) => [kind, perMillion(columns[index]?.[item] ?? 0)])),
  }))
}

/** Capacity units of a run, by size of its input and of its output. */
export function unitRows(sizes: readonly number[]): Promise<Row[]> {
  return Promise.all(
    (['sync', 'sync with a key', 'cached', 'async', 'sleeping', 'async model'] as const).map(async (kind) => {
      const units = await Promise.all(sizes.map((bytes) => unitsOf(kind, bytes)))
      return {
        'units of a run': kind,
        ...Object.fromEntries(
          sizes.map((bytes, index) => [`written, ${bytes / 1000} kB`, units[index]?.writeUnits ?? 0]),
        ),
        read: (units[0]?.readUnits ?? 0).toFixed(1),
        'stored bytes': Math.round(units[0]?.storedBytes ?? 0).toLocaleString('en-US'),
      }
    }),
  )
}
