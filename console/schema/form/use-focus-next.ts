import { useLayoutEffect, useRef } from 'preact/hooks'

type Find = () => HTMLElement | null | undefined

/** Moves the focus after the next render, when what had it may be gone. */
export function useFocusNext(): (find: Find) => void {
  const next = useRef<Find | null>(null)
  useLayoutEffect(() => {
    const find = next.current
    next.current = null
    find?.()?.focus()
  })
  return (find) => {
    next.current = find
  }
}

/** What a keyboard fills in first. */
export const CONTROLS = 'input, textarea, select, button'
