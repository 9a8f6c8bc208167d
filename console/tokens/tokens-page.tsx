import './tokens.css'
import { useState } from 'preact/hooks'
import type { TokenRecord } from '../../lib/contract/records/token.ts'
import { requestPage } from '../api/request.ts'
import { usePages } from '../api/use-pages.ts'
import { Segments, Table } from '../components/data.tsx'
import { formatCountOf, formatExactTime, formatMinute } from '../components/format.ts'
import { ListEnd } from '../components/list-end.tsx'
import { NeedsScope, Page, Spinner } from '../components/page.tsx'
import { Badge, Time } from '../components/values.tsx'
import { toVisible, VisibleText } from '../components/visible-text.tsx'
import { navigate, toHref } from '../state/location.ts'
import { useMe, useScope } from '../state/session.ts'
import { ShownTokenDialog } from './shown-token.tsx'
import { TokenActions } from './token-actions.tsx'
import { TokenDialog } from './token-dialog.tsx'
import { hasEnded, stateOf, type TokenState } from './tokens.ts'

const PAGE_SIZE = 50

const VIEWS = { valid: 'Valid', all: 'All' } as const
type View = keyof typeof VIEWS

/** The API tokens that the one that is signed in may see, newest first. Which ones are shown is in the URL. */
export function TokensPage({ query }: { query: URLSearchParams }) {
  const view: View = query.get('show') === 'all' ? 'all' : 'valid'
  const [isCreating, setIsCreating] = useState(false)
  const mayManage = useScope('manage')
  const choose = (show: View) =>
    navigate(toHref('/tokens', show === 'all' ? { show } : {}), { replace: true })
  const actions = (
    <>
      <Segments label="Tokens that are shown" choices={VIEWS} chosen={view} onChoose={choose} />
      <button type="button" class="primary" onClick={() => setIsCreating(true)}>
        Create token…
      </button>
    </>
  )
  return (
    <Page title="Tokens" actions={mayManage && actions}>
      <NeedsScope scope="manage">
        <Tokens view={view} isCreating={isCreating} onClose={() => setIsCreating(false)} />
      </NeedsScope>
    </Page>
  )
}

type TokensProps = { view: View; isCreating: boolean; onClose: () => void }

function Tokens({ view, isCreating, onClose }: TokensProps) {
  const list = usePages<TokenRecord>(view, async (next, signal) => {
    const page = await requestPage<TokenRecord>('/v1/tokens', { query: next ?? { limit: PAGE_SIZE }, signal })
    const now = Date.now()
    const items = view === 'all' ? page.items : page.items.filter((token) => !hasEnded(token, now))
    return { ...page, items }
  })
  const { items, isLoading, error, next } = list
  // What has ended meanwhile stays until the list is loaded again: its end can be seen.
  const onChange = (changed: TokenRecord) =>
    list.update((listed) => listed.map((token) => (token.id === changed.id ? changed : token)))
  return (
    <>
      <div class="stack">
        <p class="muted note">
          API tokens of programs, with the hour of their last use.
          {items.length > 0 &&
            !next &&
            ` ${formatCountOf(items.length, view === 'all' ? 'token' : 'valid token')}.`}
        </p>
        {items.length === 0 && isLoading && <Spinner label="Loading tokens…" />}
        {items.length > 0 && (
          <Table
            caption="Tokens, newest first"
            columns={[
              ...['Name', 'Status', 'Scopes', 'Limits', 'Last used', 'Created'],
              { label: 'Actions', isHidden: true },
            ]}
          >
            {items.map((token) => (
              <Row key={token.id} token={token} onCreate={list.reload} onChange={onChange} />
            ))}
          </Table>
        )}
        {items.length === 0 && !isLoading && !error && (
          <p class="empty">
            {view === 'all' ? 'There are no tokens' : 'There are no valid tokens'} that yours may see. Create
            one for each program that uses agents: it can then be replaced or revoked alone.
          </p>
        )}
        <ListEnd {...list} />
      </div>
      {isCreating && (
        <TokenDialog
          onCreate={() => {
            onClose()
            list.reload()
          }}
          onClose={onClose}
        />
      )}
      <ShownTokenDialog onChange={onChange} />
    </>
  )
}

const STATES = {
  valid: { label: 'Valid', kind: 'success' },
  expiring: { label: 'Ends soon', kind: 'warning' },
  expired: { label: 'Expired', kind: undefined },
  revoked: { label: 'Revoked', kind: 'error' },
} as const

type RowProps = { token: TokenRecord; onCreate: () => void; onChange: (token: TokenRecord) => void }

function Row({ token, onCreate, onChange }: RowProps) {
  const now = Date.now()
  const state = stateOf(token, now)
  const { label, kind } = STATES[state]
  const isOwn = useMe()?.tokenId === token.id
  return (
    <tr class="token-row">
      <th scope="row">
        <VisibleText text={token.name} />
        <div class="muted">
          <code title={token.id}>
            <VisibleText text={token.prefix} />…
          </code>
          {isOwn && ' this session'}
        </div>
      </th>
      <td>
        <Badge kind={kind}>{label}</Badge>
        <div class="muted">
          <End token={token} state={state} />
        </div>
      </td>
      <td>
        <VisibleText text={token.scopes.join(', ')} />
      </td>
      <td>
        <Limits token={token} />
      </td>
      <td>
        {token.lastUsedAt === null ? (
          <span class="muted">never</span>
        ) : (
          <time dateTime={token.lastUsedAt} title={formatExactTime(token.lastUsedAt)}>
            {formatMinute(Date.parse(token.lastUsedAt), now)}
          </time>
        )}
      </td>
      <td>
        <Time value={token.createdAt} />
      </td>
      <td>
        {(state === 'valid' || state === 'expiring') && (
          <TokenActions token={token} onCreate={onCreate} onChange={onChange} />
        )}
      </td>
    </tr>
  )
}

function End({ token: { expiresAt, revokedAt }, state }: { token: TokenRecord; state: TokenState }) {
  if (state === 'revoked') return <Time value={revokedAt} />
  if (expiresAt === null) return 'never expires'
  return (
    <>
      {state === 'expired' ? '' : 'until '}
      <Time value={expiresAt} />
    </>
  )
}

function Limits({ token: { agents, tenantId, rate } }: { token: TokenRecord }) {
  if (agents === null && tenantId === null && rate === null) return <span class="muted">none</span>
  return (
    <ul class="token-limits">
      {agents !== null && (
        <li title={toVisible(agents.join(', '))}>
          {agents.length > 2 ? (
            formatCountOf(agents.length, 'agent')
          ) : (
            <>
              agents <VisibleText text={agents.join(', ')} />
            </>
          )}
        </li>
      )}
      {tenantId !== null && (
        <li>
          tenant <VisibleText text={tenantId} />
        </li>
      )}
      {rate !== null && <li>{rate} requests per second</li>}
    </ul>
  )
}
