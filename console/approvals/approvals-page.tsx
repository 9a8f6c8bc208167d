import './approvals.css'
import type { ComponentProps } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { ApprovalRecord } from '../../lib/contract/records/approval.ts'
import { requestPage } from '../api/request.ts'
import { useList } from '../api/use-list.ts'
import { useResource } from '../api/use-resource.ts'
import { AGENT_FILTER, TENANT_FILTER } from '../components/filters.ts'
import { shorten } from '../components/format.ts'
import { ListEnd, ListState } from '../components/list.tsx'
import { Spinner } from '../components/page.tsx'
import { AgentLink } from '../components/values.tsx'
import { TextLink, VisibleText } from '../components/visible-text.tsx'
import { type BodyProps, listPage } from '../list-page.tsx'
import { hrefHere, navigate } from '../state/location.ts'
import { useMe } from '../state/session.ts'
import { ApprovalDetail, TimeLeft } from './approval-detail.tsx'
import { findSame, keyOf, mergeOpen, nextKey, searchApprovals, shownValues } from './approvals.ts'
import { type Decided, decidedKeys } from './decisions.ts'
import { PastApproval } from './past-approval.tsx'
import { Receipts, useDecisions, useLock } from './receipts.tsx'

export { DecidedPage } from './decided-page.tsx'

export const ApprovalsPage = listPage({
  title: 'Approvals',
  path: '/approvals',
  filters: {
    ...AGENT_FILTER,
    ...TENANT_FILTER,
    search: { label: 'Title', type: 'search', placeholder: 'Contains' },
  },
  useItems: ({ agent, tenantId }) =>
    useList<ApprovalRecord>('/v1/approvals', {
      query: { agent, tenantId, limit: 50 },
      keyOf,
      poll: {
        everyMs: () => 10_000,
        async read(list, signal) {
          const query = { agent, tenantId, fields: 'summary', limit: 100 }
          const { items, next } = await requestPage<ApprovalRecord>('/v1/approvals', { query, signal })
          // What one poll compares the list with is all that is open.
          if (next) return items
          if (mergeOpen(list.items, items).hasNew) list.reload()
          else list.update((listed) => mergeOpen(listed, items).remaining)
          return items
        },
      },
    }),
  find: (approvals, { search }) => searchApprovals(approvals, search),
  noun: 'open approval',
  caption: 'Open approvals',
  empty: () => <NothingWaits />,
  Actions: () => <a href="#/approvals/decided">Past decisions</a>,
  Body: Inbox,
})

function Inbox({ values, query, empty, ...all }: BodyProps<ApprovalRecord, 'agent' | 'tenantId' | 'search'>) {
  const decided = useDecisions(all.list.update)
  const gone = decidedKeys(decided)
  const isOpen = (each: ApprovalRecord) => !gone.has(keyOf(each))
  const list = { ...all.list, items: all.list.items.filter(isOpen) }
  const found = all.found.filter(isOpen)
  const keys = found.map(keyOf)
  const item = query.get('item')
  // Nothing is below the list until its height is known, so that nothing moves.
  const isLoaded = !list.isLoading || list.items.length > 0
  const view = JSON.stringify(values)
  // The first one stays when newer ones arrive above it: somebody may be typing.
  const pinned = useRef<{ view: string; key: string } | null>(null)
  const [first] = keys
  if (pinned.current?.view !== view) pinned.current = first === undefined ? null : { view, key: first }
  const shown = item ?? pinned.current?.key ?? null

  const [focused, setFocused] = useState<string | null>(null)
  const nothing = useRef<HTMLParagraphElement>(null)
  useEffect(() => {
    if (focused === 'none') nothing.current?.focus()
  }, [focused])
  const [isLocked, lock] = useLock()
  function goOn(decided: string) {
    const next = nextKey(keys, decided)
    pinned.current = null
    setFocused(next ?? 'none')
    lock()
    navigate(hrefHere({ item: next }), { replace: true })
  }
  const approval = list.items.find((each) => keyOf(each) === shown)
  const past = useDecided(approval?.documentId, decided)
  const late = decided.find(({ state }) => state === 'late')?.key
  useEffect(() => {
    if (late !== undefined && shown === null) navigate(hrefHere({ item: late }), { replace: true })
  }, [late])

  return (
    <>
      <Receipts decided={decided} />
      <ListState list={list} found={found.length} noun="open approval" />
      {!isLoaded && <Spinner label="Loading approvals…" />}
      <div class={shown === null ? undefined : 'approvals'}>
        <div class="approvals-list">
          {found.length > 0 && (
            <ul class="plain-list panel lines" aria-label="Open approvals">
              {found.map((approval) => (
                <Row key={keyOf(approval)} approval={approval} isShown={keyOf(approval) === shown} />
              ))}
            </ul>
          )}
          <ListEnd list={list} />
          {found.length === 0 && !list.isLoading && !list.error && (
            <p class="empty" ref={nothing} tabIndex={-1}>
              {empty}
            </p>
          )}
        </div>
        {isLoaded && shown !== null && (
          <Item
            key={shown}
            itemKey={shown}
            approval={approval}
            same={approval ? findSame(approval, [...list.items, ...past]) : []}
            isLocked={isLocked}
            isLoading={list.isLoading}
            isFocused={focused === shown}
            onDecided={() => goOn(shown)}
          />
        )}
      </div>
    </>
  )
}

/** The last decisions on approvals of an agent, so that it is seen what was decided before. */
function useDecided(agent: string | undefined, own: Decided[]): ApprovalRecord[] {
  const sent = own.filter(({ state }) => state === 'sent').length
  const { data } = useResource(`decided ${agent} ${sent}`, async (signal) => {
    if (agent === undefined) return []
    const query = { agent, decided: true, limit: 50 }
    return (await requestPage<ApprovalRecord>('/v1/approvals', { query, signal })).items
  })
  return data ?? []
}

function NothingWaits() {
  const isBound = useMe()?.tenantId != null
  return (
    <>
      Nothing waits for a decision. A run asks for one where its agent calls a tool that needs an approval, or
      waits for one in its code{isBound && '; you see those of your tenant'}.
    </>
  )
}

const Row = ({ approval, isShown }: { approval: ApprovalRecord; isShown: boolean }) => (
  <li>
    <TextLink
      href={hrefHere({ item: keyOf(approval) })}
      aria-current={isShown ? 'true' : undefined}
      text={approval.title}
    />
    <span class="actions muted approvals-facts">
      <AgentLink agentId={approval.documentId} />
      {approval.tenantId !== null && <VisibleText text={approval.tenantId} />}
      {Object.entries(shownValues(approval)).map(([name, value]) => (
        <VisibleText key={name} text={`${name} ${shorten(value, 60)}`} />
      ))}
      <TimeLeft until={approval.until} />
    </span>
  </li>
)

type ItemProps = {
  itemKey: string
  approval: ApprovalRecord | undefined
  isLoading: boolean
} & Omit<ComponentProps<typeof ApprovalDetail>, 'approval'>

/** One approval. What is being decided stays although the list no longer has it. */
function Item({ itemKey, approval, isLoading, ...detail }: ItemProps) {
  const [opened, setOpened] = useState(approval)
  useEffect(() => {
    if (approval && !opened) setOpened(approval)
  }, [approval])
  const given = opened ?? approval
  if (given && (approval || isLoading)) return <ApprovalDetail approval={given} {...detail} />
  if (isLoading) return <Spinner label="Loading the approval…" />
  return <PastApproval itemKey={itemKey} title={given?.title} />
}
