import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useState } from 'preact/hooks'
import { credentials } from '../state/session.ts'
import { createStore, type Store } from '../state/store.ts'
import { Button, CopyButton } from './button.tsx'
import { Dialog } from './dialog.tsx'

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
  const id = useId()
  const [isStored, setIsStored] = useState(false)
  // Not a passive effect: those are cleaned up some time after the dialog is gone, and it would still ask.
  useLayoutEffect(() => {
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', ask)
    return () => window.removeEventListener('beforeunload', ask)
  }, [])
  return (
    <Dialog title={title} isKept onClose={onClose}>
      <div class="form">
        <p>{hint}</p>
        <div class="box toolbar shown-once">
          <code class="long-text">{text}</code>
          <CopyButton text={text} subject={subject} />
        </div>
        {children}
        <div class="choice">
          <input
            id={id}
            type="checkbox"
            checked={isStored}
            onChange={({ currentTarget }) => setIsStored(currentTarget.checked)}
          />
          <label for={id}>I have stored {subject}</label>
        </div>
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
