import './webhooks.css'
import { useState } from 'preact/hooks'
import type { DeliveryRecord, WebhookRecord } from '../../lib/contract/records/webhook.ts'
import { type Page as ListPage, requestJson, requestPage } from '../api/request.ts'
import { useResource } from '../api/use-resource.ts'
import { Table } from '../components/data.tsx'
import { formatCount, formatCountOf } from '../components/format.ts'
import { ErrorBox, NeedsScope, Page, Spinner } from '../components/page.tsx'
import { useReopen } from '../components/typed-form.tsx'
import { Time } from '../components/values.tsx'
import { VisibleText } from '../components/visible-text.tsx'
import { toHref, toPath } from '../state/location.ts'
import { useScope } from '../state/session.ts'
import { DEFAULT_WEBHOOK, EVENT_TYPES, labelOfEvent, lastOutcomes, stateOf, webhookPath } from './events.ts'
import { SecretDialog, shownSecret } from './secret-dialog.tsx'
import { WebhookDialog, webhookForm } from './webhook-dialog.tsx'
import type { WebhookFields } from './webhook-form.ts'
import { StateBadge, WebhookPage } from './webhook-page.tsx'

export { WebhookPage }

/** All webhooks of the organization. */
export function WebhooksPage() {
  const [isCreating, setIsCreating] = useState(false)
  const mayManage = useScope('manage')
  useReopen(webhookForm(null), mayManage, () => setIsCreating(true))
  const create = (
    <button type="button" class="primary" onClick={() => setIsCreating(true)}>
      Create webhook…
    </button>
  )
  return (
    <Page title="Webhooks" actions={mayManage && create}>
      <NeedsScope scope="read">
        <Webhooks isCreating={isCreating} onClose={() => setIsCreating(false)} />
      </NeedsScope>
      <SecretDialog />
    </Page>
  )
}

function Webhooks({ isCreating, onClose }: { isCreating: boolean; onClose: () => void }) {
  const { data, error, reload } = useResource('webhooks', (signal) =>
    requestJson<WebhookRecord[]>('/v1/webhooks', { signal }),
  )

  async function create(fields: WebhookFields) {
    const body = JSON.stringify(fields)
    const made = await requestJson<WebhookRecord & { secret: string }>('/v1/webhooks', {
      method: 'POST',
      body,
    })
    shownSecret.set({ secret: made.secret, isNew: true, previousSecretExpiresAt: null })
    onClose()
    reload()
  }

  return (
    <div class="stack">
      <p class="muted note">
        A webhook is a URL of yours that is told what happens to runs and batches. Its secret signs what it is
        sent.
      </p>
      {error && <ErrorBox error={error} onRetry={reload} />}
      {!data && !error && <Spinner label="Loading webhooks…" />}
      {data?.length === 0 && (
        <p class="empty">
          There are no webhooks. Create one for a URL that receives events; it can be tested at once.
        </p>
      )}
      {data && data.length > 0 && (
        <Table
          caption="Webhooks, newest first"
          columns={['URL', 'Status', 'Events', 'Last success', 'Last failure']}
        >
          {data.map((webhook) => (
            <Row key={webhook.id} webhook={webhook} />
          ))}
        </Table>
      )}
      <p>
        <a href={toHref(toPath('webhooks', DEFAULT_WEBHOOK))}>URLs that are given with runs</a>{' '}
        <span class="muted">have deliveries and a secret of their own.</span>
      </p>
      {isCreating && (
        <WebhookDialog
          title="Create a webhook"
          label="Create webhook"
          webhook={null}
          save={create}
          onClose={onClose}
        >
          <p class="muted">
            Within 30 seconds, it receives events. Its secret is shown once, after this form. To undo it,
            delete the webhook.
          </p>
        </WebhookDialog>
      )}
    </div>
  )
}

/** Among these, the last success and failure are looked for, without and with a click. */
const LOOKED_AT = 50
const FURTHER = 1_000

function Row({ webhook }: { webhook: WebhookRecord }) {
  const { id, url, types } = webhook
  const [max, setMax] = useState(LOOKED_AT)
  const { data, error } = useResource(`${max}`, (signal) => findOutcomes(id, max, signal))
  const toCell = (outcome: 'success' | 'failure') => {
    if (!data) return <span class="muted">{error ? '?' : '…'}</span>
    if (data[outcome] !== null || !data.hasMore) return <Time value={data[outcome]} />
    return (
      <>
        <span class="muted">None of the newest {formatCount(data.looked)}</span>{' '}
        <button type="button" class="small" onClick={() => setMax(data.looked + FURTHER)}>
          Look further<span class="visually-hidden"> for the last {outcome}</span>
        </button>
      </>
    )
  }
  return (
    <tr class="webhook-row">
      <th scope="row">
        <a href={toHref(toPath('webhooks', id))}>
          <VisibleText text={url} />
        </a>
      </th>
      <td>
        <StateBadge state={stateOf(webhook)} />
      </td>
      <td>
        {types.length === EVENT_TYPES.length ? (
          'All'
        ) : (
          <span title={types.map(labelOfEvent).join(', ')}>
            {types.length > 2 ? formatCountOf(types.length, 'event') : types.map(labelOfEvent).join(', ')}
          </span>
        )}
      </td>
      <td>{toCell('success')}</td>
      <td>{toCell('failure')}</td>
    </tr>
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
