import type { Page, PageRequest } from '../lib/core/ports.ts'

const PAGE = 100

/** Everything that a list holds, page by page, newest first. */
export async function readAll<T>(readPage: (page: PageRequest) => Promise<Page<T>>): Promise<T[]> {
  const all: T[] = []
  for (let after: PageRequest['after'] = null; ; ) {
    const { items, next } = await readPage({ limit: PAGE, after })
    all.push(...items)
    if (!next) return all
    after = next
  }
}
