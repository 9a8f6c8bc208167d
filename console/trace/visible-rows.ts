/** Rows are rendered in blocks: scrolling within one changes nothing. */
const BLOCK = 10

/** The rows to render of a list that scrolls, from `start` up to and without `end`. Lengths in pixels. */
export function visibleRows(params: { scrollTop: number; height: number; rowHeight: number; count: number }) {
  const { scrollTop, height, rowHeight, count } = params
  const first = Math.floor(scrollTop / rowHeight / BLOCK - 1) * BLOCK
  const last = Math.ceil((scrollTop + height) / rowHeight / BLOCK + 1) * BLOCK
  return { start: clamp(first, 0, count), end: clamp(last, 0, count) }
}

/** Where to scroll so that a row is in view: not at all if it is. */
export function scrollTopFor(row: number, params: { scrollTop: number; height: number; rowHeight: number }) {
  const { scrollTop, height, rowHeight } = params
  const top = row * rowHeight
  if (top < scrollTop) return top
  return top + rowHeight > scrollTop + height ? top + rowHeight - height : scrollTop
}

const clamp = (value: number, min: number, max: number) => Math.min(Math.max(value, min), max)
