import type { RefObject } from 'preact'
import { useCallback, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { listen } from '../api/attention.ts'

type Visible = { body: RefObject<HTMLDivElement | null>; start: number; end: number; rowHeight: number }

/** Follows which rows are in the window. The first render assumes that the table begins at the top. */
export function useVisibleRange(count: number): Visible {
  const body = useRef<HTMLDivElement>(null)
  const [rowHeight, setRowHeight] = useState(readRowHeight)
  const [range, setRange] = useState(() =>
    visibleRange({ top: -window.scrollY, windowHeight: window.innerHeight, rowHeight, count }),
  )
  const update = useCallback(() => {
    const height = readRowHeight()
    setRowHeight(height)
    const top = body.current?.getBoundingClientRect().top ?? 0
    const next = visibleRange({ top, windowHeight: window.innerHeight, rowHeight: height, count })
    setRange((last) => (last.start === next.start && last.end === next.end ? last : next))
  }, [count])
  useLayoutEffect(() => {
    update()
    let frame = 0
    const onScroll = () => {
      cancelAnimationFrame(frame)
      frame = requestAnimationFrame(update)
    }
    const unlisten = listen(window, { scroll: onScroll, resize: onScroll }, { passive: true })
    return () => {
      cancelAnimationFrame(frame)
      unlisten()
    }
  }, [update])
  return { body, ...range, rowHeight }
}

/** `--run-row-height` of the style sheet, which is another one on a phone. */
function readRowHeight(): number {
  const value = getComputedStyle(document.documentElement).getPropertyValue('--run-row-height')
  return Number.parseFloat(value) || 40
}

/** Rows are rendered in blocks: scrolling within one changes nothing. */
const BLOCK = 10

/** The rows to render, without `end`. @param top pixels from the window to the first row, negative above it */
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
