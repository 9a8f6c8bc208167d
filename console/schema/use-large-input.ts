import type { RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { listen } from '../api/attention.ts'

/** UTF-16 code units and lines. A browser needs long to lay out more in a control. */
const MAX_EDITABLE = 200_000
const MAX_LINES = 5_000

/** Texts of this length are not left to the browser's editing, which takes minutes to insert some thousand lines. */
const MAX_INSERTED = 5_000

/** Whether a control can show a text without blocking the page. */
export function isEditable(text: string): boolean {
  if (text.length > MAX_EDITABLE) return false
  let lines = 1
  for (let at = text.indexOf('\n'); at >= 0 && lines <= MAX_LINES; at = text.indexOf('\n', at + 1)) lines += 1
  return lines <= MAX_LINES
}

type TextControl = HTMLInputElement | HTMLTextAreaElement

/**
 * Takes long texts that are pasted, dropped or typed before the browser puts them into a control.
 * @param onText is given what the control would then contain, which it can show only if that `isEditable`
 */
export function useLargeInput<Control extends TextControl>(
  onText: (text: string) => void,
): RefObject<Control | null> {
  const control = useRef<Control>(null)
  const handler = useRef(onText)
  handler.current = onText
  useLayoutEffect(() => {
    const element = control.current
    if (!element) return
    const takeLong = (event: InputEvent) => {
      const added = event.data ?? event.dataTransfer?.getData('text/plain') ?? ''
      if (added.length <= MAX_INSERTED && element.value.length + added.length <= MAX_EDITABLE) return
      event.preventDefault()
      const { value } = element
      // Asking for the selection makes the browser lay out the page.
      const [start, end] = value === '' ? [0, 0] : [element.selectionStart ?? 0, element.selectionEnd ?? 0]
      const text =
        value.slice(0, start) +
        (added.includes('\r') ? added.replaceAll('\r\n', '\n') : added) +
        value.slice(end)
      if (isEditable(text)) {
        element.value = text
        element.selectionStart = start + added.length
        element.selectionEnd = start + added.length
      }
      handler.current(text)
    }
    return listen(element, { beforeinput: takeLong })
  })
  return control
}
