import { useEffect, useId, useState } from 'preact/hooks'
import { CopyButton } from '../components/copy-button.tsx'
import { Dialog } from '../components/dialog.tsx'
import { Time } from '../components/values.tsx'
import { useStore } from '../state/store.ts'
import { type ShownSecret, shownSecret } from './shown-secret.ts'

/** The secret that was just made, until the user has stored it. */
export function SecretDialog() {
  const shown = useStore(shownSecret)
  return shown && <Secret key={shown.secret} {...shown} />
}

function Secret({ secret, isNew, previousSecretExpiresAt }: ShownSecret) {
  const id = useId()
  const [isStored, setIsStored] = useState(false)
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', ask)
    return () => window.removeEventListener('beforeunload', ask)
  }, [])
  const close = () => shownSecret.set(null)
  return (
    <Dialog title={isNew ? 'The secret of the new webhook' : 'The new secret'} isKept onClose={close}>
      <div class="form">
        <p>
          It signs the events. <strong>It is shown only now</strong>: store it where the receiver reads it.
        </p>
        <div class="webhook-secret">
          <code>{secret}</code>
          <CopyButton text={secret} subject="the secret" />
        </div>
        {!isNew && previousSecretExpiresAt !== null && (
          <p>
            Until <Time value={previousSecretExpiresAt} />, events are signed with the previous secret, too:
            receivers that still have it accept them until then.
          </p>
        )}
        <p class="muted">If it is lost, rotate the secret: that makes another one.</p>
        <div class="choice">
          <input
            id={id}
            type="checkbox"
            checked={isStored}
            onChange={({ currentTarget }) => setIsStored(currentTarget.checked)}
          />
          <label for={id}>I have stored the secret</label>
        </div>
        <div class="actions">
          <button type="button" class="primary" disabled={!isStored} onClick={close}>
            Close
          </button>
        </div>
      </div>
    </Dialog>
  )
}
