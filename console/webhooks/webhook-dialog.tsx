import { useState } from 'preact/hooks'
import type { WebhookRecord } from '../../lib/contract/records/webhook.ts'
import { MAX_WEBHOOK_URL } from '../../lib/core/limits.ts'
import type { WebhookEventType } from '../../lib/core/notification.ts'
import { useAgents } from '../api/agents.ts'
import { TextField } from '../components/field.tsx'
import { labelsOf } from '../components/fields.tsx'
import { FormDialog } from '../components/form-dialog.tsx'
import { useTypedForm } from '../components/typed-form.tsx'
import { useMe } from '../state/session.ts'
import { EVENT_LABELS, EVENT_SOURCES, SOURCE_LABELS } from './events.ts'
import { toFields, toForm, type WebhookFields } from './webhook-form.ts'

type Props = {
  /** Null: a new one. */
  webhook: WebhookRecord | null
  save: (fields: WebhookFields) => Promise<void>
  onClose: () => void
}

export const webhookForm = (webhook: WebhookRecord | null): string => `webhook ${webhook?.id ?? ''}`

const SELECTION = {
  tenants: {
    ...{ label: 'Tenants', isLong: true },
    help: 'One per line. Empty: all of them, and runs without a tenant.',
  },
  sources: {
    label: 'Started by',
    checks: EVENT_SOURCES.map((source) => [source, SOURCE_LABELS[source]] as const),
  },
  allowedHosts: {
    ...{ label: 'Allowed hosts', isLong: true },
    help: 'Hosts that may have a private address or use plain HTTP, one per line, such as localhost:8080.',
  },
}

const FIELDS = {
  url: {
    ...{ label: 'URL', type: 'url' as const, required: true, maxLength: MAX_WEBHOOK_URL },
    placeholder: 'https://shop.example/events',
  },
  types: {
    label: 'Events',
    checks: Object.entries(EVENT_LABELS).map(
      ([type, label]) =>
        [
          type as WebhookEventType,
          <>
            {label} <code class="muted">{type}</code>
          </>,
        ] as const,
    ),
  },
  agents: { label: 'Agents', isLong: true },
  ...SELECTION,
}

export function WebhookDialog({ webhook, save, onClose }: Props) {
  const listed = useAgents()
  const limitedTo = useMe()?.agents ?? null
  const typed = useTypedForm(webhookForm(webhook), () => toForm(webhook))
  const { form } = typed
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
    <FormDialog
      title={webhook ? 'Edit the webhook' : 'Create a webhook'}
      submit={webhook ? 'Save webhook' : 'Create webhook'}
      labels={labelsOf(FIELDS)}
      {...{ typed, validate, send, onClose }}
    >
      <p class="muted">
        {webhook
          ? 'Changes take effect within 30 seconds, also for deliveries that are tried again. Edit it again to undo them.'
          : 'Within 30 seconds, it receives events. Its secret is shown once, after this form. To undo it, delete the webhook.'}
      </p>
      {typed.fields({
        url: FIELDS.url,
        types: { ...FIELDS.types, problem: hasTried && isWithoutEvents && 'Choose at least one event.' },
      })}
      <details open={hasSelection}>
        <summary>Which runs, and private receivers</summary>
        <div class="form">
          <TextField
            {...FIELDS.agents}
            help={`Slugs or IDs, one per line. ${limitedTo ? 'Your token is limited to these agents: name some of them.' : 'Empty: all of them.'}`}
            value={agents}
            onChange={(text) => typed.set({ agents: text })}
          />
          {typed.fields(SELECTION)}
        </div>
      </details>
    </FormDialog>
  )
}
