import type { VNode } from 'preact'
import { AgentPage } from '../agents/agent-page.tsx'
import { AgentsPage } from '../agents/agents-page.tsx'
import { ComparePage } from '../agents/compare-page.tsx'
import { Page } from '../components/page.tsx'
import { OverviewPage } from '../overview/overview-page.tsx'
import { RunPage } from '../run/run-page.tsx'
import { RunsPage } from '../runs/runs-page.tsx'
import { type Location, matchPath } from '../state/location.ts'
import { lazyPage } from './lazy-page.tsx'

/** The part of the navigation that a page belongs to. */
export type Section = 'overview' | 'agents' | 'runs' | 'tenants'

/** The names in a pattern such as `/runs/{executionId}`, with a text for each. */
type Params<Pattern extends string> = Pattern extends `${string}{${infer Name}}${infer Rest}`
  ? Record<Name, string> & Params<Rest>
  : unknown

type Route = {
  pattern: string
  section: Section
  render: (params: Record<string, string>, query: URLSearchParams) => VNode
}

const route = <Pattern extends string>(
  pattern: Pattern,
  section: Section,
  render: (params: Params<Pattern>, query: URLSearchParams) => VNode,
): Route => ({ pattern, section, render: render as Route['render'] })

const TryPage = lazyPage('Try it', async () => (await import('../try/try-page.tsx')).TryPage)
const loadTenants = () => import('../tenants/tenants-page.tsx')
const TenantsPage = lazyPage('Tenants', async () => (await loadTenants()).TenantsPage)
const TenantPage = lazyPage('Tenant', async () => (await loadTenants()).TenantPage)

/** Every page. The first route that matches counts. Keys make a page start afresh when its subject changes. */
const routes: Route[] = [
  route('/', 'overview', (_, query) => <OverviewPage query={query} />),
  route('/agents', 'agents', (_, query) => <AgentsPage query={query} />),
  route('/agents/{agent}', 'agents', ({ agent }) => <AgentPage key={agent} agent={agent} />),
  route('/agents/{agent}/compare', 'agents', ({ agent }, query) => (
    <ComparePage agent={agent} before={query.get('before') ?? ''} after={query.get('after') ?? ''} />
  )),
  route('/agents/{agent}/try', 'agents', ({ agent }, query) => (
    <TryPage key={`${agent} ${query.get('from')}`} agent={agent} from={query.get('from')} />
  )),
  route('/runs', 'runs', (_, query) => <RunsPage query={query} />),
  route('/runs/{executionId}', 'runs', ({ executionId }) => (
    <RunPage key={executionId} executionId={executionId} />
  )),
  route('/tenants', 'tenants', (_, query) => <TenantsPage query={query} />),
  route('/tenants/{tenantId}', 'tenants', ({ tenantId }, query) => (
    <TenantPage key={tenantId} tenantId={tenantId} query={query} />
  )),
]

/** The page of a location, and its part of the navigation. */
export function findRoute({ path, query }: Location): { section: Section | null; element: VNode } {
  for (const { pattern, section, render } of routes) {
    const params = matchPath(pattern, path)
    if (params) return { section, element: render(params, query) }
  }
  return { section: null, element: <NotFoundPage path={path} /> }
}

function NotFoundPage({ path }: { path: string }) {
  return (
    <Page title="Page not found">
      <p>
        The console has no page <code>{path}</code>. Go to the <a href="#/">overview</a>.
      </p>
    </Page>
  )
}
