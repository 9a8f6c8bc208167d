import { useEffect, useState } from 'preact/hooks'
import type { TokenRecord } from '../../lib/contract/records/token.ts'
import { useAction } from '../components/dialog.tsx'
import { ErrorBox } from '../components/page.tsx'
import { ShownOnceDialog } from '../components/shown-once.tsx'
import { Time } from '../components/values.tsx'
import { say, VisibleText } from '../components/visible-text.tsx'
import { useStore } from '../state/store.ts'
import { endToken, type ShownToken, shownToken } from './tokens.ts'

type Props = { /** A token has another end now. */ onChange: (token: TokenRecord) => void }

export function ShownTokenDialog({ onChange }: Props) {
  const shown = useStore(shownToken)
  return shown && <Shown key={shown.made.id} {...shown} onChange={onChange} />
}

const Shown = ({ made, replaces, onChange }: ShownToken & Props) => (
  <ShownOnceDialog
    title="The new token"
    text={made.token}
    subject="the token"
    hint={
      <>
        <strong>It is shown only now</strong>: store it where <VisibleText text={made.name} /> reads it.
      </>
    }
    onClose={() => shownToken.set(null)}
  >
    <p>
      {made.expiresAt === null
        ? 'The new token never expires.'
        : say`The new token is valid until ${<Time value={made.expiresAt} />}.`}
    </p>
    {replaces && <EndOfOld {...replaces} onChange={onChange} />}
    <p class="muted">If it is lost, revoke it and create another one.</p>
  </ShownOnceDialog>
)

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
        <p class="field-error">The old token could not be ended.</p>
        <ErrorBox error={error} onRetry={start} />
      </>
    )
  return (
    <p role="status">
      {ended === null
        ? 'Ending the old token…'
        : ended.revokedAt !== null
          ? say`The old token was revoked at ${<Time value={ended.revokedAt} />}.`
          : say`The old token is valid until ${<Time value={ended.expiresAt} />}. To end it sooner, revoke it.`}
    </p>
  )
}
