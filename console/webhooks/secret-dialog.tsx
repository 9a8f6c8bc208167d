import { createSecretStore, ShownOnceDialog } from '../components/shown-once.tsx'
import { Time } from '../components/values.tsx'
import { type Store, useStore } from '../state/store.ts'

/** A secret that the service has just made, and tells nobody again. */
type ShownSecret = {
  secret: string
  isNew: boolean
  /** Until then, the previous one is valid, too. ISO 8601 */
  previousSecretExpiresAt: string | null
}

export const shownSecret: Store<ShownSecret | null> = createSecretStore<ShownSecret>()

export function SecretDialog() {
  const shown = useStore(shownSecret)
  return shown && <Secret key={shown.secret} {...shown} />
}

const Secret = ({ secret, isNew, previousSecretExpiresAt }: ShownSecret) => (
  <ShownOnceDialog
    title={isNew ? 'The secret of the new webhook' : 'The new secret'}
    text={secret}
    subject="the secret"
    hint={
      <>
        It signs the events. <strong>It is shown only now</strong>: store it where the receiver reads it.
      </>
    }
    onClose={() => shownSecret.set(null)}
  >
    {!isNew && previousSecretExpiresAt !== null && (
      <p>
        Until <Time value={previousSecretExpiresAt} />, events are signed with the previous secret, too:
        receivers that still have it accept them until then.
      </p>
    )}
    <p class="muted">If it is lost, rotate the secret: that makes another one.</p>
  </ShownOnceDialog>
)
