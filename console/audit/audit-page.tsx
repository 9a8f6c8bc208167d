import './audit.css'
import { useCallback, useMemo, useRef } from 'preact/hooks'
import { requestPage } from '../api/request.ts'
import { mergeNewest, usePages } from '../api/use-pages.ts'
import { usePolling } from '../api/use-resource.ts'
import { Table } from '../components/data.tsx'
import { formatCountOf } from '../components/format.ts'
import { ListEnd } from '../components/list-end.tsx'
import { NeedsScope, Page, Spinner } from '../components/page.tsx'
import { Time } from '../components/values.tsx'
import { VisibleText } from '../components/visible-text.tsx'
import { navigate, type Query } from '../state/location.ts'
import {
  auditHref,
  changesOf,
  type Entry,
  type Filters,
  INTERFACE_LABELS,
  isFiltered,
  labelOf,
  parseFilters,
  shorten,
  toApiQuery,
} from './audit.ts'
import { AuditFilters } from './audit-filters.tsx'
import { EntryDialog } from './entry-dialog.tsx'
import { ActorName, ResultBadge, Target } from './entry-values.tsx'

/** Who changed what, newest first. The filters, and the change that is open, are in the URL. */
export function AuditPage({ query }: { query: URLSearchParams }) {
  const text = query.toString()
  const filters = useMemo(() => parseFilters(query), [text])
  return (
    <Page title="Audit log">
      <NeedsScope scope="manage">
        <AuditLog filters={filters} opened={query.get('entry')} />
      </NeedsScope>
    </Page>
  )
}

const PAGE_SIZE = 50

function AuditLog({ filters, opened }: { filters: Filters; opened: string | null }) {
  const { isLive, ...list } = useEntries(filters)
  const { items, next, isLoading, error } = list
  return (
    <div class="stack">
      <AuditFilters
        filters={filters}
        entries={items}
        // The back button leaves the page, however often its filters have changed.
        onChange={(changed) => navigate(auditHref(changed), { replace: true })}
      />
      <p class="muted list-state" role="status">
        {items.length > 0 &&
          (next ? formatCountOf(items.length, 'newest change') : formatCountOf(items.length, 'change'))}
        {!isLive && ' · Updates are interrupted: the service does not respond. Trying again…'}
      </p>
      {items.length === 0 && isLoading && <Spinner label="Loading changes…" />}
      {items.length > 0 && (
        <Table
          caption="Changes, newest first"
          columns={['Time', 'Action', 'What', 'By', 'Result', 'Requested', 'From']}
        >
          {items.map((entry) => (
            <Row key={entry.id} entry={entry} href={auditHref(filters, entry.id)} />
          ))}
        </Table>
      )}
      {items.length === 0 && !isLoading && !error && <Empty filters={filters} />}
      <ListEnd {...list} />
      {opened !== null && (
        <EntryDialog
          key={opened}
          entryId={opened}
          entry={items.find(({ id }) => id === opened)}
          closedHref={auditHref(filters)}
        />
      )}
    </div>
  )
}

const POLL_MS = 30_000
/** What one poll compares the list with. */
const NEWEST = 100
/** Changes that started so long before the last poll may have a result meanwhile. */
const OVERLAP_MS = 60_000

/** The list, and what is new in it: a poll reads the last minute, which costs little however long the log is. */
function useEntries(filters: Filters) {
  const key = JSON.stringify(filters)
  const latestKey = useRef(key)
  latestKey.current = key
  /** The time of the service when it was asked last. */
  const asOf = useRef(Number.NaN)
  const load = async (query: Query | URLSearchParams, signal?: AbortSignal) => {
    const page = await requestPage<Entry>('/v1/audit', { query, signal })
    return { ...page, time: Date.parse(page.headers.get('Date') ?? '') || Date.now() }
  }
  const list = usePages<Entry>(key, async (next, signal) => {
    if (next) return load(next, signal)
    const page = await load({ ...toApiQuery(filters, Date.now()), limit: PAGE_SIZE }, signal)
    asOf.current = page.time
    return page
  })
  const poll = useCallback(async () => {
    if (Number.isNaN(asOf.current)) return null
    const query = toApiQuery(filters, asOf.current)
    const from = new Date(asOf.current - OVERLAP_MS).toISOString()
    if (query.to && String(query.to) <= from) return null
    const page = await load({
      ...query,
      from: query.from && String(query.from) > from ? query.from : from,
      limit: NEWEST,
    })
    if (latestKey.current !== key) return null
    asOf.current = page.time
    if (page.next) list.reload()
    else list.update((listed) => mergeNewest(listed, page.items))
    return page.items
  }, [key])
  return { ...list, isLive: usePolling(poll, key, POLL_MS) }
}

/** Of what was changed, so much is in the list. */
const SHOWN_CHANGES = 2

function Row({ entry, href }: { entry: Entry; href: string }) {
  const { at, action, actor, source } = entry
  const changes = changesOf(entry)
  return (
    <tr class="audit-row">
      <td>
        <Time value={at} />
      </td>
      <th scope="row">
        <a href={href}>
          <VisibleText text={labelOf(action)} />
        </a>
      </th>
      <td class="audit-text">
        <Target entry={entry} />
      </td>
      <td class="audit-text">
        <ActorName actor={actor} />
      </td>
      <td>
        <ResultBadge entry={entry} />
      </td>
      <td class="audit-text">
        {changes.slice(0, SHOWN_CHANGES).map(({ name, from, to }) => (
          <div key={name}>
            <VisibleText text={name} class="muted" />{' '}
            {from !== undefined && (
              <>
                <VisibleText text={shorten(from)} />
                {' → '}
              </>
            )}
            <VisibleText text={shorten(to)} />
          </div>
        ))}
        {changes.length > SHOWN_CHANGES && (
          <span class="muted">and {formatCountOf(changes.length - SHOWN_CHANGES, 'other')}</span>
        )}
      </td>
      <td class="audit-text">
        {source.interface === 'HTTP' ? '' : `${INTERFACE_LABELS[source.interface] ?? source.interface} `}
        {(source.ip ?? source.host) !== undefined && <VisibleText text={source.ip ?? source.host ?? ''} />}
      </td>
    </tr>
  )
}

const Empty = ({ filters }: { filters: Filters }) => (
  <p class="empty">
    {isFiltered(filters)
      ? 'No change matches these filters.'
      : 'Nothing was changed yet. Changes such as publishing an agent, promoting a version, setting limits or deleting something are recorded here.'}
  </p>
)
