/** Items, each with what is read for it: a source that yields in their order. */
export async function* zip<Item, Read>(
  items: readonly Item[],
  source: AsyncIterable<Read>,
): AsyncGenerator<[Item, Read]> {
  let index = 0
  for await (const read of source) yield [items[index++] as Item, read]
}
