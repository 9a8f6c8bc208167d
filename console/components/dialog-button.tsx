import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { type Scope, useScope } from '../state/session.ts'
import { useReopen } from './typed-form.tsx'

type DialogButtonProps = {
  label: string
  /** That the token needs. */
  scope: Scope
  /** The form of the dialog: it is open again if something was typed into it before the page was left. */
  form?: string
  children: (close: () => void) => VNode
}

/** A button that opens the form of something new. */
export function DialogButton({ label, scope, form, children }: DialogButtonProps) {
  const isOffered = useScope(scope)
  const [isOpen, setIsOpen] = useState(false)
  useReopen(form ?? label, isOffered && form !== undefined, () => setIsOpen(true))
  if (!isOffered) return null
  return (
    <>
      <button type="button" class="primary" onClick={() => setIsOpen(true)}>
        {label}
      </button>
      {isOpen && children(() => setIsOpen(false))}
    </>
  )
}
