import type { ComponentChildren, ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { MeRecord } from '../../lib/contract/records/records.ts'
import { toUrl } from '../api/request.ts'
import { ApprovalCount } from '../approvals/approval-count.tsx'
import { Announcer, Button } from '../components/button.tsx'
import { Text, TextLink, VisibleText } from '../components/visible-text.tsx'
import { currentLocation } from '../state/location.ts'
import { mayAudit, readsAllTenants, signOut, useMe } from '../state/session.ts'
import { useStore } from '../state/store.ts'
import { Search } from './search.tsx'

type Link = {
  label: string
  /** Whether the token may see the page; absent if every token may. Asked once the token is known. */
  shows?: (me: MeRecord) => boolean
  /** Beside the label, such as how much there is to do. */
  Detail?: ComponentType<{ me: MeRecord }>
}

export type Section = keyof typeof OPERATE | keyof typeof BUILD | keyof typeof SETTINGS

const reads = ({ scopes }: MeRecord) => scopes.includes('read')

/** The pages for daily work. Their addresses are their names. */
const OPERATE = {
  overview: { label: 'Overview' },
  runs: { label: 'Runs' },
  approvals: {
    label: 'Approvals',
    shows: (me: MeRecord) => me.scopes.includes('approve') || reads(me),
    Detail: ({ me }: { me: MeRecord }) => (me.scopes.includes('approve') ? <ApprovalCount /> : null),
  },
  batches: { label: 'Batches', shows: reads },
  schedules: { label: 'Schedules', shows: readsAllTenants },
}

const BUILD = {
  agents: { label: 'Agents' },
  trials: { label: 'Trials', shows: readsAllTenants },
  rollouts: { label: 'Rollouts', shows: readsAllTenants },
}

const SETTINGS = {
  tenants: { label: 'Tenants' },
  webhooks: { label: 'Webhooks', shows: readsAllTenants },
  tokens: { label: 'Tokens', shows: ({ scopes }: MeRecord) => scopes.includes('manage') },
  audit: { label: 'Audit log', shows: mayAudit },
}

const GROUPS = Object.entries({ Operate: OPERATE, Build: BUILD, Settings: SETTINGS }).map(
  ([name, sections]) => ({
    name,
    links: Object.entries<Link>(sections).map(([section, each]) => ({
      ...{ section, href: section === 'overview' ? '#/' : `#/${section}`, ...each },
    })),
  }),
)

/** Relative to the document, which is `/console` below any base path. */
export const DOCS_URL = 'console/docs.html'

export function Layout({ section, children }: { section: Section | null; children: ComponentChildren }) {
  const me = useMe()
  const [isOpen, setIsOpen] = useState(false)
  const { path } = useStore(currentLocation)
  useEffect(() => setIsOpen(false), [path])
  // All of them until it is known which ones the token may see.
  const groups = GROUPS.map(({ name, links }) => ({
    name,
    links: links.filter(({ shows }) => !shows || me === null || shows(me)),
  }))
  return (
    <div class="layout">
      <Button label="Skip to content" class="skip-link" onClick={focusMain} />
      <header class="sidebar">
        <a class="brand" href="#/">
          <Logo />
          <span>Agent Execution Service</span>
        </a>
        <EnvironmentLabel />
        <Search
          pages={[
            ...groups.flatMap(({ links }) => links).filter(({ shows }) => !shows || me !== null),
            { label: 'Documentation', href: DOCS_URL },
          ]}
        />
        <Button
          label="Menu"
          class="menu-button"
          aria-expanded={isOpen}
          aria-controls="pages"
          onClick={() => setIsOpen(!isOpen)}
        />
        <nav aria-label="Pages" id="pages" class={isOpen ? 'open' : undefined}>
          {groups.map(({ name, links }) => (
            <div key={name} class="nav-group">
              <span class="muted">{name}</span>
              {links.map(({ label, href, Detail, ...link }) => (
                <a key={href} href={href} aria-current={link.section === section ? 'page' : undefined}>
                  {label}
                  {Detail && me && <Detail me={me} />}
                </a>
              ))}
            </div>
          ))}
        </nav>
        <div class="sidebar-end">
          <nav aria-label="Documentation">
            <a href={DOCS_URL}>Documentation</a>
            <TextLink
              href={toUrl('/v1/openapi.json')}
              target="_blank"
              rel="noreferrer"
              text="OpenAPI document"
            />
          </nav>
          <Identity />
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        {children}
      </main>
      <Announcer />
    </div>
  )
}

/** By a button: a link would change the fragment, which names the page. */
const focusMain = () => document.getElementById('main')?.focus()

/** So that nobody takes production for a test: the color derives from the name, and is red for production. */
function EnvironmentLabel() {
  const name = useMe()?.environmentName
  if (name == null) return null
  const hash = [...name].reduce((sum, character) => (sum * 31 + (character.codePointAt(0) ?? 0)) % 270, 7)
  const hue = /^prod/i.test(name) ? 0 : 45 + hash
  return (
    <span class="environment" style={{ background: `hsl(${hue} 65% 27%)` }}>
      <span class="visually-hidden">Environment: </span>
      {name}
    </span>
  )
}

function Identity() {
  const me = useMe()
  return (
    <dl class="identity">
      <dt class="muted">Organization</dt>
      <dd title={me?.organizationId}>
        {me ? <VisibleText text={me.organizationName ?? me.organizationId.slice(0, 8)} /> : '…'}
      </dd>
      <dt class="muted">Scopes</dt>
      <dd>{me ? me.scopes.join(', ') : '…'}</dd>
      {me?.tenantId != null && (
        <>
          <dt class="muted">Tenant</dt>
          <Text as="dd" text={me.tenantId} />
        </>
      )}
      <dd>
        <Button label="Sign out" class="link" onClick={() => signOut()} />
      </dd>
    </dl>
  )
}

export const Logo = () => (
  <svg class="logo" viewBox="0 0 16 16" width="20" height="20" aria-hidden="true">
    <rect width="16" height="16" rx="4" />
    <path d="M5.5 4.5l6 3.5-6 3.5z" />
  </svg>
)
