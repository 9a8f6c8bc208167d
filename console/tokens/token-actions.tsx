import type { TokenRecord } from '../../lib/contract/records/token.ts'
import { TOKEN_LIFETIME_DAYS } from '../../lib/core/access.ts'
import { DAY_MS } from '../../lib/core/limits.ts'
import { ConfirmButton, DialogButton, FormDialog } from '../components/form-dialog.tsx'
import { useForm } from '../components/typed-form.tsx'
import { VisibleText } from '../components/visible-text.tsx'
import { useMe } from '../state/session.ts'
import { daysField, daysFor, LABELS, useIsPerson } from './token-dialog.tsx'
import { createToken, endToken, mayReplace, shownToken, toExpiry } from './tokens.ts'

type Props = { token: TokenRecord; onCreate: () => void; onChange: (token: TokenRecord) => void }

export function TokenActions({ token, onCreate, onChange }: Props) {
  const me = useMe()
  const isOwn = me?.tokenId === token.id
  return (
    <div class="actions">
      <DialogButton label="Rotate…" class="small" isOffered={mayReplace(me, token)}>
        {(close) => <RotationDialog token={token} isOwn={isOwn} onCreate={onCreate} onClose={close} />}
      </DialogButton>
      <ConfirmButton
        label="Revoke…"
        class="small danger"
        asks={{ title: 'Revoke this token?', yes: 'Revoke token', no: 'Keep token' }}
        action={async () => onChange(await endToken(token.id, 0))}
        done="The token is revoked."
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
      </ConfirmButton>
    </div>
  )
}

/** By seconds. */
const OVERLAPS = [
  ['0', 'none: it is revoked at once'],
  ['3600', '1 hour'],
  ['86400', '24 hours'],
  ['604800', '7 days'],
  ['2592000', '30 days'],
] as const

/** As long as the token was to live; empty for never. */
function lifetimeOf({ createdAt, expiresAt }: TokenRecord): string {
  if (expiresAt === null) return ''
  const days = Math.round((Date.parse(expiresAt) - Date.parse(createdAt)) / DAY_MS)
  return String(Math.min(Math.max(days, TOKEN_LIFETIME_DAYS.min), TOKEN_LIFETIME_DAYS.max))
}

type RotationProps = Pick<Props, 'token' | 'onCreate'> & { isOwn: boolean; onClose: () => void }

function RotationDialog({ token, isOwn, onCreate, onClose }: RotationProps) {
  const isPerson = useIsPerson()
  const form = useForm(() => ({
    overlap: '86400' as (typeof OVERLAPS)[number][0],
    days: daysFor(lifetimeOf(token), isPerson),
  }))
  async function send() {
    const { name, scopes, agents, tenantId, rate } = token
    const expiresAt = toExpiry(form.form.days.trim(), Date.now())
    const made = await createToken({ name, scopes, agents, tenantId, rate, expiresAt })
    shownToken.set({ made, replaces: { token, afterSeconds: Number(form.form.overlap) } })
    onClose()
    onCreate()
  }
  return (
    <FormDialog
      title="Rotate this token?"
      submit="Rotate token"
      close="Keep token"
      labels={LABELS}
      {...{ send, onClose }}
    >
      <p>
        A new token with the same name, scopes and limits is created and shown once. The current{' '}
        <VisibleText text={token.name} /> ends after the overlap, and never later than it would have: programs
        that use it have to switch to the new one by then. The new one can be revoked; the end of the old one
        cannot be moved back.
      </p>
      {form.fields({
        overlap: {
          label: 'Overlap',
          help:
            isOwn && 'It is the token that you are signed in with: sign in with the new one before it ends.',
          choices: OVERLAPS.filter(([seconds]) => seconds !== '0' || !isOwn),
        },
        days: daysField(isPerson),
      })}
    </FormDialog>
  )
}
