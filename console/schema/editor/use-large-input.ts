import type { RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

/** UTF-16 code units. A browser needs long to lay out more in a control, most of all on one line. */
export const MAX_EDITABLE = 200_000

type TextControl = HTMLInputElement | HTMLTextAreaElement

/**
 * Takes texts that are pasted, dropped or typed before the browser puts them into a control, if they would make it too
 * large.
 * @param onLarge is given what the control would then contain
 */
export function useLargeInput<Control extends TextControl>(
  onLarge: (text: string) => void,
): RefObject<Control | null> {
  const control = useRef<Control>(null)
  const handler = useRef(onLarge)
  handler.current = onLarge
  useLayoutEffect(() => {
    const element = control.current
    if (!element) return
    const takeLarge = (event: InputEvent) => {
      const added = event.data ?? event.dataTransfer?.getData('text/plain') ?? ''
      if (element.value.length + added.length <= MAX_EDITABLE) return
      event.preventDefault()
      const start = element.selectionStart ?? element.value.length
      handler.current(
        element.value.slice(0, start) + added + element.value.slice(element.selectionEnd ?? start),
      )
    }
    element.addEventListener('beforeinput', takeLarge as EventListener)
    return () => element.removeEventListener('beforeinput', takeLarge as EventListener)
  })
  return control
}
