import { expect, inject } from 'vitest'
import type { Page, PageRequest } from '../../../lib/core/ports/system.ts'
import { openTable } from '../../../lib/dynamodb/table/table.ts'
import { DYNAMODB_ENDPOINT } from '../../../lib/environment.ts'
import { LOCAL_TABLE } from '../../../local/emulators/provision.ts'

export type EmulatorName = 'dynamodb' | 'dynalite'

/**
 * The databases that every store must work on: both embedded ones, or that of `DYNAMODB_ENDPOINT`. Only
 * `npm run nightly` runs the suites on both.
 */
export const EMULATORS: EmulatorName[] =
  process.env[DYNAMODB_ENDPOINT] || !inject('isNightly') ? ['dynamodb'] : ['dynamodb', 'dynalite']

/** Random cases run mostly on the first: the second is slower, and differs in what the suites of the stores cover. */
export const shareOf = (emulator: EmulatorName): number => (emulator === 'dynamodb' ? 1 : 0.2)

export const tableOn = (emulator: EmulatorName, name = LOCAL_TABLE) =>
  openTable({ TABLE_NAME: name, DYNAMODB_ENDPOINT: inject(emulator) })

/** How many calls meet in the tests of races. */
export const RACERS = inject('isNightly') ? 32 : 8

/** The results of calls that are made at the same time. */
export const race = <T>(call: (racer: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: RACERS }, (_, racer) => call(racer)))

/** All items of a list, read in pages of `limit`. Only the first page may be empty, unless `mayBeEmpty`. */
export async function readPages<T>(
  list: (page: PageRequest) => Promise<Page<T>>,
  limit: number,
  { mayBeEmpty = false } = {},
): Promise<{ items: T[]; pages: number }> {
  const items: T[] = []
  let after: PageRequest['after'] = null
  for (let pages = 1; ; pages++) {
    const page: Page<T> = await list({ limit, after })
    if (page.items.length > limit) throw new Error(`A page of ${limit} has ${page.items.length} items.`)
    if (page.items.length === 0 && pages > 1 && !mayBeEmpty) throw new Error(`Page ${pages} is empty.`)
    items.push(...page.items)
    if (!page.next) return { items, pages }
    after = page.next
  }
}

/** Reads a list in pages of one item, of a few and of more than it has: each time it has these items in this order. */
export async function expectPages<T>(
  list: (page: PageRequest) => Promise<Page<T>>,
  expected: unknown[],
): Promise<void> {
  for (const limit of [1, 3, expected.length + 1])
    expect((await readPages(list, limit)).items).toEqual(expected)
}
