import type { TargetedSubmitEvent } from 'preact'
import { useId, useRef, useState } from 'preact/hooks'
import type { MeRecord } from '../../lib/contract/records/records.ts'
import {
  DEFAULT_SCOPES,
  MAX_TENANT_ID,
  MAX_TOKEN_NAME,
  MAX_TOKEN_RATE,
  TOKEN_LIFETIME_DAYS,
} from '../../lib/core/access.ts'
import { withLabels } from '../api/api-error.ts'
import { Dialog, useAction } from '../components/dialog.tsx'
import { Field } from '../components/field.tsx'
import { ErrorBox } from '../components/page.tsx'
import { useMe } from '../state/session.ts'
import { LABELS, SCOPE_HELP, toNewToken } from './token-form.ts'
import { createToken, shownToken } from './tokens.ts'

/** The form of a new token. It offers nothing that the token that is signed in could not grant. */
export function TokenDialog({ onCreate, onClose }: { onCreate: () => void; onClose: () => void }) {
  const id = useId()
  const form = useRef<HTMLFormElement>(null)
  const me = useMe()
  const [isWithoutScopes, setIsWithoutScopes] = useState(false)
  const { isRunning, error, start } = useAction(async () => {
    const made = await createToken(toNewToken(new FormData(form.current ?? undefined), Date.now()))
    shownToken.set({ made, replaces: null })
    onCreate()
  })

  function submit(event: TargetedSubmitEvent<HTMLFormElement>) {
    event.preventDefault()
    const hasNone = new FormData(event.currentTarget).getAll('scopes').length === 0
    setIsWithoutScopes(hasNone)
    if (hasNone) event.currentTarget.querySelector<HTMLInputElement>('[name=scopes]')?.focus()
    else void start()
  }

  return (
    <Dialog title="Create a token" onClose={onClose}>
      <form ref={form} class="form token-form" onSubmit={submit}>
        <p class="muted">
          The token is shown once, after this form. To undo it, revoke the token. It can do no more than
          yours.
        </p>
        <Field label={LABELS.name}>
          {(attributes) => (
            <input
              {...attributes}
              name="name"
              type="text"
              required
              maxLength={MAX_TOKEN_NAME}
              placeholder="What uses it, such as ci"
              autocomplete="off"
            />
          )}
        </Field>
        <fieldset class="choices" aria-describedby={isWithoutScopes ? `${id}-scopes` : undefined}>
          <legend>{LABELS.scopes}</legend>
          {(me?.scopes ?? []).map((scope) => (
            <label key={scope}>
              <input
                type="checkbox"
                name="scopes"
                value={scope}
                defaultChecked={DEFAULT_SCOPES.includes(scope)}
                onChange={() => setIsWithoutScopes(false)}
              />
              <span>
                <code>{scope}</code> <span class="muted">{SCOPE_HELP[scope]}</span>
              </span>
            </label>
          ))}
        </fieldset>
        {isWithoutScopes && (
          <p id={`${id}-scopes`} class="field-error" role="alert">
            Choose at least one scope.
          </p>
        )}
        <DaysField days={String(TOKEN_LIFETIME_DAYS.default)} />
        <Limits me={me} />
        {error && <ErrorBox error={withLabels(error, LABELS)} />}
        <div class="actions">
          <button type="button" onClick={onClose}>
            Close
          </button>
          <button type="submit" class="primary" disabled={isRunning}>
            Create token
          </button>
        </div>
      </form>
    </Dialog>
  )
}

/** What the token may use. It begins with the limits of the token that is signed in, which it must not exceed. */
function Limits({ me }: { me: MeRecord | null }) {
  const [boundTenant, limitedTo, maxRate] = [me?.tenantId ?? null, me?.agents ?? null, me?.rate ?? null]
  return (
    <details open={boundTenant !== null || limitedTo !== null || maxRate !== null}>
      <summary>Limits</summary>
      <div class="form">
        <Field
          label={LABELS.agents}
          help={
            limitedTo === null
              ? 'Slugs or IDs of the only agents that it may use, one per line. Empty: all of them.'
              : 'Slugs or IDs, one per line: your token is limited to these. Empty: all of them.'
          }
        >
          {(attributes) => (
            <textarea
              {...attributes}
              name="agents"
              rows={2}
              spellcheck={false}
              defaultValue={limitedTo?.join('\n') ?? ''}
            />
          )}
        </Field>
        <Field
          label={LABELS.tenantId}
          help={
            boundTenant === null
              ? 'The only tenant that it may use. Empty: any.'
              : 'Your token is bound to this tenant.'
          }
        >
          {(attributes) => (
            <input
              {...attributes}
              name="tenantId"
              type="text"
              maxLength={MAX_TENANT_ID}
              autocomplete="off"
              spellcheck={false}
              readOnly={boundTenant !== null}
              defaultValue={boundTenant ?? ''}
            />
          )}
        </Field>
        <Field
          label={LABELS.rate}
          help={maxRate === null ? 'Empty: no limit.' : `At most ${maxRate}, as for your token.`}
        >
          {(attributes) => (
            <input
              {...attributes}
              name="rate"
              type="number"
              inputMode="numeric"
              min={1}
              max={maxRate ?? MAX_TOKEN_RATE}
              step={1}
              defaultValue={maxRate ?? ''}
            />
          )}
        </Field>
      </div>
    </details>
  )
}

/** @param days empty for never: people who signed in at the identity provider cannot create such a token */
export function DaysField({ days }: { days: string }) {
  const isPerson = typeof useMe()?.subject === 'string'
  const max = isPerson ? TOKEN_LIFETIME_DAYS.maxOfPerson : TOKEN_LIFETIME_DAYS.max
  return (
    <Field
      label={LABELS.expiresAt}
      help={
        isPerson
          ? `At most ${max}, because you have signed in with your account.`
          : 'Leave empty for a token that never expires. If your token expires, the new one can live only as long.'
      }
    >
      {(attributes) => (
        <input
          {...attributes}
          name="days"
          type="number"
          inputMode="numeric"
          required={isPerson}
          min={TOKEN_LIFETIME_DAYS.min}
          max={max}
          step={1}
          defaultValue={isPerson ? String(Math.min(Number(days || max), max)) : days}
        />
      )}
    </Field>
  )
}
