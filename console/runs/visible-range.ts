/** Rows are rendered in blocks: scrolling within one changes nothing. */
const BLOCK = 10

/**
 * The rows to render, from `start` up to and without `end`: those in the window and some before and after it.
 * @param top pixels from the top of the window to the first row; negative if it is above
 */
export function visibleRange(params: {
  top: number
  windowHeight: number
  rowHeight: number
  count: number
}): { start: number; end: number } {
  const { top, windowHeight, rowHeight, count } = params
  const first = Math.floor(-top / rowHeight)
  const last = Math.ceil((windowHeight - top) / rowHeight)
  const start = Math.floor((first - BLOCK) / BLOCK) * BLOCK
  const end = Math.ceil((last + BLOCK) / BLOCK) * BLOCK
  return { start: clamp(start, 0, count), end: clamp(end, 0, count) }
}

const clamp = (value: number, min: number, max: number) => Math.min(Math.max(value, min), max)
