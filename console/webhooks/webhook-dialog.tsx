import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { WebhookRecord } from '../../lib/contract/records/webhook.ts'
import { MAX_WEBHOOK_URL } from '../../lib/core/limits.ts'
import { useAgents } from '../api/agents.ts'
import { AreaField, CheckList, TextField } from '../components/field.tsx'
import { FormDialog } from '../components/form-dialog.tsx'
import { useTypedForm } from '../components/typed-form.tsx'
import { useMe } from '../state/session.ts'
import { EVENT_LABELS, EVENT_SOURCES, EVENT_TYPES, SOURCE_LABELS } from './events.ts'
import { LABELS, toFields, toForm, type WebhookFields } from './webhook-form.ts'

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
  const listed = useAgents()
  const limitedTo = useMe()?.agents ?? null
  const typed = useTypedForm(webhookForm(webhook), () => toForm(webhook))
  const { form, field } = typed
  const [hasTried, setHasTried] = useState(false)
  const isWithoutEvents = form.types.length === 0
  // By their slugs, once these are known.
  const begun = (webhook ? webhook.agents : limitedTo)?.map((id) => listed?.get(id)?.slug ?? id)
  const agents = form.agents ?? begun?.join('\n') ?? ''
  const [hasSelection] = useState(
    agents !== '' ||
      form.tenants !== '' ||
      form.allowedHosts !== '' ||
      form.sources.length < EVENT_SOURCES.length,
  )
  function validate(element: HTMLFormElement): boolean {
    setHasTried(true)
    if (isWithoutEvents) element.querySelector<HTMLInputElement>('[name=types]')?.focus()
    return !isWithoutEvents
  }
  async function send() {
    const idOf = (name: string) => [...(listed?.values() ?? [])].find(({ slug }) => slug === name)?.id ?? name
    const fields = toFields({ ...form, agents })
    await save({ ...fields, agents: fields.agents?.map(idOf) ?? null })
  }
  return (
    <FormDialog {...{ title, typed, validate, send, onClose }} submit={label} labels={LABELS}>
      {children}
      <TextField
        label={LABELS.url}
        {...field('url')}
        type="url"
        required
        maxLength={MAX_WEBHOOK_URL}
        placeholder="https://shop.example/events"
      />
      <CheckList
        label={LABELS.types}
        name="types"
        {...field('types')}
        choices={EVENT_TYPES.map((type) => [
          type,
          <>
            {EVENT_LABELS[type]} <code class="muted">{type}</code>
          </>,
        ])}
        problem={hasTried && isWithoutEvents && 'Choose at least one event.'}
      />
      <details open={hasSelection}>
        <summary>Which runs, and private receivers</summary>
        <div class="form">
          <AreaField
            label={LABELS.agents}
            help={
              limitedTo
                ? 'Slugs or IDs, one per line. Your token is limited to these agents: name some of them.'
                : 'Slugs or IDs, one per line. Empty: all of them.'
            }
            value={agents}
            onChange={(text) => typed.set({ agents: text })}
          />
          <AreaField
            label={LABELS.tenants}
            help="One per line. Empty: all of them, and runs without a tenant."
            {...field('tenants')}
          />
          <CheckList
            label={LABELS.sources}
            {...field('sources')}
            choices={EVENT_SOURCES.map((source) => [source, SOURCE_LABELS[source]])}
          />
          <AreaField
            label={LABELS.allowedHosts}
            help="Hosts that may have a private address or use plain HTTP, one per line, such as localhost:8080."
            {...field('allowedHosts')}
          />
        </div>
      </details>
    </FormDialog>
  )
}
