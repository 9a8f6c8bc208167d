import type { VNode } from 'preact'
import { AgentsPage } from '../agents/agents-page.tsx'
import { beginRun } from '../api/runs.ts'
import { Page } from '../components/page.tsx'
import { VisibleText } from '../components/visible-text.tsx'
import { OverviewPage } from '../overview/overview-page.tsx'
import { RunsPage } from '../runs/runs-page.tsx'
import { type Location, matchPath } from '../state/location.ts'
import { lazyPage } from './lazy-page.tsx'

/** The part of the navigation that a page belongs to. */
export type Section =
  | 'overview'
  | 'agents'
  | 'runs'
  | 'approvals'
  | 'batches'
  | 'schedules'
  | 'trials'
  | 'rollouts'
  | 'webhooks'
  | 'tenants'
  | 'tokens'
  | 'audit'

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

const AgentPage = lazyPage('Agent', async () => (await import('../agents/agent-page.tsx')).AgentPage)
const ComparePage = lazyPage(
  'Compare versions',
  async () => (await import('../agents/compare-page.tsx')).ComparePage,
)
const VersionPage = lazyPage(
  'Version',
  async () => (await import('../versions/version-page.tsx')).VersionPage,
)
const SideBySidePage = lazyPage(
  'Try a version',
  async () => (await import('../versions/side-by-side-page.tsx')).SideBySidePage,
)
const RunPage = lazyPage('Run', async ({ executionId }: { executionId: string; step: string | null }) => {
  beginRun(executionId)
  return (await import('../run/run-page.tsx')).RunPage
})
const TryPage = lazyPage('Try it', async () => (await import('../try/try-page.tsx')).TryPage)
const CompareRunsPage = lazyPage(
  'Compare runs',
  async () => (await import('../compare/compare-runs-page.tsx')).CompareRunsPage,
)
const loadTenants = () => import('../tenants/tenants-page.tsx')
const TenantsPage = lazyPage('Tenants', async () => (await loadTenants()).TenantsPage)
const TenantPage = lazyPage('Tenant', async () => (await loadTenants()).TenantPage)
const loadWebhooks = () => import('../webhooks/webhooks-page.tsx')
const WebhooksPage = lazyPage('Webhooks', async () => (await loadWebhooks()).WebhooksPage)
const WebhookPage = lazyPage('Webhook', async () => (await loadWebhooks()).WebhookPage)
const TokensPage = lazyPage('Tokens', async () => (await import('../tokens/tokens-page.tsx')).TokensPage)
const loadTrials = () => import('../trials/trials-page.tsx')
const TrialsPage = lazyPage('Trials', async () => (await loadTrials()).TrialsPage)
const TrialPage = lazyPage('Trial', async () => (await loadTrials()).TrialPage)
const StartTrialPage = lazyPage('Start a trial', async () => (await loadTrials()).StartTrialPage)
const RolloutsPage = lazyPage(
  'Rollouts',
  async () => (await import('../rollouts/rollouts-page.tsx')).RolloutsPage,
)

const ApprovalsPage = lazyPage(
  'Approvals',
  async () => (await import('../approvals/approvals-page.tsx')).ApprovalsPage,
)
const loadBatches = () => import('../batches/batches-page.tsx')
const BatchesPage = lazyPage('Batches', async () => (await loadBatches()).BatchesPage)
const BatchPage = lazyPage('Batch', async () => (await loadBatches()).BatchPage)
const loadSchedules = () => import('../schedules/schedules-page.tsx')
const SchedulesPage = lazyPage('Schedules', async () => (await loadSchedules()).SchedulesPage)
const SchedulePage = lazyPage('Schedule', async () => (await loadSchedules()).SchedulePage)
const AuditPage = lazyPage('Audit log', async () => (await import('../audit/audit-page.tsx')).AuditPage)

/** Every page. The first route that matches counts. Keys make a page start afresh when its subject changes. */
const routes: Route[] = [
  route('/', 'overview', (_, query) => <OverviewPage query={query} />),
  route('/agents', 'agents', (_, query) => <AgentsPage query={query} />),
  route('/agents/{agent}', 'agents', ({ agent }) => <AgentPage key={agent} agent={agent} />),
  route('/agents/{agent}/compare', 'agents', ({ agent }, query) => (
    <ComparePage agent={agent} before={query.get('before') ?? ''} after={query.get('after') ?? ''} />
  )),
  route('/agents/{agent}/versions/{versionId}', 'agents', ({ agent, versionId }) => (
    <VersionPage key={`${agent} ${versionId}`} agent={agent} versionId={versionId} />
  )),
  route('/agents/{agent}/versions/{versionId}/try', 'agents', ({ agent, versionId }) => (
    <SideBySidePage key={`${agent} ${versionId}`} agent={agent} versionId={versionId} />
  )),
  route('/agents/{agent}/try', 'agents', ({ agent }, query) => (
    <TryPage key={`${agent} ${query}`} agent={agent} from={query.get('from')} input={query.get('input')} />
  )),
  route('/runs', 'runs', (_, query) => <RunsPage query={query} />),
  route('/runs/{executionId}', 'runs', ({ executionId }, query) => (
    <RunPage key={executionId} executionId={executionId} step={query.get('step')} />
  )),
  route('/approvals', 'approvals', (_, query) => <ApprovalsPage query={query} />),
  route('/batches', 'batches', (_, query) => <BatchesPage query={query} />),
  route('/batches/{batchId}', 'batches', ({ batchId }, query) => (
    <BatchPage key={batchId} batchId={batchId} query={query} />
  )),
  route('/schedules', 'schedules', (_, query) => <SchedulesPage query={query} />),
  route('/agents/{agent}/schedules/{name}', 'schedules', ({ agent, name }) => (
    <SchedulePage key={`${agent} ${name}`} agent={agent} name={name} />
  )),
  route('/compare', 'runs', (_, query) => <CompareRunsPage query={query} />),
  route('/trials', 'trials', (_, query) => <TrialsPage query={query} />),
  route('/trials/new', 'trials', (_, query) => <StartTrialPage query={query} />),
  route('/trials/{trialId}', 'trials', ({ trialId }, query) => (
    <TrialPage key={trialId} trialId={trialId} query={query} />
  )),
  route('/rollouts', 'rollouts', () => <RolloutsPage />),
  route('/webhooks', 'webhooks', (_, query) => <WebhooksPage query={query} />),
  route('/webhooks/{webhookId}', 'webhooks', ({ webhookId }, query) => (
    <WebhookPage key={webhookId} webhookId={webhookId} query={query} />
  )),
  route('/tokens', 'tokens', (_, query) => <TokensPage query={query} />),
  route('/tenants', 'tenants', (_, query) => <TenantsPage query={query} />),
  route('/tenants/{tenantId}', 'tenants', ({ tenantId }, query) => (
    <TenantPage key={tenantId} tenantId={tenantId} query={query} />
  )),
  route('/audit', 'audit', (_, query) => <AuditPage query={query} />),
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
        The console has no page <VisibleText text={path} class="mono" />. Go to the <a href="#/">overview</a>.
      </p>
    </Page>
  )
}
