import { useState } from 'preact/hooks'
import type { DeliveryRecord, WebhookRecord } from '../../lib/contract/records/webhook.ts'
import { type Page as ListPage, requestJson, requestPage } from '../api/request.ts'
import { useList } from '../api/use-list.ts'
import { useResource } from '../api/use-resource.ts'
import { DialogButton } from '../components/form-dialog.tsx'
import { formatCount, formatCountOf } from '../components/format.ts'
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

/** All webhooks of the organization. */
export const WebhooksPage = listPage({
  title: 'Webhooks',
  path: '/webhooks',
  scope: 'read',
  note: 'A webhook is a URL of yours that is told what happens to runs and batches. Its secret signs what it is sent.',
  useItems: () => useList<WebhookRecord>('/v1/webhooks'),
  noun: 'webhook',
  caption: 'Webhooks, newest first',
  useRow: useOutcomes,
  columns: {
    URL: ({ id, url }) => <TextLink href={toHref(toPath('webhooks', id))} text={url} />,
    Status: (webhook) => <StateBadge state={stateOf(webhook)} />,
    Events: ({ types }) => <Events types={types} />,
    'Last success': (_, outcomes) => <LastTime outcomes={outcomes} outcome="success" />,
    'Last failure': (_, outcomes) => <LastTime outcomes={outcomes} outcome="failure" />,
  },
  empty: () => 'There are no webhooks. Create one for a URL that receives events; it can be tested at once.',
  Actions: ({ list }) => (
    <DialogButton class="primary" label="Create webhook…" scope="manage" form={webhookForm(null)}>
      {(close) => (
        <WebhookDialog
          title="Create a webhook"
          label="Create webhook"
          webhook={null}
          save={async (fields) => {
            await create(fields)
            close()
            list.reload()
          }}
          onClose={close}
        >
          <p class="muted">
            Within 30 seconds, it receives events. Its secret is shown once, after this form. To undo it,
            delete the webhook.
          </p>
        </WebhookDialog>
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
  const { secret } = await requestJson<WebhookRecord & { secret: string }>('/v1/webhooks', {
    method: 'POST',
    body: JSON.stringify(fields),
  })
  shownSecret.set({ secret, isNew: true, previousSecretExpiresAt: null })
}

function Events({ types }: Pick<WebhookRecord, 'types'>) {
  if (types.length === EVENT_TYPES.length) return 'All'
  const labels = types.map(labelOfEvent).join(', ')
  return <span title={labels}>{types.length > 2 ? formatCountOf(types.length, 'event') : labels}</span>
}

/** Among these, the last success and failure are looked for, without and with a click. */
const LOOKED_AT = 50
const FURTHER = 1_000

function useOutcomes({ id }: WebhookRecord) {
  const [max, setMax] = useState(LOOKED_AT)
  const { data, error } = useResource(`${max}`, (signal) => findOutcomes(id, max, signal))
  return { data, error, lookFurther: () => setMax((data?.looked ?? 0) + FURTHER) }
}

type TimeProps = { outcomes: ReturnType<typeof useOutcomes>; outcome: 'success' | 'failure' }

function LastTime({ outcomes: { data, error, lookFurther }, outcome }: TimeProps) {
  if (!data) return <span class="muted">{error ? '?' : '…'}</span>
  if (data[outcome] !== null || !data.hasMore) return <Time value={data[outcome]} />
  return (
    <>
      <span class="muted">None of the newest {formatCount(data.looked)}</span>{' '}
      <button type="button" class="small" onClick={lookFurther}>
        Look further<span class="visually-hidden"> for the last {outcome}</span>
      </button>
    </>
  )
}

/** `looked`: among how many deliveries; `hasMore`: whether there are older ones. */
type Outcomes = ReturnType<typeof lastOutcomes> & { looked: number; hasMore: boolean }

/** The last success and failure, among the newest deliveries until both are found. */
async function findOutcomes(id: string, max: number, signal: AbortSignal): Promise<Outcomes> {
  const looked: DeliveryRecord[] = []
  let query: { limit: number } | URLSearchParams | null = { limit: Math.min(max, 100) }
  while (query && looked.length < max) {
    const page: ListPage<DeliveryRecord> = await requestPage(webhookPath(id, '/deliveries'), {
      query,
      signal,
    })
    looked.push(...page.items)
    query = page.next
    const { success, failure } = lastOutcomes(looked)
    if (success !== null && failure !== null) break
  }
  return { ...lastOutcomes(looked), looked: looked.length, hasMore: query !== null }
}
