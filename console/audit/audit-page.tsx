import { useRef } from 'preact/hooks'
import { requestPage } from '../api/request.ts'
import { type List, mergeNewest, useList } from '../api/use-list.ts'
import { formatCountOf } from '../components/format.ts'
import { Time } from '../components/values.tsx'
import { say, TextLink, VisibleText } from '../components/visible-text.tsx'
import { listPage } from '../list-page.tsx'
import { hrefHere, type Query } from '../state/location.ts'
import {
  changesOf,
  type Entry,
  FILTERS,
  type Filters,
  INTERFACE_LABELS,
  labelOf,
  shorten,
  toApiQuery,
} from './audit.ts'
import { EntryDialog } from './entry-dialog.tsx'
import { ActorName, ResultBadge, Target } from './entry-values.tsx'

export const AuditPage = listPage({
  title: 'Audit log',
  path: '/audit',
  scope: 'manage',
  filters: FILTERS,
  useItems: useEntries,
  noun: 'change',
  caption: 'Changes, newest first',
  columns: {
    Time: ({ at }) => <Time value={at} />,
    Action: {
      header: ({ id, action }) => <TextLink href={hrefHere({ entry: id })} text={labelOf(action)} />,
    },
    What: { text: (entry) => <Target entry={entry} /> },
    By: { text: ({ actor }) => <ActorName actor={actor} /> },
    Result: (entry) => <ResultBadge entry={entry} />,
    Requested: { text: (entry) => <Changes entry={entry} /> },
    From: {
      text: ({ source }) => (
        <>
          {source.interface === 'HTTP' ? '' : `${INTERFACE_LABELS[source.interface] ?? source.interface} `}
          <VisibleText text={source.ip ?? source.host ?? ''} />
        </>
      ),
    },
  },
  empty: () =>
    'Nothing was changed yet. Changes such as publishing an agent, promoting a version, setting limits or deleting something are recorded here.',
  End: ({ list: { items }, query }) => {
    const opened = query.get('entry')
    if (opened === null) return null
    return <EntryDialog key={opened} entryId={opened} entry={items.find(({ id }) => id === opened)} />
  },
})

/** What one poll compares the list with. */
const NEWEST = 100
/** Changes that started so long before the last poll may have a result meanwhile. */
const OVERLAP_MS = 60_000

/** The list, and what is new in it: a poll reads the last minute, which costs little however long the log is. */
function useEntries(filters: Filters): List<Entry> {
  /** The time of the service when it was asked last. */
  const asOf = useRef(Number.NaN)
  async function load(query: Query | URLSearchParams, signal: AbortSignal) {
    const page = await requestPage<Entry>('/v1/audit', { query, signal })
    if (!(query instanceof URLSearchParams))
      asOf.current = Date.parse(page.headers.get('Date') ?? '') || Date.now()
    return page
  }
  return useList('/v1/audit', {
    query: filters,
    load: (next, signal) => load(next ?? { ...toApiQuery(filters, Date.now()), limit: 50 }, signal),
    poll: {
      everyMs: () => 30_000,
      async read(list, signal) {
        if (Number.isNaN(asOf.current)) return null
        const query = toApiQuery(filters, asOf.current)
        const from = new Date(asOf.current - OVERLAP_MS).toISOString()
        if (query.to && String(query.to) <= from) return null
        const since = query.from && String(query.from) > from ? query.from : from
        const page = await load({ ...query, from: since, limit: NEWEST }, signal)
        if (page.next) list.reload()
        else list.update((listed) => mergeNewest(listed, page.items))
        return page.items
      },
    },
  })
}

const SHOWN_CHANGES = 2

function Changes({ entry }: { entry: Entry }) {
  const changes = changesOf(entry)
  return (
    <>
      {changes.slice(0, SHOWN_CHANGES).map(({ name, from, to }) => (
        <div key={name}>
          <VisibleText text={name} class="muted" /> {from !== undefined && say`${shorten(from)} → `}
          <VisibleText text={shorten(to)} />
        </div>
      ))}
      {changes.length > SHOWN_CHANGES && (
        <span class="muted">and {formatCountOf(changes.length - SHOWN_CHANGES, 'other')}</span>
      )}
    </>
  )
}
