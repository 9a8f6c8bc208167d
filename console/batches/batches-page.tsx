import './batches.css'
import { useCallback, useState } from 'preact/hooks'
import type { BatchRecord } from '../../lib/contract/records/batch.ts'
import { requestPage } from '../api/request.ts'
import { mergeNewest, usePages } from '../api/use-pages.ts'
import { usePolling } from '../api/use-resource.ts'
import { AgentTenantFilters } from '../components/agent-tenant-filters.tsx'
import { Table } from '../components/data.tsx'
import { formatCount, formatCountOf, shortId } from '../components/format.ts'
import { ListEnd } from '../components/list-end.tsx'
import { NeedsScope, Page, Spinner } from '../components/page.tsx'
import { useReopen } from '../components/typed-form.tsx'
import { AgentLink, Time } from '../components/values.tsx'
import { VisibleText } from '../components/visible-text.tsx'
import { navigate, toHref, toPath } from '../state/location.ts'
import { useScope } from '../state/session.ts'
import { BatchPage } from './batch-page.tsx'
import { formatBatchCost } from './batches.ts'
import { BatchStatus, ProgressBar } from './progress.tsx'
import { batchForm, StartBatchDialog } from './start-batch-dialog.tsx'

export { BatchPage }

const PAGE_SIZE = 50
/** What a poll asks for. */
const NEWEST = 20
const OPEN_INTERVAL_MS = 5_000
const IDLE_INTERVAL_MS = 30_000

/** All batches, newest first. The filters are in the URL. */
export function BatchesPage({ query }: { query: URLSearchParams }) {
  const [agent, tenantId] = [query.get('agent') ?? '', query.get('tenantId') ?? '']
  const mayRun = useScope('run')
  const [isStarting, setIsStarting] = useState(false)
  useReopen(batchForm(agent), mayRun, () => setIsStarting(true))
  return (
    <Page
      title="Batches"
      actions={
        mayRun && (
          <button type="button" class="primary" onClick={() => setIsStarting(true)}>
            Start a batch…
          </button>
        )
      }
    >
      <NeedsScope scope="read">
        <AgentTenantFilters
          agent={agent}
          tenantId={tenantId}
          onChange={(change) =>
            navigate(toHref('/batches', { agent, tenantId, ...change }), { replace: true })
          }
        />
        <Batches agent={agent} tenantId={tenantId} />
      </NeedsScope>
      {isStarting && <StartBatchDialog agent={agent} onClose={() => setIsStarting(false)} />}
    </Page>
  )
}

function Batches({ agent, tenantId }: { agent: string; tenantId: string }) {
  const filters = { agent, tenantId }
  const list = usePages<BatchRecord>(JSON.stringify(filters), (next, signal) =>
    requestPage('/v1/batches', { query: next ?? { ...filters, limit: PAGE_SIZE }, signal }),
  )
  const isOpen = list.items.some(({ status }) => status !== 'ENDED')
  const poll = useCallback(async () => {
    const query = { ...filters, limit: NEWEST }
    const { items } = await requestPage<BatchRecord>('/v1/batches', { query })
    list.update((listed) => mergeNewest(listed, items))
    return items
  }, [agent, tenantId])
  const interval = isOpen ? OPEN_INTERVAL_MS : IDLE_INTERVAL_MS
  const isLive = usePolling(poll, `${JSON.stringify(filters)} ${interval}`, interval)
  const { items, isLoading, error } = list
  return (
    <div class="stack">
      <p class="muted list-state">
        {items.length > 0 &&
          (list.next
            ? formatCountOf(items.length, 'newest batch', 'newest batches')
            : formatCountOf(items.length, 'batch', 'batches'))}
        {!isLive && ' · Updates are interrupted: the service does not respond. Trying again…'}
      </p>
      {items.length === 0 && isLoading && <Spinner label="Loading batches…" />}
      {items.length > 0 && (
        <Table
          caption="Batches, newest first"
          columns={[
            'Batch',
            'Agent',
            'Status',
            'Progress',
            { label: 'Failed', isNumeric: true },
            { label: 'Cost', isNumeric: true },
            'Tenant',
            'Started',
          ]}
        >
          {items.map((batch) => (
            <Row key={batch.id} batch={batch} />
          ))}
        </Table>
      )}
      {items.length === 0 && !isLoading && !error && (
        <NoBatches isFiltered={agent !== '' || tenantId !== ''} />
      )}
      <ListEnd {...list} />
    </div>
  )
}

function Row({ batch }: { batch: BatchRecord }) {
  const { id, counts, lines } = batch
  return (
    <tr class="batch-row">
      <th scope="row">
        <a class="mono" href={toHref(toPath('batches', id))} title={id}>
          {shortId(id)}
        </a>
      </th>
      <td>
        <AgentLink agentId={batch.documentId} />
      </td>
      <td>
        <BatchStatus batch={batch} />
      </td>
      <td>
        <ProgressBar batch={batch} />
        <span class="muted">
          {formatCount(counts.SUCCESS + counts.ERROR)} of {formatCount(lines)}
        </span>
      </td>
      <td class="numeric">{formatCount(counts.ERROR)}</td>
      <td class="numeric">{formatBatchCost(batch)}</td>
      <td>{batch.tenantId === null ? '–' : <VisibleText text={batch.tenantId} />}</td>
      <td>
        <Time value={batch.createdAt} />
      </td>
    </tr>
  )
}

const NoBatches = ({ isFiltered }: { isFiltered: boolean }) => (
  <p class="empty">
    {isFiltered
      ? 'No batch matches these filters.'
      : 'There are no batches yet. A batch runs an agent with up to 10,000 inputs: start one with a file of JSON lines.'}
  </p>
)
