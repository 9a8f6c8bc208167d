import type { TokenRecord } from '../../lib/contract/records/token.ts'
import { requestPage } from '../api/request.ts'
import { type List, mergeNewest, useList } from '../api/use-list.ts'
import { DialogButton } from '../components/form-dialog.tsx'
import { formatCountOf, formatExactTime, formatMinute } from '../components/format.ts'
import { Badge, Time } from '../components/values.tsx'
import { say, toVisible, VisibleText } from '../components/visible-text.tsx'
import { listPage } from '../list-page.tsx'
import { useMe } from '../state/session.ts'
import { ShownTokenDialog } from './shown-token.tsx'
import { TokenActions } from './token-actions.tsx'
import { TokenDialog } from './token-dialog.tsx'
import { hasEnded, stateOf, type TokenState } from './tokens.ts'

/** What has ended meanwhile stays until the list is loaded again: its end can be seen. */
const showIn = (list: List<TokenRecord>) => (changed: TokenRecord) =>
  list.update((listed) => mergeNewest(listed, [changed]))

export const TokensPage = listPage({
  title: 'Tokens',
  path: '/tokens',
  scope: 'manage',
  note: 'API tokens of programs, with the hour of their last use.',
  filters: {
    show: { label: 'Tokens that are shown', choices: { valid: 'Valid', all: 'All' }, default: 'valid' },
  },
  useItems: ({ show }) =>
    useList<TokenRecord>('/v1/tokens', {
      query: { show },
      async load(next, signal) {
        const page = await requestPage<TokenRecord>('/v1/tokens', { query: next ?? { limit: 50 }, signal })
        const now = Date.now()
        const isShown = (token: TokenRecord) => show === 'all' || !hasEnded(token, now)
        return { ...page, items: page.items.filter(isShown) }
      },
    }),
  noun: 'token',
  caption: 'Tokens, newest first',
  useRow: (token, list) => ({ list, now: Date.now(), state: stateOf(token, Date.now()) }),
  columns: {
    Name: (token) => <Name token={token} />,
    Status: (token, { state }) => <Status token={token} state={state} />,
    Scopes: { text: ({ scopes }) => scopes.join(', ') },
    Limits: { text: (token) => <Limits token={token} /> },
    'Last used': ({ lastUsedAt }, { now }) =>
      lastUsedAt === null ? (
        <span class="muted">never</span>
      ) : (
        <time dateTime={lastUsedAt} title={formatExactTime(lastUsedAt)}>
          {formatMinute(Date.parse(lastUsedAt), now)}
        </time>
      ),
    Created: ({ createdAt }) => <Time value={createdAt} />,
    Actions: {
      actions: (token, { state, list }) =>
        state === 'valid' || state === 'expiring' ? (
          <TokenActions token={token} onCreate={list.reload} onChange={showIn(list)} />
        ) : (
          ''
        ),
    },
  },
  empty: ({ show }) =>
    `${show === 'all' ? 'There are no tokens' : 'There are no valid tokens'} that yours may see. Create one for each program that uses agents: it can then be replaced or revoked alone.`,
  Actions: ({ list }) => (
    <DialogButton class="primary" label="Create token…" scope="manage">
      {(close) => <TokenDialog onCreate={list.reload} onClose={close} />}
    </DialogButton>
  ),
  End: ({ list }) => <ShownTokenDialog onChange={showIn(list)} />,
})

const Name = ({ token: { id, name, prefix } }: { token: TokenRecord }) => (
  <>
    <VisibleText text={name} />
    <div class="muted">
      <code title={id}>
        <VisibleText text={prefix} />…
      </code>
      {useMe()?.tokenId === id && ' this session'}
    </div>
  </>
)

const STATES = {
  valid: { label: 'Valid', kind: 'success' },
  expiring: { label: 'Ends soon', kind: 'warning' },
  expired: { label: 'Expired', kind: undefined },
  revoked: { label: 'Revoked', kind: 'error' },
} as const

function Status({ token: { expiresAt, revokedAt }, state }: { token: TokenRecord; state: TokenState }) {
  const { label, kind } = STATES[state]
  const end = state === 'revoked' ? revokedAt : expiresAt
  return (
    <>
      <Badge kind={kind}>{label}</Badge>
      <div class="muted">
        {end === null ? (
          'never expires'
        ) : (
          <>
            {state === 'revoked' || state === 'expired' ? '' : 'until '}
            <Time value={end} />
          </>
        )}
      </div>
    </>
  )
}

function Limits({ token: { agents, tenantId, rate } }: { token: TokenRecord }) {
  if (agents === null && tenantId === null && rate === null) return <span class="muted">none</span>
  return (
    <ul class="plain-list">
      {agents !== null && (
        <li title={toVisible(agents.join(', '))}>
          {agents.length > 2 ? formatCountOf(agents.length, 'agent') : say`agents ${agents.join(', ')}`}
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
