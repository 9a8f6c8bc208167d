import type { ComponentChildren, TargetedSubmitEvent } from 'preact'
import { useId, useMemo, useRef, useState } from 'preact/hooks'
import type { WebhookRecord } from '../../lib/contract/records/webhook.ts'
import { MAX_WEBHOOK_URL } from '../../lib/core/limits.ts'
import { useAgents } from '../api/agents.ts'
import { withLabels } from '../api/api-error.ts'
import { Dialog, useAction } from '../components/dialog.tsx'
import { Field } from '../components/field.tsx'
import { ErrorBox } from '../components/page.tsx'
import { noEntries, Restored, readEntries, toFormData, useTypedForm } from '../components/typed-form.tsx'
import { useMe } from '../state/session.ts'
import { EVENT_LABELS, EVENT_SOURCES, EVENT_TYPES, isRunEvent, SOURCE_LABELS } from './events.ts'
import { LABELS, toFields, type WebhookFields } from './webhook-form.ts'

type Props = {
  title: string
  /** On the button that saves. */
  label: string
  /** Null: a new one. */
  webhook: WebhookRecord | null
  children?: ComponentChildren
  save: (fields: WebhookFields) => Promise<void>
  onClose: () => void
}

/** What is typed is kept by this name. */
export const webhookForm = (webhook: WebhookRecord | null): string => `webhook ${webhook?.id ?? ''}`

/** The form of a webhook. */
export function WebhookDialog({ title, label, webhook, children, save, onClose }: Props) {
  const id = useId()
  const form = useRef<HTMLFormElement>(null)
  const agents = useAgents()
  const limitedTo = useMe()?.agents ?? null
  const typed = useTypedForm(webhookForm(webhook), noEntries)
  const begin = useMemo(() => (typed.isRestored ? toFields(toFormData(typed.form.entries)) : webhook), [])
  const [isWithoutEvents, setIsWithoutEvents] = useState(false)
  const { isRunning, error, start } = useAction(async () => {
    const fields = toFields(new FormData(form.current ?? undefined))
    const idOf = (name: string) => [...(agents?.values() ?? [])].find(({ slug }) => slug === name)?.id ?? name
    await save({ ...fields, agents: fields.agents?.map(idOf) ?? null })
    typed.forget()
  })

  function submit(event: TargetedSubmitEvent<HTMLFormElement>) {
    event.preventDefault()
    const hasNone = toFields(new FormData(event.currentTarget)).types.length === 0
    setIsWithoutEvents(hasNone)
    if (hasNone) event.currentTarget.querySelector<HTMLInputElement>('[name=types]')?.focus()
    else void start()
  }

  function close() {
    typed.forget()
    onClose()
  }

  const selected = begin ? (begin.agents ?? []) : (limitedTo ?? [])
  const hasSelection = Boolean(
    selected.length > 0 || begin?.tenants || begin?.sources || begin?.allowedHosts.length,
  )
  return (
    <Dialog title={title} onClose={close}>
      <form
        ref={form}
        class="form webhook-form"
        onSubmit={submit}
        onInput={({ currentTarget }) => typed.set({ entries: readEntries(currentTarget) })}
      >
        {children}
        <Restored typed={typed} />
        <Field label={LABELS.url}>
          {(attributes) => (
            <input
              {...attributes}
              name="url"
              type="url"
              required
              maxLength={MAX_WEBHOOK_URL}
              placeholder="https://shop.example/events"
              autocomplete="off"
              spellcheck={false}
              defaultValue={begin?.url ?? ''}
            />
          )}
        </Field>
        <fieldset class="choices" aria-describedby={isWithoutEvents ? `${id}-events` : undefined}>
          <legend>{LABELS.types}</legend>
          {EVENT_TYPES.map((type) => (
            <label key={type}>
              <input
                type="checkbox"
                name="types"
                value={type}
                defaultChecked={begin ? begin.types.includes(type) : isRunEvent(type)}
                onChange={() => setIsWithoutEvents(false)}
              />
              <span>
                {EVENT_LABELS[type]} <code class="muted">{type}</code>
              </span>
            </label>
          ))}
        </fieldset>
        {isWithoutEvents && (
          <p id={`${id}-events`} class="field-error" role="alert">
            Choose at least one event.
          </p>
        )}
        <details open={hasSelection}>
          <summary>Which runs, and private receivers</summary>
          <div class="form">
            <Lines
              name="agents"
              help={
                limitedTo
                  ? 'Slugs or IDs, one per line. Your token is limited to these agents: name some of them.'
                  : 'Slugs or IDs, one per line. Empty: all of them.'
              }
              items={selected.map((agentId) => agents?.get(agentId)?.slug ?? agentId)}
            />
            <Lines
              name="tenants"
              help="One per line. Empty: all of them, and runs without a tenant."
              items={begin?.tenants ?? []}
            />
            <fieldset class="choices">
              <legend>{LABELS.sources}</legend>
              {EVENT_SOURCES.map((source) => (
                <label key={source}>
                  <input
                    type="checkbox"
                    name="sources"
                    value={source}
                    defaultChecked={begin?.sources?.includes(source) ?? true}
                  />
                  {SOURCE_LABELS[source]}
                </label>
              ))}
            </fieldset>
            <Lines
              name="allowedHosts"
              help="Hosts that may have a private address or use plain HTTP, one per line, such as localhost:8080."
              items={begin?.allowedHosts ?? []}
            />
          </div>
        </details>
        {error && <ErrorBox error={withLabels(error, LABELS)} />}
        <div class="actions">
          <button type="button" onClick={close}>
            Close
          </button>
          <button type="submit" class="primary" disabled={isRunning}>
            {label}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

type LinesProps = { name: 'agents' | 'tenants' | 'allowedHosts'; help: string; items: string[] }

/** A list, one item per line. */
const Lines = ({ name, help, items }: LinesProps) => (
  <Field label={LABELS[name]} help={help}>
    {(attributes) => (
      <textarea {...attributes} name={name} rows={2} spellcheck={false} defaultValue={items.join('\n')} />
    )}
  </Field>
)
