import type { Locator, Page } from 'playwright-core'
import { TRIAL_ID } from '../../support/a-trial.ts'
import { AGENT_ID, aBatch, idOf, VERSION_ID } from '../stub/records.ts'

/** What the addresses of pages name. `scheduled` is an agent with the schedule `nightly`. */
export type Ids = Record<
  'agent' | 'scheduled' | 'version' | 'run' | 'other' | 'batch' | 'trial' | 'webhook',
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
  ...{ batch: aBatch(1).id, trial: TRIAL_ID, webhook: 'x' },
}

/** `content` is what the page shows of the plain answers of a stub. */
export type PageRow = [name: string, hash: string, content: (page: Page) => Locator]

/** Puts IDs in place of their names in braces. */
export const addressOf = (hash: string, ids: Ids): string =>
  hash.replace(/\{(\w+)\}/g, (_, name: keyof Ids) => ids[name])

const title = (name: string) => (page: Page) => page.getByRole('heading', { name, exact: true })
const text = (value: string | RegExp) => (page: Page) =>
  page.locator('main').getByText(value, { exact: true })
const role =
  (kind: 'link' | 'button' | 'table' | 'treeitem' | 'rowheader', name: string | RegExp) => (page: Page) =>
    page.locator('main').getByRole(kind, { name, exact: true })

/** Every page of the console: test/console/pages.test.ts names the routes that have none here. */
export const PAGES: PageRow[] = [
  ['overview', '#/', title('Runs over time')],
  ['agents', '#/agents', role('link', 'Triage ticket')],
  ['agent', '#/agents/{agent}', title('Triage ticket')],
  [
    'comparison of versions',
    '#/agents/{agent}/compare?before=1&after=2',
    text('The versions do not differ.'),
  ],
  ['version', '#/agents/{agent}/versions/{version}', title('Instructions')],
  [
    'version beside the current one',
    '#/agents/{agent}/versions/{version}/try',
    text(/^This version has become/),
  ],
  ['edit of a version', '#/agents/{agent}/versions/{version}/edit', title('Model and limits')],
  ['try it', '#/agents/{agent}/try', title('Input')],
  ['try it again', '#/agents/{agent}/try?from={run}', title('Input')],
  ['runs', '#/runs', text(/^1 run/)],
  ['run', '#/runs/{run}', role('treeitem', /^1\. Model/)],
  ['low scores', '#/scores', role('button', 'Review…')],
  ['approvals', '#/approvals', title('Refund 1?')],
  ['past decisions', '#/approvals/decided', role('rowheader', 'Refund 1?')],
  ['batches', '#/batches', text('1 batch')],
  ['batch', '#/batches/{batch}', text(/^10 of 10 ended/)],
  ['schedules', '#/schedules?agent={scheduled}', role('link', 'nightly')],
  ['schedule', '#/agents/{scheduled}/schedules/nightly', role('table', /^Next runs/)],
  ['comparison of runs', '#/compare?a={run}&b={other}', text('The results are the same.')],
  ['webhooks', '#/webhooks', role('link', /shop\.example/)],
  ['webhook', '#/webhooks/{webhook}', role('link', 'Run succeeded')],
  ['trials', '#/trials', text('1 of 1')],
  ['trial', '#/trials/{trial}', title('Gate')],
  ['start of a trial', '#/trials/new?agent={agent}', role('button', 'Start trial')],
  ['tokens', '#/tokens?show=all', role('rowheader', /^token 1/)],
  ['rollouts', '#/rollouts', text(/^No agent has a rollout\./)],
  ['tenants', '#/tenants', role('link', 'acme')],
  ['tenant', '#/tenants/acme', title('Runs over time')],
  ['audit log', '#/audit', role('link', 'Set limits')],
]

export const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true })

export const link = (page: Page, name: string | RegExp) => page.getByRole('link', { name, exact: true })

export const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name })

export const region = (page: Page, name: string | RegExp) => page.getByRole('region', { name, exact: true })

/** Has finished loading. A run in progress always has a request open. */
export async function settle(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  await page.locator('.spinner').first().waitFor({ state: 'detached' })
}

/** By how many pixels the page is wider than its window; it is not wider if at most 0. */
export const getOverflow = (page: Page): Promise<number> =>
  page.evaluate('document.documentElement.scrollWidth - window.innerWidth')

/** The text of what has the focus. */
export const focusedText = (page: Page): Promise<string> =>
  page.evaluate('document.activeElement.textContent')

/** The name of what has the focus: its label, or its text. */
export const focusedName = (page: Page): Promise<string> =>
  page.evaluate(`(() => {
    const element = document.activeElement
    return element.getAttribute('aria-label') ?? (element.labels?.[0] ?? element).textContent
  })()`)
