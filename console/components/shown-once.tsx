import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useState } from 'preact/hooks'
import { listen } from '../api/attention.ts'
import { credentials } from '../state/session.ts'
import { createStore, type Store } from '../state/store.ts'
import { Button, CopyButton } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { CheckField } from './field.tsx'

type Props = {
  title: string
  text: string
  subject: string
  hint: ComponentChildren
  children: ComponentChildren
  onClose: () => void
}

/** A secret that the service shows once: the dialog stays until the user has stored it. */
export function ShownOnceDialog({ title, text, subject, hint, children, onClose }: Props) {
  const [isStored, setIsStored] = useState(false)
  // Not a passive effect: those are cleaned up some time after the dialog is gone, and it would still ask.
  useLayoutEffect(() => listen(window, { beforeunload: (event) => event.preventDefault() }), [])
  return (
    <Dialog title={title} isKept onClose={onClose}>
      <div class="form">
        <p>{hint}</p>
        <div class="box toolbar shown-once">
          <code class="long-text">{text}</code>
          <CopyButton text={text} subject={subject} />
        </div>
        {children}
        <CheckField label={`I have stored ${subject}`} value={isStored} onChange={setIsStored} />
        <div class="actions">
          <Button label="Close" class="primary" disabled={!isStored} onClick={onClose} />
        </div>
      </div>
    </Dialog>
  )
}

/** What the service tells only once, kept here until the user says that it is stored, or somebody else signs in. */
export function createSecretStore<T>(): Store<T | null> {
  const store = createStore<T | null>(null)
  credentials.subscribe(() => store.set(null))
  return store
}
