import type { DeliveryRecord, WebhookRecord } from '../../lib/contract/records/webhook.ts'
import { post } from '../api/request.ts'
import { useList } from '../api/use-list.ts'
import { useRecord } from '../api/use-resource.ts'
import { DialogButton } from '../components/form-dialog.tsx'
import { formatCountOf, formatTime } from '../components/format.ts'
import { type Outcome, Outcomes } from '../components/small-charts.tsx'
import { Time } from '../components/values.tsx'
import { TextLink } from '../components/visible-text.tsx'
import { listPage } from '../list-page.tsx'
import { toHref, toPath } from '../state/location.ts'
import { DEFAULT_WEBHOOK, EVENT_TYPES, labelOfEvent, lastOutcomes, stateOf, webhookPath } from './events.ts'
import { SecretDialog, shownSecret } from './secret-dialog.tsx'
import { WebhookDialog, webhookForm } from './webhook-dialog.tsx'
import type { WebhookFields } from './webhook-form.ts'
import { StateBadge } from './webhook-page.tsx'

export { WebhookPage } from './webhook-page.tsx'

export const WebhooksPage = listPage({
  title: 'Webhooks',
  path: '/webhooks',
  scope: 'read',
  note: 'A webhook is a URL of yours that is told what happens to runs and batches. Its secret signs what it is sent.',
  useItems: () => useList<WebhookRecord>('/v1/webhooks'),
  noun: 'webhook',
  caption: 'Webhooks, newest first',
  // Each row takes a request.
  shown: 25,
  useRow: ({ id }) => useRecord<DeliveryRecord[]>(`${webhookPath(id, '/deliveries')}?limit=${LOOKED_AT}`),
  columns: {
    URL: ({ id, url }) => <TextLink href={toHref(toPath('webhooks', id))} text={url} />,
    Status: (webhook) => <StateBadge state={stateOf(webhook)} />,
    Events: ({ types }) => <Events types={types} />,
    'Last ten': (_, { data }) => data && <Outcomes outcomes={data.map(toOutcome)} />,
    'Last success': (_, { data }) => data && <Time value={lastOutcomes(data).success} />,
    'Last failure': (_, { data }) => data && <Time value={lastOutcomes(data).failure} />,
  },
  empty: () => 'There are no webhooks. Create one for a URL that receives events; it can be tested at once.',
  Actions: ({ list }) => (
    <DialogButton class="primary" label="Create webhook…" scope="manage" form={webhookForm(null)}>
      {(close) => (
        <WebhookDialog
          webhook={null}
          save={async (fields) => {
            await create(fields)
            close()
            list.reload()
          }}
          onClose={close}
        />
      )}
    </DialogButton>
  ),
  End: () => (
    <>
      <p>
        <a href={toHref(toPath('webhooks', DEFAULT_WEBHOOK))}>URLs that are given with runs</a>{' '}
        <span class="muted">have deliveries and a secret of their own.</span>
      </p>
      <SecretDialog />
    </>
  ),
})

async function create(fields: WebhookFields): Promise<void> {
  const { secret } = await post<WebhookRecord & { secret: string }>('/v1/webhooks', { json: fields })
  shownSecret.set({ secret, isNew: true, previousSecretExpiresAt: null })
}

function Events({ types }: Pick<WebhookRecord, 'types'>) {
  if (types.length === EVENT_TYPES.length) return 'All'
  const labels = types.map(labelOfEvent).join(', ')
  return <span title={labels}>{types.length > 2 ? formatCountOf(types.length, 'event') : labels}</span>
}

/** Among these, the last success and failure are looked for. */
const LOOKED_AT = 50

function toOutcome({ status, attemptedAt, error, responseStatus }: DeliveryRecord): Outcome {
  const state = status === 'DELIVERED' ? 'success' : status === 'FAILED' || error ? 'error' : 'open'
  return { state, text: `${formatTime(attemptedAt)}: ${error ?? responseStatus ?? status.toLowerCase()}` }
}
