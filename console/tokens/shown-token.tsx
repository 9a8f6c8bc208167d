import { useEffect, useId, useState } from 'preact/hooks'
import type { TokenRecord } from '../../lib/api/schemas/token-record.ts'
import { CopyButton } from '../components/copy-button.tsx'
import { Dialog, useAction } from '../components/dialog.tsx'
import { ErrorBox } from '../components/page.tsx'
import { Time } from '../components/values.tsx'
import { VisibleText } from '../components/visible-text.tsx'
import { useStore } from '../state/store.ts'
import { endToken, type ShownToken, shownToken } from './tokens.ts'

type Props = { /** A token has another end now. */ onChange: (token: TokenRecord) => void }

/** The token that was just made, until the user has stored it. */
export function ShownTokenDialog({ onChange }: Props) {
  const shown = useStore(shownToken)
  return shown && <Shown key={shown.made.id} {...shown} onChange={onChange} />
}

function Shown({ made, replaces, onChange }: ShownToken & Props) {
  const id = useId()
  const [isStored, setIsStored] = useState(false)
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', ask)
    return () => window.removeEventListener('beforeunload', ask)
  }, [])
  const close = () => shownToken.set(null)
  return (
    <Dialog title="The new token" isKept onClose={close}>
      <div class="form">
        <p>
          <strong>It is shown only now</strong>: store it where <VisibleText text={made.name} /> reads it.
        </p>
        <div class="token-text">
          <code>{made.token}</code>
          <CopyButton text={made.token} subject="the token" />
        </div>
        <p>
          {made.expiresAt === null ? (
            'The new token never expires.'
          ) : (
            <>
              The new token is valid until <Time value={made.expiresAt} />.
            </>
          )}
        </p>
        {replaces && <EndOfOld {...replaces} onChange={onChange} />}
        <p class="muted">If it is lost, revoke it and create another one.</p>
        <div class="choice">
          <input
            id={id}
            type="checkbox"
            checked={isStored}
            onChange={({ currentTarget }) => setIsStored(currentTarget.checked)}
          />
          <label for={id}>I have stored the token</label>
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

/** Ends the old token once the new one is shown: if that fails, both are valid, and it can be repeated. */
function EndOfOld({ token, afterSeconds, onChange }: NonNullable<ShownToken['replaces']> & Props) {
  const [ended, setEnded] = useState<TokenRecord | null>(null)
  const { error, start } = useAction(async () => {
    const changed = await endToken(token.id, afterSeconds)
    setEnded(changed)
    onChange(changed)
  })
  useEffect(() => void start(), [])
  if (error)
    return (
      <>
        <p class="field-error">The old token has not been given an end.</p>
        <ErrorBox error={error} onRetry={start} />
      </>
    )
  return (
    <p role="status">
      {ended === null ? (
        'The old token is given its end…'
      ) : ended.revokedAt !== null ? (
        <>
          The old token is revoked since <Time value={ended.revokedAt} />.
        </>
      ) : (
        <>
          The old token is valid until <Time value={ended.expiresAt} />. To end it sooner, revoke it.
        </>
      )}
    </p>
  )
}
