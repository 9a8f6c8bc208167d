import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'

type Props = { title: string; onClose: () => void; children: ComponentChildren }

/** The button that opened the dialog may be gone: it was for a state that the dialog has ended. */
function focusTitleIfLost(): void {
  if (document.activeElement === document.body) document.querySelector('h1')?.focus()
}

/** A modal dialog. The browser keeps the focus in it, closes it on Escape and returns the focus afterwards. */
export function Dialog({ title, onClose, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useEffect(() => {
    const element = dialog.current
    element?.showModal()
    return () => {
      element?.close()
      setTimeout(focusTitleIfLost)
    }
  }, [])
  return (
    <dialog ref={dialog} aria-labelledby={titleId} onClose={onClose}>
      <h2 id={titleId}>{title}</h2>
      {children}
    </dialog>
  )
}
