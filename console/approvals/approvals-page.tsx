import './approvals.css'
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { ApprovalRecord } from '../../lib/contract/records/approval.ts'
import { requestPage } from '../api/request.ts'
import { usePages } from '../api/use-pages.ts'
import { usePolling } from '../api/use-resource.ts'
import { AgentTenantFilters } from '../components/agent-tenant-filters.tsx'
import { SearchField } from '../components/field.tsx'
import { formatCountOf, formatSeconds } from '../components/format.ts'
import { ListEnd } from '../components/list-end.tsx'
import { Page, Spinner } from '../components/page.tsx'
import { AgentLink, useNow } from '../components/values.tsx'
import { VisibleText } from '../components/visible-text.tsx'
import { navigate, toHref } from '../state/location.ts'
import { useMe } from '../state/session.ts'
import { countApprovals } from './approval-count.tsx'
import { ApprovalDetail } from './approval-detail.tsx'
import { keyOf, mergeOpen, nextKey, searchApprovals, timeLeft } from './approvals.ts'
import { PastApproval } from './past-approval.tsx'

const PAGE_SIZE = 50
/** What one poll compares the list with. */
const POLLED = 100
const INTERVAL_MS = 10_000

/** What people have to decide. The filters, and what is shown of the list, are in the URL. */
export function ApprovalsPage({ query }: { query: URLSearchParams }) {
  const [agent, tenantId, search, item] = ['agent', 'tenantId', 'search', 'item'].map(
    (name) => query.get(name) ?? '',
  ) as [string, string, string, string]
  const filters = { agent, tenantId }
  const list = usePages<ApprovalRecord>(JSON.stringify(filters), (next, signal) =>
    requestPage('/v1/approvals', { query: next ?? { ...filters, limit: PAGE_SIZE }, signal }),
  )
  const poll = useCallback(async () => {
    const query = { ...filters, fields: 'summary', limit: POLLED }
    const { items, next } = await requestPage<ApprovalRecord>('/v1/approvals', { query })
    const { hasNew } = mergeOpen(latest.current, items)
    if (hasNew && !next) list.reload()
    else if (!next) list.update((listed) => mergeOpen(listed, items).remaining)
    return items
  }, [agent, tenantId])
  const latest = useRef(list.items)
  latest.current = list.items
  const isLive = usePolling(poll, JSON.stringify(filters), INTERVAL_MS)

  const found = useMemo(() => searchApprovals(list.items, search), [list.items, search])
  const keys = found.map(keyOf)
  // Nothing is below the list until its height is known, so that nothing moves.
  const isLoaded = !list.isLoading || list.items.length > 0
  const view = JSON.stringify([agent, tenantId, search])
  // The first one stays when newer ones arrive above it: somebody may be typing.
  const pinned = useRef<{ view: string; key: string } | null>(null)
  const [first] = keys
  if (pinned.current?.view !== view) pinned.current = first === undefined ? null : { view, key: first }
  const shown = item === '' ? (pinned.current?.key ?? null) : item
  const isFiltered = agent !== '' || tenantId !== '' || search !== ''

  const hrefOf = (key: string | null) => toHref('/approvals', { agent, tenantId, search, item: key })
  const change = (filters: { agent?: string; tenantId?: string; search?: string }) =>
    navigate(toHref('/approvals', { agent, tenantId, search, ...filters }), { replace: true })

  const [focused, setFocused] = useState<string | null>(null)
  /** The decided one leaves the list, and the next one gets the focus. */
  function goOn(decided: string) {
    const next = nextKey(keys, decided)
    pinned.current = null
    setFocused(next ?? 'none')
    list.update((listed) => listed.filter((each) => keyOf(each) !== decided))
    navigate(hrefOf(next), { replace: true })
    countApprovals().catch(() => undefined)
  }

  return (
    <Page title="Approvals">
      <AgentTenantFilters agent={agent} tenantId={tenantId} onChange={change}>
        <div>
          <SearchField
            label="Title"
            value={search}
            placeholder="Contains"
            onInput={(text) => change({ search: text })}
          />
        </div>
      </AgentTenantFilters>
      <p class="muted list-state" role="status">
        {isLoaded && !list.error && countOf(found.length, list.next)}
        {!isLive && ' · Updates are interrupted: the service does not respond. Trying again…'}
      </p>
      {!isLoaded && <Spinner label="Loading approvals…" />}
      <div class={shown === null ? undefined : 'approvals'}>
        <div class="approvals-list">
          {found.length > 0 && (
            <ul aria-label="Open approvals">
              {found.map((approval) => (
                <Row
                  key={keyOf(approval)}
                  approval={approval}
                  href={hrefOf(keyOf(approval))}
                  isShown={keyOf(approval) === shown}
                />
              ))}
            </ul>
          )}
          <ListEnd {...list} />
          {found.length === 0 && !list.isLoading && !list.error && (
            <Empty isFiltered={isFiltered} isFocused={focused === 'none'} />
          )}
        </div>
        {isLoaded && shown !== null && (
          <Item
            key={shown}
            itemKey={shown}
            approval={list.items.find((each) => keyOf(each) === shown)}
            isLoading={list.isLoading}
            isFocused={focused === shown}
            onDecided={() => goOn(shown)}
          />
        )}
      </div>
    </Page>
  )
}

const countOf = (count: number, next: URLSearchParams | null) =>
  `${formatCountOf(count, 'open approval')}${next ? ' so far' : ''}`

type RowProps = { approval: ApprovalRecord; href: string; isShown: boolean }

function Row({ approval, href, isShown }: RowProps) {
  const now = useNow()
  const left = timeLeft(approval.until, now)
  return (
    <li>
      <a href={href} aria-current={isShown ? 'true' : undefined}>
        <VisibleText text={approval.title} />
      </a>
      <span class="muted approvals-facts">
        <AgentLink agentId={approval.documentId} />
        {approval.tenantId !== null && <VisibleText text={approval.tenantId} />}
        <span>{left === 0 ? 'time is over' : `${formatSeconds(left)} left`}</span>
      </span>
    </li>
  )
}

type ItemProps = {
  itemKey: string
  /** Undefined: it is not in the list. */
  approval: ApprovalRecord | undefined
  isLoading: boolean
  isFocused: boolean
  onDecided: () => void
}

/** One approval. What is being decided stays although the list no longer has it. */
function Item({ itemKey, approval, isLoading, isFocused, onDecided }: ItemProps) {
  const [opened, setOpened] = useState(approval)
  useEffect(() => {
    if (approval && !opened) setOpened(approval)
  }, [approval])
  const given = opened ?? approval
  if (given && (approval || isLoading))
    return <ApprovalDetail approval={given} isFocused={isFocused} onDecided={onDecided} />
  if (isLoading) return <Spinner label="Loading the approval…" />
  return <PastApproval itemKey={itemKey} title={given?.title} />
}

function Empty({ isFiltered, isFocused }: { isFiltered: boolean; isFocused: boolean }) {
  const element = useRef<HTMLParagraphElement>(null)
  const me = useMe()
  useEffect(() => {
    if (isFocused) element.current?.focus()
  }, [isFocused])
  return (
    <p class="empty" ref={element} tabIndex={-1}>
      {isFiltered ? (
        'No open approval matches these filters.'
      ) : (
        <>
          Nothing waits for a decision. A run asks for one where its agent calls a tool that needs an
          approval, or waits for one in its code{me?.tenantId != null && '; you see those of your tenant'}.
        </>
      )}
    </p>
  )
}
