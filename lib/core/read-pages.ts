import type { ListPosition } from './cursor.ts'
import { PAGE_SIZE } from './limits.ts'
import type { Page, PageRequest } from './ports/system.ts'

/** The items of a list, whose pages are read as they are needed. @param from the position after which it begins */
export async function* readPages<Item>(
  readPage: (page: PageRequest) => Promise<Page<Item>>,
  from: ListPosition | null = null,
): AsyncGenerator<Item, void, undefined> {
  for (let after = from; ; ) {
    const { items, next } = await readPage({ limit: PAGE_SIZE.max, after })
    yield* items
    if (!next) return
    after = next
  }
}

/** Items, each with what is read for it: a source that yields in their order. */
export async function* zip<Item, Read>(
  items: readonly Item[],
  source: AsyncIterable<Read>,
): AsyncGenerator<[Item, Read]> {
  let index = 0
  for await (const read of source) yield [items[index++] as Item, read]
}
