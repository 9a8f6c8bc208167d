import type { ComponentType, VNode } from 'preact'
import { AgentsPage } from '../agents/agents-page.tsx'
import { beginRun } from '../api/runs.ts'
import { Page } from '../components/page.tsx'
import { VisibleText } from '../components/visible-text.tsx'
import { OverviewPage } from '../overview/overview-page.tsx'
import { RunsPage } from '../runs/runs-page.tsx'
import { type Location, matchPath } from '../state/location.ts'
import type { Section } from './layout.tsx'
import { lazyPage } from './lazy-page.tsx'

/** The names in a pattern such as `/runs/{executionId}`, with a text for each. */
type Params<Pattern> = Pattern extends `${string}{${infer Name}}${infer Rest}`
  ? Record<Name, string> & Params<Rest>
  : unknown

type Pages<Patterns> = {
  [Pattern in keyof Patterns]: ComponentType<Params<Pattern> & { query: URLSearchParams }>
}

function loadRun({ executionId }: { executionId: string }) {
  beginRun(executionId)
  return import('../run/run-page.tsx')
}

const definePages = <Patterns extends Pages<Patterns>>(pages: Patterns) =>
  Object.entries(pages) as [pattern: string, page: ComponentType<{ query: URLSearchParams }>][]

/** Every page. The first one that matches counts. */
const pages = definePages({
  '/': OverviewPage,
  '/agents': AgentsPage,
  '/agents/{agent}': lazyPage(() => import('../agents/agent-page.tsx'), 'AgentPage'),
  '/agents/{agent}/compare': lazyPage(() => import('../agents/compare-page.tsx'), 'ComparePage'),
  '/agents/{agent}/versions/{versionId}': lazyPage(
    () => import('../versions/version-page.tsx'),
    'VersionPage',
  ),
  '/agents/{agent}/versions/{versionId}/edit': lazyPage(
    () => import('../versions/edit-page.tsx'),
    'EditPage',
  ),
  '/agents/{agent}/versions/{versionId}/try': lazyPage(
    () => import('../versions/side-by-side-page.tsx'),
    'SideBySidePage',
  ),
  '/agents/{agent}/try': lazyPage(() => import('../try/try-page.tsx'), 'TryPage'),
  '/agents/{agent}/schedules/{name}': lazyPage(
    () => import('../schedules/schedules-page.tsx'),
    'SchedulePage',
  ),
  '/runs': RunsPage,
  '/runs/{executionId}': lazyPage(loadRun, 'RunPage'),
  '/compare': lazyPage(() => import('../compare/compare-runs-page.tsx'), 'CompareRunsPage'),
  '/scores': lazyPage(() => import('../scores/low-scores-page.tsx'), 'LowScoresPage'),
  '/approvals': lazyPage(() => import('../approvals/approvals-page.tsx'), 'ApprovalsPage'),
  '/approvals/decided': lazyPage(() => import('../approvals/approvals-page.tsx'), 'DecidedPage'),
  '/batches': lazyPage(() => import('../batches/batches-page.tsx'), 'BatchesPage'),
  '/batches/{batchId}': lazyPage(() => import('../batches/batches-page.tsx'), 'BatchPage'),
  '/schedules': lazyPage(() => import('../schedules/schedules-page.tsx'), 'SchedulesPage'),
  '/trials': lazyPage(() => import('../trials/trials-page.tsx'), 'TrialsPage'),
  '/trials/new': lazyPage(() => import('../trials/trials-page.tsx'), 'StartTrialPage'),
  '/trials/{trialId}': lazyPage(() => import('../trials/trials-page.tsx'), 'TrialPage'),
  '/rollouts': lazyPage(() => import('../rollouts/rollouts-page.tsx'), 'RolloutsPage'),
  '/webhooks': lazyPage(() => import('../webhooks/webhooks-page.tsx'), 'WebhooksPage'),
  '/webhooks/{webhookId}': lazyPage(() => import('../webhooks/webhooks-page.tsx'), 'WebhookPage'),
  '/tokens': lazyPage(() => import('../tokens/tokens-page.tsx'), 'TokensPage'),
  '/tenants': lazyPage(() => import('../tenants/tenants-page.tsx'), 'TenantsPage'),
  '/tenants/{tenantId}': lazyPage(() => import('../tenants/tenants-page.tsx'), 'TenantPage'),
  '/audit': lazyPage(() => import('../audit/audit-page.tsx'), 'AuditPage'),
})

/** Pages that belong to another part of the navigation than their path begins with. */
const SECTIONS: Record<string, Section> = {
  '/': 'overview',
  '/compare': 'runs',
  '/scores': 'runs',
  '/agents/{agent}/schedules/{name}': 'schedules',
}

/** The page of a location, and its part of the navigation. It starts afresh when its subject changes. */
export function findRoute({ path, query }: Location): { section: Section | null; element: VNode } {
  for (const [pattern, Page] of pages) {
    const params = matchPath(pattern, path)
    const section = SECTIONS[pattern] ?? (pattern.split('/')[1] as Section)
    if (params) return { section, element: <Page key={JSON.stringify(params)} {...params} query={query} /> }
  }
  return { section: null, element: <NotFoundPage path={path} /> }
}

const NotFoundPage = ({ path }: { path: string }) => (
  <Page title="Page not found">
    <p>
      The console has no page <VisibleText text={path} class="mono" />. Go to the <a href="#/">overview</a>.
    </p>
  </Page>
)
