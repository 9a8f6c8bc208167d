import { useState } from 'preact/hooks'
import type { MeRecord } from '../../lib/contract/records/records.ts'
import {
  DEFAULT_SCOPES,
  MAX_TENANT_ID,
  MAX_TOKEN_NAME,
  MAX_TOKEN_RATE,
  SCOPES,
  type Scope,
  TOKEN_LIFETIME_DAYS,
} from '../../lib/core/access.ts'
import { ApiError, nullIf } from '../api/api-error.ts'
import { send } from '../api/request.ts'
import { type Form, labelsOf } from '../components/fields.tsx'
import { FormDialog } from '../components/form-dialog.tsx'
import { useForm } from '../components/typed-form.tsx'
import { VisibleText } from '../components/visible-text.tsx'
import { useMe } from '../state/session.ts'
import { createToken, shownToken, toExpiry } from './tokens.ts'

const FIELDS = {
  name: {
    ...{ label: 'Name', required: true, maxLength: MAX_TOKEN_NAME },
    placeholder: 'What uses it, such as ci',
  },
  scopes: { label: 'Scopes' },
  agents: { label: 'Agents', isLong: true },
  tenantId: { label: 'Tenant', maxLength: MAX_TENANT_ID },
  rate: { label: 'Requests per second' },
  expiresAt: { label: 'Days until it expires' },
}

export const LABELS = labelsOf(FIELDS)

const SCOPE_HELP: Record<Scope, string> = {
  run: 'start and cancel runs',
  read: 'read everything',
  manage: 'publish, change and delete, and create tokens',
  review: 'give feedback that runs learn from',
  approve: 'decide on approvals',
}

/** A token as it is typed. `expiresAt`: days until then; empty for never. */
const toForm = (me: MeRecord, isPerson: boolean) => ({
  name: '',
  scopes: DEFAULT_SCOPES.filter((scope) => me.scopes.includes(scope)),
  expiresAt: daysFor(String(TOKEN_LIFETIME_DAYS.default), isPerson),
  agents: me.agents?.join('\n') ?? '',
  tenantId: me.tenantId ?? '',
  rate: me.rate?.toString() ?? '',
})

type TokenForm = ReturnType<typeof toForm>
type Props = { onCreate: () => void; onClose: () => void }

/** The form of a new token, once it is known what the token that is signed in could grant. */
export function TokenDialog(props: Props) {
  const me = useMe()
  return me && <NewToken {...props} me={me} />
}

function NewToken({ me, onCreate, onClose }: Props & { me: MeRecord }) {
  const isPerson = useIsPerson()
  const form = useForm(() => toForm(me, isPerson))
  const [hasTried, setHasTried] = useState(false)
  const isWithoutScopes = form.form.scopes.length === 0
  /** Agents that do not exist, for which the token is created when it is asked again. */
  const [unknown, setUnknown] = useState('')
  function validate(element: HTMLFormElement): boolean {
    setHasTried(true)
    if (isWithoutScopes) element.querySelector<HTMLInputElement>('[name=scopes]')?.focus()
    return !isWithoutScopes
  }
  async function create() {
    const given = toNewToken(form.form, Date.now())
    const found = await Promise.all((given.agents ?? []).map(findAgent))
    const missing = (given.agents ?? []).filter((_, index) => found[index] === null).join(', ')
    setUnknown(missing)
    if (missing !== unknown) return false
    shownToken.set({ made: await createToken(given), replaces: null })
    onClose()
    onCreate()
    return true
  }
  return (
    <FormDialog
      title="Create a token"
      submit="Create token"
      labels={LABELS}
      {...{ validate, onClose }}
      send={create}
    >
      <p class="muted">
        The token is shown once, after this form. To undo it, revoke the token. It can do no more than yours.
      </p>
      {form.fields({
        name: FIELDS.name,
        scopes: {
          label: FIELDS.scopes.label,
          checks: me.scopes.map((scope) => [
            scope,
            <>
              <code>{scope}</code> <span class="muted">{SCOPE_HELP[scope]}</span>
            </>,
          ]),
          problem: hasTried && isWithoutScopes && 'Choose at least one scope.',
        },
        expiresAt: daysField(isPerson),
      })}
      <Limits me={me} form={form} />
      {unknown !== '' && (
        <p class="warning-note" role="alert">
          No agent is called <VisibleText text={unknown} />. To create the token all the same, send the form
          again.
        </p>
      )}
    </FormDialog>
  )
}

/** Null if it does not exist. Tokens that may not read agents find all of them. @throws ApiError */
const findAgent = (agent: string): Promise<unknown> =>
  send(`/v1/agents/${encodeURIComponent(agent)}`)
    .catch(nullIf(404))
    .catch((error: unknown) =>
      error instanceof ApiError && error.status === 403 ? agent : Promise.reject(error),
    )

/** What the token may use. It begins with the limits of the token that is signed in, which it must not exceed. */
function Limits({ me, form }: { me: MeRecord; form: Form<TokenForm> }) {
  const { tenantId: boundTenant, agents: limitedTo, rate: maxRate } = me
  return (
    <details open={boundTenant !== null || limitedTo !== null || maxRate !== null}>
      <summary>Limits</summary>
      <div class="form">
        {form.fields({
          agents: {
            ...FIELDS.agents,
            help:
              limitedTo === null
                ? 'Slugs or IDs of the only agents that it may use, one per line. Empty: all of them.'
                : 'Slugs or IDs, one per line: your token is limited to these. Empty: all of them.',
          },
          tenantId: {
            ...{ ...FIELDS.tenantId, readOnly: boundTenant !== null },
            help:
              boundTenant === null
                ? 'The only tenant that it may use. Empty: any.'
                : 'Your token is bound to this tenant.',
          },
          rate: {
            label: FIELDS.rate.label,
            help: maxRate === null ? 'Empty: no limit.' : `At most ${maxRate}, as for your token.`,
            range: { min: 1, max: maxRate ?? MAX_TOKEN_RATE, step: 1 },
          },
        })}
      </div>
    </details>
  )
}

/** Whether somebody has signed in at the identity provider. */
export const useIsPerson = (): boolean => typeof useMe()?.subject === 'string'

const maxDays = (isPerson: boolean) => (isPerson ? TOKEN_LIFETIME_DAYS.maxOfPerson : TOKEN_LIFETIME_DAYS.max)

/** @param days empty for never: people who signed in at the identity provider cannot create such a token */
export const daysFor = (days: string, isPerson: boolean): string =>
  isPerson ? String(Math.min(Number(days || maxDays(isPerson)), maxDays(isPerson))) : days

export const daysField = (isPerson: boolean) => ({
  label: FIELDS.expiresAt.label,
  required: isPerson,
  range: { min: TOKEN_LIFETIME_DAYS.min, max: maxDays(isPerson), step: 1 },
  help: isPerson
    ? `At most ${maxDays(isPerson)}, because you have signed in with your account.`
    : 'Leave empty for a token that never expires. If your token expires, the new one can live only as long.',
})

/** What `POST /v1/tokens` takes. */
export function toNewToken(form: TokenForm, now: number) {
  const agents = form.agents.split(/[\s,]+/).filter((agent) => agent !== '')
  const [tenantId, rate] = [form.tenantId.trim(), form.rate.trim()]
  return {
    name: form.name.trim(),
    scopes: SCOPES.filter((scope) => form.scopes.includes(scope)),
    ...(agents.length > 0 && { agents }),
    ...(tenantId !== '' && { tenantId }),
    ...(rate !== '' && { rate: Number(rate) }),
    expiresAt: toExpiry(form.expiresAt.trim(), now),
  }
}
