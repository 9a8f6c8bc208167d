/** The first items of a list, whose pages are read as they are needed. */
export async function take<Item>(items: AsyncIterable<Item>, count: number): Promise<Item[]> {
  const taken: Item[] = []
  for await (const item of items) if (taken.push(item) === count) break
  return taken
}

/** All items of a list. */
export const readAll = <Item>(items: AsyncIterable<Item>): Promise<Item[]> =>
  take(items, Number.POSITIVE_INFINITY)
