import { useEffect, useRef, useState } from 'preact/hooks'
import type { DeliveryRecord } from '../../lib/contract/records/webhook.ts'
import { requestPage } from '../api/request.ts'
import { mergeNewest, usePages } from '../api/use-pages.ts'
import { usePolling } from '../api/use-resource.ts'
import { Segments, Table } from '../components/data.tsx'
import { formatCount, formatCountOf } from '../components/format.ts'
import { ListEnd } from '../components/list-end.tsx'
import { Spinner } from '../components/page.tsx'
import { Time } from '../components/values.tsx'
import { VisibleText } from '../components/visible-text.tsx'
import { navigate, toHref, toPath } from '../state/location.ts'
import { useScope } from '../state/session.ts'
import { DeliveryDialog } from './delivery-dialog.tsx'
import { DeliveryBadge, SubjectLink } from './delivery-values.tsx'
import { labelOfEvent, webhookPath } from './events.ts'
import { RedeliverDialog } from './redeliver-dialog.tsx'

const PAGE_SIZE = 50
const POLL_MS = 15_000

type Props = {
  /** Or `default`. */
  webhookId: string
  /** Null: each run names its own. */
  url: string | null
  query: URLSearchParams
  /** Something was sent: the webhook may have changed, too. */
  onNews: () => void
}

/** What was sent to a webhook, newest first. Which of them are shown, and which one is open, is in the URL. */
export function Deliveries({ webhookId, url, query, onNews }: Props) {
  const mayManage = useScope('manage')
  const [isRedelivering, setIsRedelivering] = useState(false)
  const isFailedOnly = query.get('show') === 'failed'
  const opened = query.get('delivery')
  const load = (next: URLSearchParams | null, signal?: AbortSignal) =>
    requestPage<DeliveryRecord>(webhookPath(webhookId, '/deliveries'), {
      query: next ?? { limit: PAGE_SIZE },
      signal,
    })
  const { items, next, isLoading, error, loadMore, reload, update } = usePages(webhookId, load)
  const isLive = useNews(
    webhookId,
    items,
    async () => {
      const first = await load(null)
      update((shown) => mergeNewest(shown, first.items))
      return first.items
    },
    onNews,
  )
  const shown = isFailedOnly ? items.filter(({ status }) => status !== 'DELIVERED') : items
  const path = toPath('webhooks', webhookId)
  const show = isFailedOnly ? 'failed' : null
  const found = items.find(({ id }) => id === opened)

  return (
    <section class="card stack" aria-labelledby="deliveries-title">
      <div class="toolbar">
        <h2 id="deliveries-title">Deliveries</h2>
        <div class="actions">
          <Segments
            label="Deliveries that are shown"
            choices={{ all: 'All', failed: 'Not delivered' }}
            chosen={isFailedOnly ? 'failed' : 'all'}
            onChoose={(choice) =>
              navigate(toHref(path, { show: choice === 'failed' ? 'failed' : null }), { replace: true })
            }
          />
          {mayManage && (
            <button type="button" onClick={() => setIsRedelivering(true)}>
              Redeliver failed…
            </button>
          )}
        </div>
      </div>
      {isLoading && items.length === 0 && <Spinner label="Loading deliveries…" />}
      {!isLive && <p class="muted">Updates are interrupted: the service does not respond. Trying again…</p>}
      {shown.length > 0 && (
        <Table
          caption="Deliveries, those of the newest runs and batches first"
          columns={[
            'Event',
            'About',
            'Status',
            { label: 'Attempts', isNumeric: true },
            'Answer',
            'Last attempt',
            'Next attempt',
          ]}
        >
          {shown.map((delivery) => (
            <Row key={delivery.id} delivery={delivery} href={toHref(path, { show, delivery: delivery.id })} />
          ))}
        </Table>
      )}
      {!isLoading && !error && shown.length === 0 && (
        <p class="empty">
          {items.length === 0
            ? 'Nothing was sent yet. Start a run, or send a test event: tests are not listed.'
            : `None of the newest ${formatCountOf(items.length, 'delivery', 'deliveries')} is waiting or has failed.`}
        </p>
      )}
      <ListEnd {...{ next, isLoading, error, loadMore, reload }} />
      {opened !== null && !(isLoading && items.length === 0) && (
        <DeliveryDialog
          key={opened}
          webhookId={webhookId}
          deliveryId={opened}
          delivery={found ?? null}
          lookedAt={items.length}
          url={url}
          onChange={(changed) => update((all) => mergeNewest(all, [changed]))}
          path={path}
          closedHref={toHref(path, { show })}
        />
      )}
      {isRedelivering && (
        <RedeliverDialog
          webhookId={webhookId}
          onChange={(changed) => update((all) => mergeNewest(all, [changed]))}
          onClose={() => setIsRedelivering(false)}
        />
      )}
    </section>
  )
}

/** Looks whether anything was sent. @returns whether the service responds */
function useNews(
  key: string,
  items: DeliveryRecord[],
  poll: () => Promise<DeliveryRecord[]>,
  onNews: () => void,
): boolean {
  const known = useRef('')
  const toText = (deliveries: DeliveryRecord[]) =>
    JSON.stringify(deliveries.slice(0, PAGE_SIZE).map(({ id, attempts, status }) => [id, attempts, status]))
  useEffect(() => {
    known.current = toText(items)
  }, [items])
  return usePolling(
    async () => {
      const before = known.current
      const newest = toText(await poll())
      if (newest !== before) onNews()
      return newest
    },
    key,
    POLL_MS,
  )
}

function Row({ delivery, href }: { delivery: DeliveryRecord; href: string }) {
  const { type, status, attempts, responseStatus, error, attemptedAt, nextAttemptAt } = delivery
  return (
    <tr class="delivery-row">
      <th scope="row">
        <a href={href}>
          <VisibleText text={labelOfEvent(type)} />
        </a>
      </th>
      <td>
        <SubjectLink delivery={delivery} />
      </td>
      <td>
        <DeliveryBadge status={status} />
      </td>
      <td class="numeric">{formatCount(attempts)}</td>
      <td class="delivery-answer">
        {responseStatus !== null && <code>{responseStatus}</code>}{' '}
        {error !== null && <VisibleText text={error} />}
      </td>
      <td>
        <Time value={attemptedAt} />
      </td>
      <td>
        <Time value={nextAttemptAt} />
      </td>
    </tr>
  )
}
