import { useEffect, useRef } from 'preact/hooks'
import type { DeliveryRecord } from '../../lib/contract/records/webhook.ts'
import { type List, mergeNewest, useList } from '../api/use-list.ts'
import { Views } from '../components/filter-bar.tsx'
import { parseFilters } from '../components/filters.ts'
import { DialogButton } from '../components/form-dialog.tsx'
import { formatCount, formatCountOf } from '../components/format.ts'
import { ListView } from '../components/list.tsx'
import { Card } from '../components/page.tsx'
import { Time } from '../components/values.tsx'
import { say, TextLink } from '../components/visible-text.tsx'
import { hrefHere } from '../state/location.ts'
import { DeliveryBadge, DeliveryDialog, SubjectLink } from './delivery-dialog.tsx'
import { labelOfEvent, webhookPath } from './events.ts'
import { RedeliverDialog } from './redeliver-dialog.tsx'

const PAGE_SIZE = 50

const VIEWS = {
  show: {
    label: 'Deliveries that are shown',
    choices: { all: 'All', failed: 'Not delivered' },
    default: 'all',
  },
}

type Props = {
  /** Or `default`. */
  webhookId: string
  /** Null: each run names its own. */
  url: string | null
  query: URLSearchParams
  /** Something was sent: the webhook may have changed, too. */
  onNews: () => void
}

export function Deliveries({ webhookId, url, query, onNews }: Props) {
  const { show } = parseFilters(VIEWS, query)
  const opened = query.get('delivery')
  const list = useList<DeliveryRecord>(webhookPath(webhookId, '/deliveries'), {
    query: { limit: PAGE_SIZE },
    poll: { everyMs: () => 15_000 },
  })
  const { items, isLoading } = list
  useNews(list, onNews)
  const change = (changed: DeliveryRecord) => list.update((all) => mergeNewest(all, [changed]))
  return (
    <Card
      title="Deliveries"
      class="stack"
      actions={
        <div class="actions">
          <Views filters={VIEWS} values={{ show }} />
          <DialogButton label="Redeliver failed…" scope="manage">
            {(close) => <RedeliverDialog webhookId={webhookId} onChange={change} onClose={close} />}
          </DialogButton>
        </div>
      }
    >
      <ListView
        list={list}
        found={show === 'failed' ? items.filter(({ status }) => status !== 'DELIVERED') : items}
        noun="delivery"
        plural="deliveries"
        isUncounted
        caption="Deliveries, those of the newest runs and batches first"
        columns={{
          Event: ({ id, type }) => <TextLink href={hrefHere({ delivery: id })} text={labelOfEvent(type)} />,
          About: (delivery) => <SubjectLink delivery={delivery} />,
          Status: ({ status }) => <DeliveryBadge status={status} />,
          Attempts: { numeric: ({ attempts }) => formatCount(attempts) },
          Answer: {
            text: ({ responseStatus, error }) =>
              say`${responseStatus !== null && <code>{responseStatus}</code>} ${error}`,
          },
          'Last attempt': ({ attemptedAt }) => <Time value={attemptedAt} />,
          'Next attempt': ({ nextAttemptAt }) => <Time value={nextAttemptAt} />,
        }}
        empty={
          items.length === 0
            ? 'Nothing was sent yet. Start a run, or send a test event: tests are not listed.'
            : `None of the newest ${formatCountOf(items.length, 'delivery', 'deliveries')} is waiting or has failed.`
        }
      />
      {opened !== null && !(isLoading && items.length === 0) && (
        <DeliveryDialog
          key={opened}
          {...{ webhookId, url }}
          deliveryId={opened}
          delivery={items.find(({ id }) => id === opened) ?? null}
          lookedAt={items.length}
          onChange={change}
        />
      )}
    </Card>
  )
}

/** Tells when something else was sent than what was loaded at first. */
function useNews({ items, isLoading }: List<DeliveryRecord>, onNews: () => void): void {
  const known = useRef<string | null>(null)
  const text = JSON.stringify(
    items.slice(0, PAGE_SIZE).map(({ id, attempts, status }) => [id, attempts, status]),
  )
  useEffect(() => {
    if (isLoading) return
    if (known.current !== null && known.current !== text) onNews()
    known.current = text
  }, [text, isLoading])
}
