import { MAX_PAGE_BYTES } from '../core/limits.ts'
import type { Page } from '../core/ports.ts'
import type { Item } from './table.ts'

/**
 * Cuts a page before its records pass what one response can carry; the rest is on the next page. One record stays,
 * however large it is.
 * @param keys the index's items, in the order of the page
 */
export function cutPage<T extends Item>(
  { items: keys, next }: Page<Item>,
  records: T[],
  bytesOf: (record: T) => number,
): Page<T> {
  let bytes = 0
  const fitting = records.findIndex((record) => {
    bytes += bytesOf(record)
    return bytes > MAX_PAGE_BYTES
  })
  if (fitting === -1) return { items: records, next }
  const items = records.slice(0, Math.max(fitting, 1))
  if (items.length === records.length) return { items, next }
  const last = items.at(-1)
  const place = keys.find(({ pk, sk }) => pk === last?.pk && sk === last?.sk)
  return { items, next: { order: String(place?.listOrder) } }
}
