import type { TargetedSubmitEvent } from 'preact'
import { useRef, useState } from 'preact/hooks'
import type { TokenRecord } from '../../lib/contract/records/token.ts'
import { TOKEN_LIFETIME_DAYS } from '../../lib/core/access.ts'
import { DAY_MS } from '../../lib/core/limits.ts'
import { withLabels } from '../api/api-error.ts'
import { announce } from '../components/copy-button.tsx'
import { ConfirmDialog, Dialog, useAction } from '../components/dialog.tsx'
import { Field } from '../components/field.tsx'
import { ErrorBox } from '../components/page.tsx'
import { VisibleText } from '../components/visible-text.tsx'
import { useMe } from '../state/session.ts'
import { DaysField } from './token-dialog.tsx'
import { LABELS, toExpiry } from './token-form.ts'
import { createToken, endToken, mayReplace, shownToken } from './tokens.ts'

type Props = { token: TokenRecord; onCreate: () => void; onChange: (token: TokenRecord) => void }

/** What can be done with a token that has not ended. Each of them says what it does before it does it. */
export function TokenActions({ token, onCreate, onChange }: Props) {
  const [opened, setOpened] = useState<'rotation' | 'revocation' | null>(null)
  const me = useMe()
  const close = () => setOpened(null)
  const isOwn = me?.tokenId === token.id

  async function revoke() {
    onChange(await endToken(token.id, 0))
    announce('The token is revoked.')
    close()
  }

  return (
    <div class="actions">
      {mayReplace(me, token) && (
        <button type="button" class="small" onClick={() => setOpened('rotation')}>
          Rotate…
        </button>
      )}
      <button type="button" class="small danger" onClick={() => setOpened('revocation')}>
        Revoke…
      </button>
      {opened === 'rotation' && (
        <RotationDialog token={token} isOwn={isOwn} onCreate={onCreate} onClose={close} />
      )}
      {opened === 'revocation' && (
        <ConfirmDialog
          title="Revoke this token?"
          label="Revoke token"
          keepLabel="Keep token"
          action={revoke}
          onClose={close}
        >
          <p>
            Within a minute, requests with <VisibleText text={token.name} /> are rejected. This cannot be
            undone: programs that use it need another token. To switch without a gap, rotate it.
          </p>
          {isOwn && (
            <p>
              <strong>It is the token that you are signed in with</strong>: you will be signed out.
            </p>
          )}
        </ConfirmDialog>
      )}
    </div>
  )
}

/** In seconds. */
const OVERLAPS: [label: string, seconds: number][] = [
  ['none: it is revoked at once', 0],
  ['1 hour', 3_600],
  ['24 hours', 86_400],
  ['7 days', 604_800],
  ['30 days', 2_592_000],
]
const DEFAULT_OVERLAP = 86_400

/** As long as the token was to live; empty for never. */
function lifetimeOf({ createdAt, expiresAt }: TokenRecord): string {
  if (expiresAt === null) return ''
  const days = Math.round((Date.parse(expiresAt) - Date.parse(createdAt)) / DAY_MS)
  return String(Math.min(Math.max(days, TOKEN_LIFETIME_DAYS.min), TOKEN_LIFETIME_DAYS.max))
}

type RotationProps = Pick<Props, 'token' | 'onCreate'> & { isOwn: boolean; onClose: () => void }

function RotationDialog({ token, isOwn, onCreate, onClose }: RotationProps) {
  const form = useRef<HTMLFormElement>(null)
  const { isRunning, error, start } = useAction(async () => {
    const fields = new FormData(form.current ?? undefined)
    const { name, scopes, agents, tenantId, rate } = token
    const expiresAt = toExpiry(String(fields.get('days') ?? '').trim(), Date.now())
    const made = await createToken({ name, scopes, agents, tenantId, rate, expiresAt })
    shownToken.set({ made, replaces: { token, afterSeconds: Number(fields.get('overlap')) } })
    onClose()
    onCreate()
  })

  function submit(event: TargetedSubmitEvent<HTMLFormElement>) {
    event.preventDefault()
    void start()
  }

  return (
    <Dialog title="Rotate this token?" onClose={onClose}>
      <form ref={form} class="form token-form" onSubmit={submit}>
        <p>
          A new token with the same name, scopes and limits is created and shown once. The current{' '}
          <VisibleText text={token.name} /> ends after the overlap, and never later than it would have:
          programs that use it have to switch to the new one by then. The new one can be revoked; the end of
          the old one cannot be moved back.
        </p>
        <Field
          label="Overlap"
          help={
            isOwn && 'It is the token that you are signed in with: sign in with the new one before it ends.'
          }
        >
          {(attributes) => (
            <select {...attributes} name="overlap">
              {OVERLAPS.filter(([, seconds]) => seconds > 0 || !isOwn).map(([label, seconds]) => (
                <option key={seconds} value={seconds} selected={seconds === DEFAULT_OVERLAP}>
                  {label}
                </option>
              ))}
            </select>
          )}
        </Field>
        <DaysField days={lifetimeOf(token)} />
        {error && <ErrorBox error={withLabels(error, LABELS)} />}
        <div class="actions">
          <button type="button" onClick={onClose}>
            Keep token
          </button>
          <button type="submit" class="primary" disabled={isRunning}>
            Rotate token
          </button>
        </div>
      </form>
    </Dialog>
  )
}
