import type { Locator, Page } from 'playwright-core'
import { TRIAL_ID } from '../../support/a-trial.ts'
import { AGENT_ID, idOf, VERSION_ID } from '../stub/records.ts'
import { aBatch } from '../stub/work.ts'
import { heading, link } from './page.ts'

/** What the addresses of pages name. `scheduled` is an agent with the schedule `nightly`. */
export type Ids = Record<
  'agent' | 'scheduled' | 'version' | 'run' | 'other' | 'batch' | 'trial' | 'webhook' | 'tenant',
  string
>

/** Of stubs. */
export const STUB_IDS: Ids = {
  ...{
    agent: AGENT_ID,
    scheduled: AGENT_ID,
    version: VERSION_ID,
    run: idOf(1_000_000),
    other: idOf(999_999),
  },
  ...{ batch: aBatch(1).id, trial: TRIAL_ID, webhook: 'x', tenant: 'acme' },
}

export type PageRow = {
  name: string
  hash: (ids: Ids) => string
  /** What it shows of the plain answers of a stub. */
  content: (page: Page) => Locator
}

const row = (name: string, hash: PageRow['hash'], content: PageRow['content']): PageRow => ({
  name,
  hash,
  content,
})
const title = (name: string) => (page: Page) => page.getByRole('heading', { name, exact: true })
const text = (value: string | RegExp) => (page: Page) =>
  page.locator('main').getByText(value, { exact: true })

/** Every page of the console: test/console/pages.test.ts names the routes that have none here. */
export const PAGES: PageRow[] = [
  row('overview', () => '#/', title('Runs over time')),
  row(
    'agents',
    () => '#/agents',
    (page) => link(page, 'Triage ticket'),
  ),
  row('agent', ({ agent }) => `#/agents/${agent}`, title('Triage ticket')),
  row(
    'comparison of versions',
    ({ agent }) => `#/agents/${agent}/compare?before=1&after=2`,
    text('The versions do not differ.'),
  ),
  row('version', ({ agent, version }) => `#/agents/${agent}/versions/${version}`, title('Instructions')),
  row(
    'version beside the current one',
    ({ agent, version }) => `#/agents/${agent}/versions/${version}/try`,
    text(/^This version has become current/),
  ),
  row('try it', ({ agent }) => `#/agents/${agent}/try`, title('Input')),
  row('try it again', ({ agent, run }) => `#/agents/${agent}/try?from=${run}`, title('Input')),
  row('runs', () => '#/runs', text(/^1 run/)),
  row(
    'run',
    ({ run }) => `#/runs/${run}`,
    (page) => page.getByRole('treeitem', { name: /^1\. Model/ }),
  ),
  row('approvals', () => '#/approvals', title('Refund 1?')),
  row('batches', () => '#/batches', text('1 batch')),
  row('batch', ({ batch }) => `#/batches/${batch}`, text(/^10 of 10 ended/)),
  row(
    'schedules',
    ({ scheduled }) => `#/schedules?agent=${scheduled}`,
    (page) => link(page, 'nightly'),
  ),
  row(
    'schedule',
    ({ scheduled }) => `#/agents/${scheduled}/schedules/nightly`,
    (page) => page.getByRole('table', { name: 'Next runs' }),
  ),
  row(
    'comparison of runs',
    ({ run, other }) => `#/compare?a=${run}&b=${other}`,
    text('The results are the same.'),
  ),
  row(
    'webhooks',
    () => '#/webhooks',
    (page) => link(page, /shop\.example/),
  ),
  row(
    'webhook',
    ({ webhook }) => `#/webhooks/${webhook}`,
    (page) => link(page, 'Run succeeded'),
  ),
  row('trials', () => '#/trials', text('1 of 1')),
  row('trial', ({ trial }) => `#/trials/${trial}`, title('Gate')),
  row(
    'start of a trial',
    ({ agent }) => `#/trials/new?agent=${agent}`,
    (page) => page.getByRole('button', { name: 'Start trial' }),
  ),
  row(
    'tokens',
    () => '#/tokens?show=all',
    (page) => page.getByRole('rowheader', { name: 'token 1' }),
  ),
  row('rollouts', () => '#/rollouts', text(/^No agent has a rollout\./)),
  row(
    'tenants',
    () => '#/tenants',
    (page) => link(page, 'acme'),
  ),
  row('tenant', ({ tenant }) => `#/tenants/${tenant}`, title('Runs over time')),
  row(
    'audit log',
    () => '#/audit',
    (page) => link(page, 'Set limits'),
  ),
  row(
    'page that does not exist',
    () => '#/nowhere',
    (page) => heading(page, 'Page not found'),
  ),
]
